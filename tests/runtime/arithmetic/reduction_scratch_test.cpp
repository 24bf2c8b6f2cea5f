#include "runtime/arithmetic/reduction_scratch.h"

#include <gtest/gtest.h>

#include "runtime/arithmetic/factories.h"
#include "tests/support/test_machine.h"

namespace ohm {
namespace {

ReductionScratchBytes scratch_of(const Shape& shape, std::uint32_t folded,
                                 DType dtype = DType::float32) {
  test::TestMachine machine;
  const Tensor input = empty(shape, {dtype, Device::cuda(0)});
  const std::size_t accumulator = dtype == DType::float64 ? 8 : 4;
  return reduction_scratch_bytes(reduction_layout(input, folded), {accumulator, true},
                                 machine.context().gpus[0]);
}

constexpr std::uint32_t kRows = 1;

// Figures of PyTorch 2.6.0 on a GPU with 108 multiprocessors of 2,048 threads.
TEST(ReductionScratch, IsUpToTwiceTheInputOverRows) {
  EXPECT_EQ(scratch_of({1024, 1024}, kRows).partial_results, 8'388'608U);
  EXPECT_EQ(scratch_of({1024, 1024}, kRows).counters, 32U);
  EXPECT_EQ(scratch_of({1024, 4096}, kRows).partial_results, 33'554'432U);
  EXPECT_EQ(scratch_of({1024, 4096}, kRows).counters, 128U);
  EXPECT_EQ(scratch_of({8192, 768}, kRows).partial_results, 50'331'648U);
  EXPECT_EQ(scratch_of({8192, 768}, kRows).counters, 24U);
  EXPECT_EQ(scratch_of({2048, 1024}, kRows).partial_results, 16'777'216U);
}

TEST(ReductionScratch, IsNoneForFewRows) {
  EXPECT_EQ(scratch_of({768, 1024}, kRows).partial_results, 0U);
  EXPECT_EQ(scratch_of({32, 2000}, kRows).partial_results, 0U);
}

TEST(ReductionScratch, GrowsWithTheInputsOfASingleResultUntilTheDeviceIsFull) {
  EXPECT_EQ(scratch_of({131'072}, kRows).partial_results, 64U);
  EXPECT_EQ(scratch_of({131'072}, kRows).counters, 4U);
  EXPECT_EQ(scratch_of({131'073}, kRows).partial_results, 68U);
  EXPECT_EQ(scratch_of({200'000}, kRows).partial_results, 100U);
  EXPECT_EQ(scratch_of({8192, 768}, kRows | 2U).partial_results, 1'728U);
  EXPECT_EQ(scratch_of({100'000}, kRows).partial_results, 0U);
}

TEST(ReductionScratch, CountsNarrowMatricesInWarps) {
  EXPECT_EQ(scratch_of({65'536, 10}, kRows).partial_results, 20'480U);
  EXPECT_EQ(scratch_of({65'536, 10}, kRows).counters, 8U);
}

TEST(ReductionScratch, IsTheSameForHalfPrecision) {
  EXPECT_EQ(scratch_of({1024, 1024}, kRows, DType::float16).partial_results, 8'388'608U);
}

}  // namespace
}  // namespace ohm

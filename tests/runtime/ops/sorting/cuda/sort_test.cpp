// Sorts on a real card: by rank, by tiles, by tiles and merges, digit by digit, each with the order
// of the host.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/ops/sorting/sorting.h"
#include "runtime/tensor/context.h"
#include "tests/support/cuda_comparison.h"

namespace ohm::test {
namespace {

class CudaSort : public testing::Test {
 protected:
  /// Many that are equal, of either sign, and some that are not numbers or have no end.
  static Tensor values(const Shape& shape, DType dtype) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> all;
    std::uint64_t state = 7;
    for (std::int64_t i = 0; i < shape.numel(); ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const auto draw = static_cast<double>(state >> 40U);
      all.push_back(std::floor(draw / 4096) - 2048);
      if (!is_floating(dtype)) continue;
      if (i % 97 == 5) all.back() = std::nan("");
      if (i % 89 == 7) all.back() = i % 2 == 0 ? kInfinity : -kInfinity;
      if (i % 83 == 3) all.back() = i % 2 == 0 ? 0.0 : -0.0;
    }
    return from_values(all, shape, {dtype, Device::cpu()});
  }
  void expect_sorted(const Tensor& input, std::int64_t dim) {
    for (const bool descending : {false, true}) {
      expect_same_on_cuda(machine_,
                          [&](const auto& in) {
                            const auto [sorted, places] = ops::sort(in[0], dim, descending);
                            return std::vector<Tensor>{sorted, places};
                          },
                          {input});
    }
  }

  CudaMachine machine_;
};

TEST_F(CudaSort, AnyLength) {
  for (const std::int64_t length : {1, 2, 31, 32, 33, 255, 256, 257, 1000, 2047, 2048, 2049, 4096,
                                    4097, 10'000, 32'768, 32'769, 100'000}) {
    SCOPED_TRACE(length);
    expect_sorted(values({length}, DType::float32), 0);
  }
}

TEST_F(CudaSort, AnyDimension) {
  expect_sorted(values({3, 5000, 2}, DType::float32), 1);
  expect_sorted(values({2, 3, 2049}, DType::float32), 2);
  expect_sorted(values({300, 7}, DType::float32), 0);
}

TEST_F(CudaSort, AnyDType) {
  for (const DType dtype : {DType::float64, DType::float16, DType::bfloat16, DType::int32,
                            DType::int64, DType::uint8, DType::boolean}) {
    SCOPED_TRACE(name_of(dtype));
    expect_sorted(values({2, 4500}, dtype), 1);
  }
}

TEST_F(CudaSort, AnyDTypeDigitByDigit) {
  for (const DType dtype : {DType::float64, DType::float16, DType::bfloat16, DType::int32,
                            DType::int64, DType::uint8, DType::boolean}) {
    SCOPED_TRACE(name_of(dtype));
    expect_sorted(values({33'000}, dtype), 0);
  }
}

TEST_F(CudaSort, AnyDimensionDigitByDigit) {
  expect_sorted(values({2, 40'000}, DType::float32), 1);
  expect_sorted(values({33'000, 3}, DType::float32), 0);
}

TEST_F(CudaSort, EqualOnesStayInTheirOrder) {
  for (const std::int64_t length : {5000, 50'000}) {
    const Tensor equal = full({length}, 2.5, {DType::float32, Device::cuda(0)});
    for (const bool descending : {false, true}) {
      std::vector<double> expected(static_cast<std::size_t>(length));
      std::iota(expected.begin(), expected.end(), 0.0);
      EXPECT_EQ(to_doubles(ops::sort(equal, 0, descending).second), expected);
    }
  }
}

TEST_F(CudaSort, PicksTheFirst) {
  for (const std::int64_t length : {100, 3000, 9000, 33'000}) {
    const Tensor input = values({2, length, 3}, DType::float32);
    for (const std::int64_t k : {1, 10, 100}) {
      for (const bool largest : {false, true}) {
        expect_same_on_cuda(machine_,
                            [&](const auto& in) {
                              const auto [picked, places] = ops::topk(in[0], k, 1, largest);
                              return std::vector<Tensor>{picked, places};
                            },
                            {input});
      }
    }
  }
}

TEST_F(CudaSort, TakesNoMemoryThatIsCounted) {
  const Tensor input = transfer(values({200'000}, DType::float32), Device::cuda(0));
  const RequestAllocator& allocator = *Context::current().slot(Device::cuda(0)).allocator;
  const auto before = allocator.stats().allocation[0].allocated;
  ops::sort(input, 0, false);
  EXPECT_EQ(allocator.stats().allocation[0].allocated - before, 4)
      << "values, places, and the numbers and the scratch that PyTorch makes";
}

TEST_F(CudaSort, KeepsItsMemoryForTheNext) {
  const Tensor input = transfer(values({200'000}, DType::float32), Device::cuda(0));
  const Tensor shorter = transfer(values({190'000}, DType::float32), Device::cuda(0));
  // Twice, for the results' segments.
  for (const bool descending : {false, true}) ops::sort(input, 0, descending);
  const int allocated = machine_.stand_in().calls("cuMemAlloc_v2");
  const int freed = machine_.stand_in().calls("cuMemFree_v2");
  ops::sort(input, 0, true);
  ops::sort(shorter, 0, false);
  EXPECT_EQ(machine_.stand_in().calls("cuMemAlloc_v2"), allocated);
  EXPECT_EQ(machine_.stand_in().calls("cuMemFree_v2"), freed);
}

TEST(CardSortWithoutMemory, IsDoneByTheHost) {
  const CudaMachine machine(1, "fail=cuMemAlloc_v2:1:2 fail=cuMemAlloc_v2:2:2");
  const Tensor input = full({50'000}, 2.5, {DType::float32, Device::cuda(0)});
  EXPECT_EQ(to_doubles(ops::sort(input, 0, true).first), std::vector<double>(50'000, 2.5));
  EXPECT_GT(machine.downloads(), 0);
}

}  // namespace
}  // namespace ohm::test

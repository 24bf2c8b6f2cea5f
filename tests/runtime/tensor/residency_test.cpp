// Values of a GPU that is on a real card: there are two copies, and everybody finds the right one.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/sum.h"
#include "tests/support/cuda_machine.h"
#include "tests/support/test_machine.h"

namespace ohm {
namespace {

using test::CudaMachine;

constexpr TensorOptions kOnCuda{DType::float32, Device::cuda(0)};

/// What the card itself has of a tensor of four elements.
std::vector<float> on_cuda(const Tensor& tensor) {
  std::vector<float> values(4);
  tensor.cuda_backend()->device->read(values.data(), tensor.cuda_address(CudaAccess::read),
                                      values.size() * sizeof(float));
  return values;
}

/// As a kernel would.
void write_on_cuda(const Tensor& tensor, const std::vector<float>& values) {
  tensor.cuda_backend()->device->write(tensor.cuda_address(CudaAccess::write), values.data(),
                                       values.size() * sizeof(float));
}

TEST(Residency, WhatTheHostWroteIsOnTheCardWhenItIsReadThere) {
  const CudaMachine machine;
  const Tensor tensor = from_values({1, 2, 3, 4}, {4}, kOnCuda);
  EXPECT_EQ(tensor.storage().residency(), Residency::host);
  EXPECT_EQ(on_cuda(tensor), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(tensor.storage().residency(), Residency::both);
  EXPECT_EQ(machine.uploads(), 1);
  on_cuda(tensor);
  EXPECT_EQ(machine.uploads(), 1) << "it is there already";
}

TEST(Residency, WhatTheCardWroteIsOnTheHostWhenItIsReadThere) {
  const CudaMachine machine;
  const Tensor tensor = empty({4}, kOnCuda);
  write_on_cuda(tensor, {4, 3, 2, 1});
  EXPECT_EQ(tensor.storage().residency(), Residency::device);
  EXPECT_EQ(to_doubles(tensor), (std::vector<double>{4, 3, 2, 1}));
  EXPECT_EQ(tensor.storage().residency(), Residency::both);
  EXPECT_EQ(machine.downloads(), 1);
}

TEST(Residency, OneWriterMakesTheOthersCopyStale) {
  const CudaMachine machine;
  const Tensor tensor = from_values({1, 2, 3, 4}, {4}, kOnCuda);
  write_on_cuda(tensor, {5, 6, 7, 8});
  tensor.data<float>()[0] = 50;
  EXPECT_EQ(on_cuda(tensor), (std::vector<float>{50, 6, 7, 8}));
  write_on_cuda(tensor, {9, 10, 11, 12});
  EXPECT_EQ(tensor.data<const float>()[3], 12);
}

TEST(Residency, WhatIsOverwrittenIsNotMovedFirst) {
  const CudaMachine machine;
  const Tensor tensor = from_values({1, 2, 3, 4}, {4}, kOnCuda);
  tensor.cuda_address(CudaAccess::overwrite);
  EXPECT_EQ(machine.uploads(), 0);
  const Tensor fresh = empty({4}, kOnCuda);
  fresh.cuda_address(CudaAccess::write);
  fresh.data<float>();
  EXPECT_EQ(machine.uploads(), 0);
}

TEST(Residency, AskingWhetherThereAreValuesMovesNone) {
  const CudaMachine machine;
  const Tensor tensor = empty({4}, kOnCuda);
  write_on_cuda(tensor, {4, 3, 2, 1});
  EXPECT_TRUE(tensor.has_values());
  EXPECT_EQ(machine.downloads(), 0);
  EXPECT_EQ(tensor.storage().residency(), Residency::device);
}

TEST(Residency, OneElementIsReadWhereItIs) {
  const CudaMachine machine;
  const Tensor tensor = empty({4}, kOnCuda);
  write_on_cuda(tensor, {4, 3, 2, 1});
  EXPECT_EQ(make_view(tensor, {}, {}, 2).item(), 2);
  EXPECT_EQ(tensor.storage().residency(), Residency::device);
}

TEST(Residency, EveryReadFromTheCardIsCounted) {
  using Moved = std::pair<std::int64_t, std::int64_t>;
  CudaMachine machine;
  CudaBackend counted = *machine.context().gpus[0].backend;
  counted.traffic = std::make_shared<CudaTraffic>();
  machine.context().gpus[0].backend = &counted;
  const auto moved = [&] {
    MovedValues sum;
    for (const auto& [op, of_op] : std::exchange(counted.traffic->to_host, {})) {
      sum.times += of_op.times;
      sum.bytes += of_op.bytes;
    }
    return Moved{sum.times, sum.bytes};
  };
  const Tensor tensor = empty({4}, kOnCuda);
  write_on_cuda(tensor, {4, 3, 2, 1});
  make_view(tensor, {}, {}, 2).item();
  EXPECT_EQ(moved(), (Moved{1, 4})) << "an item";
  transfer(tensor, Device::cpu());
  EXPECT_EQ(moved(), (Moved{1, 16})) << "a copy";
  to_doubles(tensor);
  EXPECT_EQ(moved(), (Moved{1, 16})) << "all of it";
  to_doubles(tensor);
  EXPECT_EQ(moved(), (Moved{0, 0})) << "the host has it";
}

TEST(Residency, CopiesTakeTheShortestWay) {
  const CudaMachine machine(2);
  const Tensor source = empty({4}, kOnCuda);
  write_on_cuda(source, {4, 3, 2, 1});
  const int uploads = machine.uploads();
  const Tensor copy = copy_of(source);
  EXPECT_EQ(machine.copies_on_cuda(), 1);
  const Tensor on_other = transfer(source, Device::cuda(1));
  EXPECT_EQ(machine.copies_to_peers(), 1);
  EXPECT_EQ(machine.downloads(), 0);
  EXPECT_EQ(machine.uploads(), uploads);
  const Tensor on_host = transfer(source, Device::cpu());
  EXPECT_EQ(machine.downloads(), 1);
  EXPECT_EQ(source.storage().residency(), Residency::device) << "it was copied, not moved";
  for (const Tensor& each : {copy, on_other, on_host}) {
    EXPECT_EQ(to_doubles(each), (std::vector<double>{4, 3, 2, 1}));
  }
}

TEST(Residency, ACopyFromTheHostGoesToTheCard) {
  const CudaMachine machine;
  const Tensor tensor = transfer(from_values({1, 2, 3, 4}, {4}, {}), Device::cuda(0));
  EXPECT_EQ(tensor.storage().residency(), Residency::device);
  EXPECT_EQ(on_cuda(tensor), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Residency, ACopyIntoAPartKeepsTheRest) {
  const CudaMachine machine;
  const Tensor whole = from_values({1, 2, 3, 4}, {4}, kOnCuda);
  const Tensor part = make_view(whole, {2}, {1}, 1);
  const Tensor values = empty({2}, kOnCuda);
  write_on_cuda(values, {7, 8});
  copy_into(part, values);
  EXPECT_EQ(to_doubles(whole), (std::vector<double>{1, 7, 8, 4}));
  copy_into(make_view(whole, {3}, {1}, 0), make_view(whole, {3}, {1}, 1));
  EXPECT_EQ(to_doubles(whole), (std::vector<double>{7, 8, 4, 4}));
}

TEST(Residency, TheCardFillsItsMemoryItself) {
  const CudaMachine machine;
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int32, DType::float16,
                            DType::bfloat16, DType::float32}) {
    const Tensor tensor = full({5}, 1.0, {dtype, Device::cuda(0)});
    EXPECT_EQ(tensor.storage().residency(), Residency::device) << name_of(dtype);
    EXPECT_EQ(to_doubles(tensor), std::vector<double>(5, 1.0)) << name_of(dtype);
  }
  for (const DType dtype : {DType::int64, DType::float64}) {
    EXPECT_EQ(zeros({5}, {dtype, Device::cuda(0)}).storage().residency(), Residency::device);
    EXPECT_EQ(to_doubles(full({5}, 3.0, {dtype, Device::cuda(0)})), std::vector<double>(5, 3.0));
  }
  EXPECT_EQ(machine.uploads(), 0);
}

TEST(Residency, AFilledPartKeepsTheRest) {
  const CudaMachine machine;
  const Tensor whole = empty({4}, kOnCuda);
  write_on_cuda(whole, {1, 2, 3, 4});
  fill_values(make_view(whole, {2}, {1}, 1), 9);
  EXPECT_EQ(whole.storage().residency(), Residency::device);
  EXPECT_EQ(to_doubles(whole), (std::vector<double>{1, 9, 9, 4}));
  whole.data<float>()[0] = 5;
  fill_values(make_view(whole, {2}, {1}, 2), 6);
  EXPECT_EQ(on_cuda(whole), (std::vector<float>{5, 9, 6, 6}));
}

TEST(Residency, AnOpWithoutAKernelFindsWhatTheCardWrote) {
  const CudaMachine machine;
  const Tensor tensor = empty({4}, kOnCuda);
  write_on_cuda(tensor, {4, 3, 2, 1});
  EXPECT_EQ(sum_to_shape(tensor, {}).item(), 10);
}

TEST(Residency, ThereIsNoneOnSizeOnlyCardsAndVirtualGpus) {
  {
    const CudaMachine machine(1, "", ValueMode::size_only);
    const Tensor tensor = zeros({4}, kOnCuda);
    EXPECT_EQ(tensor.cuda_backend(), nullptr);
    EXPECT_EQ(machine.stand_in().calls("cuMemsetD32_v2"), 0);
  }
  test::TestMachine machine({.values = ValueMode::keeps_values});
  EXPECT_EQ(zeros({4}, kOnCuda).cuda_backend(), nullptr);
}

TEST(Residency, ACardThatDoesNotCopyIsAnError) {
  const CudaMachine machine(1, "fail=cuMemcpyDtoH_v2:0:1");
  const Tensor tensor = empty({4}, kOnCuda);
  write_on_cuda(tensor, {4, 3, 2, 1});
  EXPECT_THROW(to_doubles(tensor), cuda::DriverError);
  EXPECT_EQ(to_doubles(tensor), (std::vector<double>{4, 3, 2, 1})) << "nothing was forgotten";
}

}  // namespace
}  // namespace ohm

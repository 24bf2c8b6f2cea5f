// cuDNN's benchmark mode on a card: which ways of a convolution are tried, what that takes, and
// what is kept of it.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/fault/faulty_allocator.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/cuda/library.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/tensor/context.h"
#include "tests/runtime/ops/cuda/library_support.h"
#include "tests/support/cuda_machine.h"

namespace ohm::test {
namespace {

const std::string kMeasured = "cudnnFindConvolutionForwardAlgorithmEx";

std::vector<double> convolved() {
  const Tensor images = on_card({1, 2, 3, 4}, {1, 1, 2, 2});
  const Tensor filter = on_card({2}, {1, 1, 1, 1});
  return to_doubles(ops::conv2d(images, filter, {}, {1}, {0}, {1}, 1));
}

TEST(CudnnBenchmark, TriesAConvolutionOnceAndKeepsTheFastestWay) {
  const CudaMachine machine(1, kOneDevice);
  Context::current().state.convolution_plans.is_benchmark = true;
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  const auto requested = [&] { return allocator.stats().requested_bytes[0].allocated; };
  const auto before = requested();
  EXPECT_EQ(convolved(), (std::vector<double>{2, 4, 6, 8}));
  constexpr int kTensors = 16 + 4 + 16;
  constexpr int kWorkspaceOfTheFast = 4096;
  EXPECT_EQ(requested() - before, kTensors + 2 * kWorkspaceOfTheFast) << "the trial's, and its own";
  EXPECT_EQ(machine.stand_in().calls(kMeasured.c_str()), 1);
  const auto after_the_first = requested();
  EXPECT_EQ(convolved(), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(requested() - after_the_first, kTensors + kWorkspaceOfTheFast);
  EXPECT_EQ(machine.stand_in().calls(kMeasured.c_str()), 1);
}

TEST(CudnnBenchmark, KeepsAWayThatGivesOtherBitsEachTimeWhereItIsAskedFor) {
  const CudaMachine machine(1, kOneDevice + " cudnn_random=1");
  ConvolutionPlans& plans = Context::current().state.convolution_plans;
  plans.is_benchmark = true;
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  constexpr int kTensors = 16 + 4 + 16;
  constexpr int kWorkspaceOfTheFast = 4096;
  // The first time there is a trial; the second time takes what is asserted.
  for (const auto& [is_deterministic, bytes] :
       {std::pair(true, kTensors), std::pair(false, kTensors + kWorkspaceOfTheFast),
        std::pair(true, kTensors)}) {
    plans.is_deterministic = is_deterministic;
    convolved();
    const auto before = allocator.stats().requested_bytes[0].allocated;
    EXPECT_EQ(convolved(), (std::vector<double>{2, 4, 6, 8}));
    EXPECT_EQ(allocator.stats().requested_bytes[0].allocated - before, bytes) << is_deterministic;
  }
  EXPECT_EQ(machine.stand_in().calls(kMeasured.c_str()), 2) << "once for each";
}

TEST(CudnnBenchmark, NeverKeepsAWayThatGivesOtherBitsEachTime) {
  const CudaMachine machine(1, kOneDevice + " cudnn_random=1");
  Context::current().state.convolution_plans.is_benchmark = true;
  EXPECT_EQ(convolved(), (std::vector<double>{2, 4, 6, 8}));
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  const auto before = allocator.stats().requested_bytes[0].allocated;
  EXPECT_EQ(convolved(), (std::vector<double>{2, 4, 6, 8}));
  constexpr int kTensors = 16 + 4 + 16;
  EXPECT_EQ(allocator.stats().requested_bytes[0].allocated - before, kTensors)
      << "the fast one's workspace was taken";
}

TEST(CudnnBenchmark, TriesTheGradientsToo) {
  const CudaMachine machine(1, kOneDevice);
  Context::current().state.convolution_plans.is_benchmark = true;
  const Tensor images = on_card({1, 2, 3, 4}, {1, 1, 2, 2});
  const Tensor filter = on_card({2}, {1, 1, 1, 1});
  for (const Tensor& leaf : {images, filter}) leaf.set_requires_grad(true);
  const Tensor out = ops::conv2d(images, filter, {}, {1}, {0}, {1}, 1);
  backward({out}, {ones_like(out)}, GraphRetention::release);
  EXPECT_EQ(to_doubles(images.grad()), (std::vector<double>{2, 2, 2, 2}));
  EXPECT_EQ(to_doubles(filter.grad()), (std::vector<double>{10}));
  EXPECT_EQ(machine.stand_in().calls("cudnnFindConvolutionBackwardDataAlgorithmEx"), 1);
  EXPECT_EQ(machine.stand_in().calls("cudnnFindConvolutionBackwardFilterAlgorithmEx"), 1);
}

TEST(CudnnBenchmark, EmptiesTheCacheAfterATrialAndHoldsNothing) {
  const CudaMachine machine(1, kOneDevice);
  Context::current().state.convolution_plans.is_benchmark = true;
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  empty({8 << 20}, {DType::float32, kCard});
  EXPECT_GE(allocator.stats().reserved_bytes[0].current, 32 << 20);
  convolved();
  EXPECT_LT(allocator.stats().reserved_bytes[0].current, 32 << 20);
  EXPECT_EQ(allocator.stats().allocated_bytes[0].current, 0);
}

TEST(CudnnBenchmark, TriesNothingThatThereIsNoRoomFor) {
  const CudaMachine machine(1, kOneDevice + " cudnn_workspace=200000000");
  Context::current().state.convolution_plans.is_benchmark = true;
  EXPECT_EQ(convolved(), (std::vector<double>{2, 4, 6, 8})) << "the host's";
  EXPECT_EQ(machine.stand_in().calls("cudnnConvolutionForward"), 0);
}

TEST(CudnnBenchmark, TakesHalfOfAWorkspaceThatThereIsNoMemoryFor) {
  CudaMachine machine(1, kOneDevice);
  DeviceSlot& slot = machine.context().gpus[0];
  FaultPlan faults = FaultPlan::parse("persistent(size(>=4096)) & level(workspace)");
  FaultyAllocator full(*slot.allocator, faults, 0);
  slot.allocator = &full;
  Context::current().state.convolution_plans.is_benchmark = true;
  EXPECT_EQ(convolved(), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(machine.stand_in().calls(kMeasured.c_str()), 1);
  EXPECT_EQ(full.stats().num_ooms, 1);
}

TEST(CudnnBenchmark, AFailedTrialLeavesTheConvolutionNew) {
  const CudaMachine machine(1, kOneDevice + " fail=" + kMeasured + ":0:5000");
  Context::current().state.convolution_plans.is_benchmark = true;
  EXPECT_THROW(convolved(), cuda::LibraryError);
  EXPECT_EQ(convolved(), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(machine.stand_in().calls(kMeasured.c_str()), 2);
}

}  // namespace
}  // namespace ohm::test

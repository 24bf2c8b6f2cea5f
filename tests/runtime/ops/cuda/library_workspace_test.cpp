// The memory that NVIDIA's libraries compute in: who keeps it, and which ways of a convolution fit
// into it.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/fault/faulty_allocator.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/matmul/cublas_workspace.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/tensor/context.h"
#include "tests/runtime/ops/cuda/library_support.h"
#include "tests/support/cuda_machine.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

TEST(LibraryWorkspaces, CublasIsGivenTheBlockThatTheRuntimeKeeps) {
  const CudaMachine machine(1, kOneDevice);
  Context::current().rules = find_rule_set("pytorch-2.6");
  ops::mm(square(), square());
  const IntrusivePtr<Storage> kept = ops::cublas_workspace(kCard);
  EXPECT_EQ(kept->bytes(), CudaMachine::kWorkspaceBytes);
  EXPECT_EQ(machine.stand_in().library_workspace(), kept->address());
  ops::mm(square(), square());
  EXPECT_EQ(machine.stand_in().calls("cublasSetWorkspace_v2"), 1) << "it has it already";
}

TEST(LibraryWorkspaces, CublasForgetsAWorkspaceThatIsGone) {
  CudaMachine machine(1, kOneDevice);
  ops::mm(square(), square());
  DeviceSlot& slot = Context::current().slot(kCard);
  slot.cublas_workspace_bytes = 0;
  slot.library_handles.release_workspaces();
  EXPECT_EQ(to_doubles(ops::mm(square(), square())), (std::vector<double>{7, 10, 15, 22}));
  EXPECT_EQ(machine.stand_in().library_workspace(), 0U);
}

TEST(LibraryWorkspaces, CublasLtIsGivenTheBlockOfItsCall) {
  const CudaMachine machine(1, kOneDevice);
  ops::addmm(on_card({1, 2}, {2}), square(), square());
  EXPECT_EQ(machine.stand_in().calls("cublasLtMatmul"), 1);
  const DeviceAddress given = machine.stand_in().library_workspace();
  EXPECT_NE(given, 0U);
  EXPECT_NE(given, ops::cublas_workspace(kCard)->address());
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  for (const LiveBlock& block : allocator.live_blocks()) EXPECT_NE(block.address, given);
}

TEST(LibraryWorkspaces, ConvolutionsTakeNoWorkspaceWhereThereIsAWayWithout) {
  const CudaMachine machine(1, kOneDevice);
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  const Tensor images = on_card({1, 2, 3, 4}, {1, 1, 2, 2});
  const Tensor filter = on_card({2}, {1, 1, 1, 1});
  const auto requests = allocator.stats().allocation[0].allocated;
  EXPECT_EQ(to_doubles(ops::conv2d(images, filter, {}, {1}, {0}, {1}, 1)),
            (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(allocator.stats().allocation[0].allocated - requests, 1) << "the result alone";
  ops::conv2d(images, filter, {}, {1}, {0}, {1}, 1);
  EXPECT_EQ(machine.stand_in().calls("cudnnGetConvolutionForwardAlgorithm_v7"), 1);
}

TEST(LibraryWorkspaces, AConvolutionsWorkspaceComesFromTheAllocatorAndGoesBack) {
  const CudaMachine machine(1, kOneDevice + " cudnn_workspace=524288");
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  const Tensor images = on_card({1, 2, 3, 4}, {1, 1, 2, 2});
  const Tensor filter = on_card({2}, {1, 1, 1, 1});
  const auto before = allocator.stats().requested_bytes[0];
  const Tensor out = ops::conv2d(images, filter, {}, {1}, {0}, {1}, 1);
  const auto after = allocator.stats().requested_bytes[0];
  EXPECT_EQ(to_doubles(out), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(after.allocated - before.allocated, 524288 + 16);
  EXPECT_EQ(after.current - before.current, 16);
  EXPECT_NE(machine.stand_in().library_workspace(), 0U);
}

/// What a convolution of this machine requests beside its result; the fast way wants 4096 bytes.
std::int64_t workspace_of_convolution() {
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  const TensorOptions options{DType::float32, kCard};
  const Tensor images = full({1, 1, 2, 2}, 1.0, options);
  const Tensor filter = full({1, 1, 1, 1}, 2.0, options);
  for (const Tensor& leaf : {images, filter}) leaf.set_requires_grad(true);
  const auto before = allocator.stats().requested_bytes[0];
  const Tensor out = ops::conv2d(images, filter, {}, {1}, {0}, {1}, 1);
  const auto after = allocator.stats().requested_bytes[0];
  EXPECT_EQ(after.current - before.current, 16);
  if (out.has_values()) {
    EXPECT_EQ(to_doubles(out), (std::vector<double>{2, 2, 2, 2}));
  }
  return after.allocated - before.allocated - 16;
}

TEST(LibraryWorkspaces, AConvolutionTakesTheBestWayWithinTheBound) {
  CudaMachine machine(1, kOneDevice);
  machine.context().gpus[0].cudnn_workspace_bytes = 4096;
  EXPECT_EQ(workspace_of_convolution(), 4096);
  machine.context().gpus[0].cudnn_workspace_bytes = 4095;
  EXPECT_EQ(workspace_of_convolution(), 0);
  EXPECT_EQ(machine.stand_in().calls("cudnnGetConvolutionForwardAlgorithm_v7"), 1);
}

TEST(LibraryWorkspaces, AConvolutionTakesNoWayThatGivesOtherBitsEachTime) {
  CudaMachine machine(1, kOneDevice + " cudnn_random=1");
  machine.context().gpus[0].cudnn_workspace_bytes = 1_MiB;
  EXPECT_EQ(workspace_of_convolution(), 0) << "the fast one's was taken";
}

TEST(LibraryWorkspaces, AConvolutionTakesAWayThatGivesOtherBitsEachTimeWhereItIsAskedFor) {
  CudaMachine machine(1, kOneDevice + " cudnn_random=1");
  machine.context().gpus[0].cudnn_workspace_bytes = 1_MiB;
  ConvolutionPlans& plans = machine.context().state.convolution_plans;
  plans.is_deterministic = false;
  EXPECT_EQ(workspace_of_convolution(), 4096) << "the fast one's";
  plans.is_deterministic = true;
  EXPECT_EQ(workspace_of_convolution(), 0) << "what was suggested before is another question's";
}

TEST(LibraryWorkspaces, AConvolutionTakesAnotherWayWhereThereIsNoMemory) {
  CudaMachine machine(1, kOneDevice);
  DeviceSlot& slot = machine.context().gpus[0];
  slot.cudnn_workspace_bytes = 1_MiB;
  FaultPlan faults = FaultPlan::parse("persistent(size(>=4096)) & level(workspace)");
  FaultyAllocator full(*slot.allocator, faults, 0);
  slot.allocator = &full;
  EXPECT_EQ(workspace_of_convolution(), 0);
  EXPECT_EQ(full.stats().num_ooms, 1) << "counted, as PyTorch's is";
}

TEST(LibraryWorkspaces, AVirtualGpuTakesTheWorkspacesThatWereMeasured) {
  std::map<std::string, std::size_t> measured;
  {
    CudaMachine machine(1, kOneDevice);
    CudaBackend counted = *machine.context().gpus[0].backend;
    counted.traffic = std::make_shared<CudaTraffic>();
    machine.context().gpus[0].backend = &counted;
    machine.context().gpus[0].cudnn_workspace_bytes = 4096;
    workspace_of_convolution();
    measured = counted.traffic->convolution_workspaces;
  }
  EXPECT_EQ(measured, (std::map<std::string, std::size_t>{
                          {"output, float32: [1, 1, 2, 2] by [1, 1, 1, 1], stride 1 1, padding "
                           "0 0, dilation 1 1, groups 1",
                           4096}}));
  for (const ValueMode values : {ValueMode::keeps_values, ValueMode::size_only}) {
    TestMachine machine({.values = values});
    EXPECT_EQ(workspace_of_convolution(), 0);
    EXPECT_FALSE(machine.context().gpus[0].assumptions.names().empty());
    machine.context().gpus[0].assumptions = {};
    machine.context().gpus[0].convolution_workspaces = &measured;
    EXPECT_EQ(workspace_of_convolution(), 4096);
    EXPECT_TRUE(machine.context().gpus[0].assumptions.names().empty()) << "it is known";
  }
}

}  // namespace
}  // namespace ohm::test

// Ops that go to NVIDIA's libraries where their values are on a card, against the same ops on the
// host; and what becomes of a library that is missing or fails.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/fault/faulty_allocator.h"
#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/ops/collective/cuda/collective.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/matmul/cublas_workspace.h"
#include "runtime/ops/matmul/linear.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/normalization/batch_norm.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/pooling/average_pool.h"
#include "runtime/ops/pooling/max_pool.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/parallel/rank_group.h"
#include "runtime/parallel/replicate.h"
#include "runtime/tensor/context.h"
#include "tests/support/cuda_machine.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

constexpr Device kCard = Device::cuda(0);
const std::string kOneDevice = "capacity=268435456";

Tensor on_cuda(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape, {DType::float32, kCard});
}
Tensor square() { return on_cuda({1, 2, 3, 4}, {2, 2}); }

// ---- numbers ------------------------------------------------------------------------------------

using Values = std::vector<std::vector<double>>;

Tensor weights_like(const Tensor& output) {
  std::vector<double> values;
  for (int i = 0; i < output.numel(); ++i) values.push_back(std::sin(1.0 + 0.5 * i));
  return from_values(values, output.shape(), options_of(output));
}

/// Results, then gradients.
Values computed(const ops::OpDef& op, const Sample& given, DType dtype, Device device) {
  const Sample sample = converted(given, dtype, device);
  require_gradients(op, sample);
  const Tensor out = tensors_in(call_op(op, sample)).front();
  backward({out}, {weights_like(out)}, GraphRetention::release);
  Values all = {to_doubles(out)};
  for (const std::size_t position : differentiable(op, sample)) {
    for (const Tensor& leaf : tensors_in(sample[position])) all.push_back(to_doubles(leaf.grad()));
  }
  return all;
}

double tolerance_of_library(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return 4e-3;
    case DType::bfloat16:
      return 3e-2;
    case DType::float64:
      return 1e-10;
    default:
      return 1e-5;
  }
}

void expect_close(const Values& found, const Values& expected, DType dtype) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t list = 0; list < found.size(); ++list) {
    ASSERT_EQ(found[list].size(), expected[list].size());
    for (std::size_t i = 0; i < found[list].size(); ++i) {
      const double allowed = tolerance_of_library(dtype) * (1 + std::abs(expected[list][i]));
      EXPECT_NEAR(found[list][i], expected[list][i], allowed) << "of list " << list << ", " << i;
    }
  }
}

struct LibraryCase {
  std::string op;
  std::string call;  ///< of a library, that forward or backward of some sample must have made
};

class EveryOpOfALibrary : public testing::TestWithParam<LibraryCase> {};

TEST_P(EveryOpOfALibrary, ComputesOnTheCardWhatTheHostDoes) {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    const CudaMachine machine(1, kOneDevice);
    const auto& all = ops::all_ops();
    const auto op = std::find_if(all.begin(), all.end(),
                                 [](const auto& one) { return one.info.name == GetParam().op; });
    ASSERT_NE(op, all.end());
    for (const Sample& sample : samples_of(*op)) {
      SCOPED_TRACE(name_of(dtype));
      expect_close(computed(*op, sample, dtype, kCard), computed(*op, sample, dtype, Device::cpu()),
                   dtype);
    }
    EXPECT_GT(machine.stand_in().calls(GetParam().call.c_str()), 0) << name_of(dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(
    DeviceLibraries, EveryOpOfALibrary,
    testing::Values(LibraryCase{"mm", "cublasGemmEx"},
                    LibraryCase{"bmm", "cublasGemmStridedBatchedEx"},
                    LibraryCase{"baddbmm", "cublasGemmStridedBatchedEx"},
                    LibraryCase{"addmm", "cublasLtMatmul"}, LibraryCase{"matmul", "cublasGemmEx"},
                    LibraryCase{"linear", "cublasLtMatmul"}, LibraryCase{"dot", "cublasGemmEx"},
                    LibraryCase{"mv", "cublasGemmEx"}, LibraryCase{"einsum", "cublasGemmEx"},
                    LibraryCase{"conv2d", "cudnnConvolutionForward"},
                    LibraryCase{"conv_transpose2d", "cudnnConvolutionBackwardData"},
                    LibraryCase{"avg_pool2d", "cudnnPoolingBackward"}),
    [](const auto& info) { return info.param.op; });

TEST(DeviceLibraries, LeaveTheHostABiasThatIsNotDense) {
  const CudaMachine machine(1, kOneDevice);
  const Tensor every_second = make_view(on_cuda({10, 0, 20, 0}, {2, 2}), {2}, {2}, 0);
  const auto convolved = [&](const Tensor& bias) {
    return to_doubles(ops::conv2d(on_cuda({1}, {1, 1, 1, 1}), on_cuda({1, 1}, {2, 1, 1, 1}), bias,
                                  {1}, {0}, {1}, 1));
  };
  EXPECT_EQ(convolved(every_second), (std::vector<double>{11, 21}));
  EXPECT_EQ(machine.stand_in().calls("cudnnConvolutionForward"), 0);
  EXPECT_EQ(convolved(on_cuda({10, 20}, {2})), (std::vector<double>{11, 21}));
  EXPECT_EQ(machine.stand_in().calls("cudnnConvolutionForward"), 1);
}

// cuBLASLt's kernels read it in pieces of 16 bytes, and cannot be told where it lies.
TEST(DeviceLibraries, MultiplyWithABiasThatIsNotAligned) {
  const CudaMachine machine(1, kOneDevice);
  const Tensor biases = on_cuda({0, 10, 20}, {3});
  const auto product = [](const Tensor& bias) {
    return to_doubles(ops::linear(square(), square(), bias));
  };
  EXPECT_EQ(product(make_view(biases, {2}, {1}, 1)), (std::vector<double>{15, 31, 21, 45}));
  EXPECT_EQ(machine.stand_in().calls("cublasLtMatmul"), 0);
  EXPECT_EQ(product(make_view(biases, {2}, {1}, 0)), (std::vector<double>{5, 21, 11, 35}));
  EXPECT_EQ(machine.stand_in().calls("cublasLtMatmul"), 1);
}

TEST(DeviceLibraries, LeaveTheHostWhatIsEmpty) {
  const CudaMachine machine(1, kOneDevice);
  const Tensor images = make_view(on_cuda({1, 2}, {2, 1, 1, 1}), {0, 1, 1, 1}, {1, 1, 1, 1}, 0);
  const Tensor filter = on_cuda({3}, {1, 1, 1, 1});
  filter.set_requires_grad(true);
  const Tensor out = ops::conv2d(images, filter, {}, {1}, {0}, {1}, 1);
  backward({ops::sum(out)}, {}, GraphRetention::release);
  EXPECT_EQ(to_doubles(filter.grad()), std::vector<double>{0});
}

// cuDNN has no batch norm for bfloat16, nor for weights in halves: the op's samples do not say so.
TEST(DeviceLibraries, NormalizeBatchesAsTheHostDoes) {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16}) {
    SCOPED_TRACE(name_of(dtype));
    std::map<bool, Values> found;
    const CudaMachine machine(1, kOneDevice);
    for (const Device device : {Device::cpu(), kCard}) {
      Context::current().seed(3);
      const DType statistics = dtype == DType::float64 ? DType::float64 : DType::float32;
      const auto channels = [&](const std::vector<double>& values) {
        return from_values(values, {3}, {statistics, device});
      };
      const Tensor input = randn({2, 3, 4, 5}, {DType::float64, Device::cpu()});
      const Tensor images = from_values(to_doubles(input), {2, 3, 4, 5}, {dtype, device});
      const Tensor weight = channels({0.5, 2, -1});
      const Tensor bias = channels({1, 0, -3});
      const Tensor mean = channels({0.1, 0.2, 0.3});
      const Tensor variance = channels({1, 2, 3});
      for (const Tensor& leaf : {images, weight, bias}) leaf.set_requires_grad(true);
      const Tensor trained =
          ops::batch_norm(images, mean, variance, weight, bias, true, 0.25, 1e-5);
      backward({trained}, {weights_like(trained)}, GraphRetention::release);
      const Tensor applied =
          ops::batch_norm(images, mean, variance, weight, bias, false, 0.25, 1e-5);
      Values& values = found[device.is_cuda()];
      for (const Tensor& tensor :
           {trained, applied, images.grad(), weight.grad(), bias.grad(), mean, variance}) {
        values.push_back(to_doubles(tensor));
      }
    }
    expect_close(found[true], found[false], dtype);
    for (const char* call :
         {"cudnnBatchNormalizationForwardTraining", "cudnnBatchNormalizationForwardInference",
          "cudnnBatchNormalizationBackward"}) {
      EXPECT_EQ(machine.stand_in().calls(call), 1) << call;
    }
  }
}

// ---- workspaces ---------------------------------------------------------------------------------

TEST(DeviceLibraries, CublasIsGivenTheBlockThatTheRuntimeKeeps) {
  const CudaMachine machine(1, kOneDevice);
  Context::current().rules = find_rule_set("pytorch-2.6");
  ops::mm(square(), square());
  const IntrusivePtr<Storage> kept = ops::cublas_workspace(kCard);
  EXPECT_EQ(kept->bytes(), CudaMachine::kWorkspaceBytes);
  EXPECT_EQ(machine.stand_in().library_workspace(), kept->address());
  ops::mm(square(), square());
  EXPECT_EQ(machine.stand_in().calls("cublasSetWorkspace_v2"), 1) << "it has it already";
}

TEST(DeviceLibraries, CublasForgetsAWorkspaceThatIsGone) {
  CudaMachine machine(1, kOneDevice);
  ops::mm(square(), square());
  DeviceSlot& slot = Context::current().slot(kCard);
  slot.cublas_workspace_bytes = 0;
  slot.library_handles.release_workspaces();
  EXPECT_EQ(to_doubles(ops::mm(square(), square())), (std::vector<double>{7, 10, 15, 22}));
  EXPECT_EQ(machine.stand_in().library_workspace(), 0U);
}

TEST(DeviceLibraries, CublasLtIsGivenTheBlockOfItsCall) {
  const CudaMachine machine(1, kOneDevice);
  ops::addmm(on_cuda({1, 2}, {2}), square(), square());
  EXPECT_EQ(machine.stand_in().calls("cublasLtMatmul"), 1);
  const DeviceAddress given = machine.stand_in().library_workspace();
  EXPECT_NE(given, 0U);
  EXPECT_NE(given, ops::cublas_workspace(kCard)->address());
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  for (const LiveBlock& block : allocator.live_blocks()) EXPECT_NE(block.address, given);
}

TEST(DeviceLibraries, ConvolutionsTakeNoWorkspaceWhereThereIsAWayWithout) {
  const CudaMachine machine(1, kOneDevice);
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  const Tensor images = on_cuda({1, 2, 3, 4}, {1, 1, 2, 2});
  const Tensor filter = on_cuda({2}, {1, 1, 1, 1});
  const auto requests = allocator.stats().allocation[0].allocated;
  EXPECT_EQ(to_doubles(ops::conv2d(images, filter, {}, {1}, {0}, {1}, 1)),
            (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(allocator.stats().allocation[0].allocated - requests, 1) << "the result alone";
  ops::conv2d(images, filter, {}, {1}, {0}, {1}, 1);
  EXPECT_EQ(machine.stand_in().calls("cudnnGetConvolutionForwardAlgorithm_v7"), 1);
}

TEST(DeviceLibraries, AConvolutionsWorkspaceComesFromTheAllocatorAndGoesBack) {
  const CudaMachine machine(1, kOneDevice + " cudnn_workspace=524288");
  const RequestAllocator& allocator = *Context::current().slot(kCard).allocator;
  const Tensor images = on_cuda({1, 2, 3, 4}, {1, 1, 2, 2});
  const Tensor filter = on_cuda({2}, {1, 1, 1, 1});
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

TEST(DeviceLibraries, AConvolutionTakesTheBestWayWithinTheBound) {
  CudaMachine machine(1, kOneDevice);
  machine.context().gpus[0].cudnn_workspace_bytes = 4096;
  EXPECT_EQ(workspace_of_convolution(), 4096);
  machine.context().gpus[0].cudnn_workspace_bytes = 4095;
  EXPECT_EQ(workspace_of_convolution(), 0);
  EXPECT_EQ(machine.stand_in().calls("cudnnGetConvolutionForwardAlgorithm_v7"), 1);
}

TEST(DeviceLibraries, AConvolutionTakesNoWayThatGivesOtherBitsEachTime) {
  CudaMachine machine(1, kOneDevice + " cudnn_random=1");
  machine.context().gpus[0].cudnn_workspace_bytes = 1_MiB;
  EXPECT_EQ(workspace_of_convolution(), 0) << "the fast one's was taken";
}

TEST(DeviceLibraries, AConvolutionTakesAWayThatGivesOtherBitsEachTimeWhereItIsAskedFor) {
  CudaMachine machine(1, kOneDevice + " cudnn_random=1");
  machine.context().gpus[0].cudnn_workspace_bytes = 1_MiB;
  ConvolutionPlans& plans = machine.context().state.convolution_plans;
  plans.is_deterministic = false;
  EXPECT_EQ(workspace_of_convolution(), 4096) << "the fast one's";
  plans.is_deterministic = true;
  EXPECT_EQ(workspace_of_convolution(), 0) << "what was suggested before is another question's";
}

TEST(DeviceLibraries, AConvolutionTakesAnotherWayWhereThereIsNoMemory) {
  CudaMachine machine(1, kOneDevice);
  DeviceSlot& slot = machine.context().gpus[0];
  slot.cudnn_workspace_bytes = 1_MiB;
  FaultPlan faults = FaultPlan::parse("persistent(size(>=4096)) & level(workspace)");
  FaultyAllocator full(*slot.allocator, faults, 0);
  slot.allocator = &full;
  EXPECT_EQ(workspace_of_convolution(), 0);
  EXPECT_EQ(full.stats().num_ooms, 1) << "counted, as PyTorch's is";
}

TEST(DeviceLibraries, AVirtualGpuTakesTheWorkspacesThatWereMeasured) {
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

// ---- benchmark mode -----------------------------------------------------------------------------

const std::string kMeasured = "cudnnFindConvolutionForwardAlgorithmEx";

std::vector<double> convolved() {
  const Tensor images = on_cuda({1, 2, 3, 4}, {1, 1, 2, 2});
  const Tensor filter = on_cuda({2}, {1, 1, 1, 1});
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
  const Tensor images = on_cuda({1, 2, 3, 4}, {1, 1, 2, 2});
  const Tensor filter = on_cuda({2}, {1, 1, 1, 1});
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

// ---- collectives --------------------------------------------------------------------------------

const std::string kTwoDevices = "devices=2 capacity=268435456";

/// What each of two ranks has after the sum of all, a broadcast, and one list of each kind.
std::vector<std::vector<double>> after_collectives() {
  std::vector<std::vector<double>> values(2);
  parallel::RankGroup::run(2, [&](int rank) {
    const TensorOptions here{DType::float32, Device::cuda(rank)};
    const Tensor sum = from_values({1.0 + rank, 10}, {2}, here);
    const Tensor sent = from_values({5.0 * rank}, {1}, here);
    parallel::RankGroup::current()->all_reduce(sum);
    parallel::RankGroup::current()->broadcast(sent, 1);
    const std::vector<Tensor> all = {zeros({2}, here), zeros({2}, here)};
    parallel::RankGroup::current()->all_gather(all, from_values({7.0 + rank, 8.0}, {2}, here));
    const Tensor part = zeros({2}, here);
    parallel::RankGroup::current()->reduce_scatter(
        part,
        {from_values({100.0 + rank, 1}, {2}, here), from_values({200, 2.0 + rank}, {2}, here)});
    auto& found = values[static_cast<std::size_t>(rank)];
    for (const Tensor& tensor : {sum, sent, all[0], all[1], part}) {
      for (const double value : to_doubles(tensor)) found.push_back(value);
    }
  });
  return values;
}

const std::vector<std::vector<double>> kAfterCollectives = {{3, 20, 5, 7, 8, 8, 8, 201, 2},
                                                            {3, 20, 5, 7, 8, 8, 8, 400, 5}};

TEST(DeviceLibraries, CollectivesOfSeveralCardsGoThroughNccl) {
  CudaMachine machine(2, kTwoDevices);
  machine.context().rules = find_rule_set("pytorch-2.6");
  EXPECT_EQ(after_collectives(), kAfterCollectives);
  EXPECT_EQ(machine.stand_in().calls("ncclCommInitAll"), 1);
  EXPECT_EQ(machine.stand_in().calls("ncclAllReduce"), 2);
  EXPECT_EQ(machine.stand_in().calls("ncclBroadcast"), 2);
  EXPECT_EQ(machine.stand_in().calls("ncclAllGather"), 2);
  EXPECT_EQ(machine.stand_in().calls("ncclReduceScatter"), 2);
}

// Lists have no buffer in PyTorch 2.15: each piece goes by itself.
TEST(DeviceLibraries, ListsWithoutABufferGoThroughNcclPieceByPiece) {
  CudaMachine machine(2, kTwoDevices);
  ASSERT_TRUE(machine.context().rules.collectives_hold_tensors);
  EXPECT_EQ(after_collectives(), kAfterCollectives);
  EXPECT_EQ(machine.stand_in().calls("ncclCommInitAll"), 1);
  EXPECT_EQ(machine.stand_in().calls("ncclBroadcast"), 2 + 2 * 2);
  EXPECT_EQ(machine.stand_in().calls("ncclReduce"), 2 * 2);
}

TEST(DeviceLibraries, TheSourceOfABroadcastIsARankAndNoCard) {
  const CudaMachine machine(2, kTwoDevices);
  const auto on = [](int gpu, double value) {
    return from_values({value}, {1}, {DType::float32, Device::cuda(gpu)});
  };
  const std::vector<Tensor> tensors = {on(1, 10), on(0, 20)};
  ASSERT_EQ(ops::broadcast_by_nccl(tensors, 0), ops::CudaResult::done);
  for (const Tensor& tensor : tensors) EXPECT_EQ(to_doubles(tensor), std::vector<double>{10});
}

TEST(DeviceLibraries, CollectivesDoWithoutNccl) {
  cuda::LibraryPlaces places = stand_in::StandIn::libraries();
  places.nccl = {"libthere-is-none.so.1"};
  const CudaMachine machine(2, kTwoDevices, ValueMode::keeps_values, places);
  EXPECT_EQ(after_collectives(), kAfterCollectives);
  EXPECT_EQ(machine.stand_in().calls("ncclAllReduce"), 0);
}

/// The gradient of a layer's weight that was copied to two cards, and the batch split between them.
std::vector<double> gradient_of_replicas() {
  Context::current().seed(1);
  const auto layer =
      std::make_shared<nn::Linear>(2, 1, false, nn::ParameterOptions{kCard, DType::float32});
  const auto replicas = parallel::replicate(layer, {kCard, Device::cuda(1)});
  std::vector<Tensor> losses;
  for (int card = 0; card < 2; ++card) {
    const Tensor batch =
        from_values({1.0 + card, 10}, {1, 2}, {DType::float32, Device::cuda(card)});
    losses.push_back(ops::sum(replicas.at(static_cast<std::size_t>(card))->call(batch)));
  }
  backward(losses, {ones_like(losses[0]), ones_like(losses[1])}, GraphRetention::release);
  return to_doubles(layer->parameters()[0].grad());
}

TEST(DeviceLibraries, GradientsOfReplicasAreAddedUpByNccl) {
  const CudaMachine machine(2, kTwoDevices);
  EXPECT_EQ(gradient_of_replicas(), (std::vector<double>{3, 20}));
  EXPECT_EQ(machine.stand_in().calls("ncclReduce"), 2);
}

TEST(DeviceLibraries, GradientsOfReplicasDoWithoutNccl) {
  cuda::LibraryPlaces places = stand_in::StandIn::libraries();
  places.nccl = {"libthere-is-none.so.1"};
  const CudaMachine machine(2, kTwoDevices, ValueMode::keeps_values, places);
  EXPECT_EQ(gradient_of_replicas(), (std::vector<double>{3, 20}));
}

// ---- what is missing, what fails ----------------------------------------------------------------

cuda::LibraryPlaces nowhere() {
  const cuda::LibraryNames none = {"libthere-is-none.so.1", "libthere-is-none.so.0"};
  return {none, none, none, none};
}

TEST(DeviceLibraries, WhatIsMissingIsComputedByTheHost) {
  CudaMachine machine(1, kOneDevice, ValueMode::keeps_values, nowhere());
  EXPECT_EQ(to_doubles(ops::mm(square(), square())), (std::vector<double>{7, 10, 15, 22}));
  const auto states = machine.libraries().states();
  ASSERT_EQ(states.size(), 3U);
  EXPECT_EQ(states[0].name, "cuBLAS");
  EXPECT_EQ(states[0].version, "");
  EXPECT_THAT(states[0].missing, HasSubstr("cuBLAS is not here: libthere-is-none.so.1: cannot"));
  EXPECT_EQ(machine.stand_in().calls("cublasCreate_v2"), 0);
}

TEST(DeviceLibraries, SayWhichVersionTheyAre) {
  CudaMachine machine(1, kOneDevice + " cudnn_version=8907");
  const auto states = machine.libraries().states();
  EXPECT_EQ(states[0].version, "13.0.1");
  EXPECT_EQ(states[1].version, "13.0.1");
  EXPECT_EQ(states[2].version, "8.9.7");
}

TEST(DeviceLibraries, SayWhyOneDoesNotStart) {
  CudaMachine machine(1, kOneDevice + " fail=cudnnCreate:0:5000");
  const auto states = machine.libraries().states();
  EXPECT_EQ(states[2].version, "");
  EXPECT_EQ(states[2].missing, "cuDNN: cudnnCreate: CUDNN_STATUS_EXECUTION_FAILED");
}

TEST(DeviceLibraries, TheSecondNameIsTriedToo) {
  cuda::LibraryPlaces places = stand_in::StandIn::libraries();
  places.cublas = {"libthere-is-none.so.13", stand_in::StandIn::path()};
  CudaMachine machine(1, kOneDevice, ValueMode::keeps_values, places);
  EXPECT_EQ(machine.libraries().states()[0].missing, "");
}

TEST(DeviceLibraries, ANameThatDoesNotStartIsPassedOver) {
  cuda::LibraryPlaces places = stand_in::StandIn::libraries();
  places.cublas = {stand_in::StandIn::path(), stand_in::StandIn::path()};
  CudaMachine machine(1, kOneDevice + " fail=cublasCreate_v2:0:1", ValueMode::keeps_values, places);
  EXPECT_EQ(machine.libraries().states()[0].missing, "");
  EXPECT_EQ(machine.stand_in().calls("cublasCreate_v2"), 2);
}

TEST(DeviceLibraries, LeaveAloneACardThatDoesNotAnswer) {
  constexpr int kDeinitialized = 4;
  const stand_in::StandIn stand_in(
      fmt::format("{} fail=cuCtxSetCurrent:1:{}", kOneDevice, kDeinitialized));
  {
    cuda::DeviceLibraries libraries(stand_in::StandIn::device(), stand_in::StandIn::libraries());
    libraries.cublas();
  }
  EXPECT_EQ(stand_in.calls("cublasCreate_v2"), 1);
  EXPECT_EQ(stand_in.calls("cublasDestroy_v2"), 0);
}

std::string library_error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const cuda::LibraryError& error) {
    return error.what();
  }
  return "it did not fail";
}

TEST(DeviceLibraries, AFailureIsToldInTheLibrarysWords) {
  const CudaMachine machine(
      1, kOneDevice + " fail=cublasGemmEx:0:13 fail=cudnnConvolutionForward:0:5000");
  EXPECT_EQ(library_error_of([] { ops::mm(square(), square()); }),
            "cuBLAS: cublasGemmEx: CUBLAS_STATUS_EXECUTION_FAILED");
  EXPECT_EQ(
      library_error_of([] {
        ops::conv2d(on_cuda({1}, {1, 1, 1, 1}), on_cuda({2}, {1, 1, 1, 1}), {}, {1}, {0}, {1}, 1);
      }),
      "cuDNN: cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED");
  EXPECT_EQ(to_doubles(ops::mm(square(), square())), (std::vector<double>{7, 10, 15, 22}))
      << "the card is as usable as before";
}

TEST(DeviceLibraries, WhatTheyDoNotSupportIsComputedByTheHost) {
  const CudaMachine machine(
      1, kOneDevice + " fail=cublasGemmEx:0:15 fail=cudnnConvolutionForward:0:3000");
  EXPECT_EQ(to_doubles(ops::mm(square(), square())), (std::vector<double>{7, 10, 15, 22}));
  const Tensor image = on_cuda({3}, {1, 1, 1, 1});
  const Tensor filter = on_cuda({2}, {1, 1, 1, 1});
  EXPECT_EQ(to_doubles(ops::conv2d(image, filter, {}, {1}, {0}, {1}, 1)), (std::vector<double>{6}));
  EXPECT_EQ(machine.stand_in().calls("cublasGemmEx"), 1);
  EXPECT_EQ(machine.stand_in().calls("cudnnConvolutionForward"), 1);
}

TEST(DeviceLibraries, ACollectiveThatFailsEndsItsGroup) {
  const CudaMachine machine(2, kTwoDevices + " fail=ncclAllReduce:1:1");
  EXPECT_EQ(library_error_of([] { after_collectives(); }),
            "NCCL: ncclAllReduce: unhandled cuda error");
  EXPECT_EQ(machine.stand_in().calls("ncclGroupEnd"), 1);
  EXPECT_EQ(after_collectives(), kAfterCollectives) << "the cards are as usable as before";
}

TEST(DeviceLibraries, ABrokenCardIsToldBeforeTheLibrarysError) {
  CudaMachine machine(1, kOneDevice + " fail=cublasGemmEx:0:13 fail=cuCtxSynchronize:0:700");
  try {
    ops::mm(square(), square());
    FAIL() << "it was told to fail";
  } catch (const cuda::DriverError& error) {
    EXPECT_EQ(error.code(), 700);
  }
}

TEST(DeviceLibraries, AMissOfMemoryIsOutOfMemory) {
  const CudaMachine machine(1, kOneDevice + " fail=cublasCreate_v2:0:3 fail=cudnnCreate:0:4004");
  try {
    ops::mm(square(), square());
    FAIL() << "it was told to fail";
  } catch (const OutOfMemory& error) {
    EXPECT_STREQ(error.what(),
                 "CUDA out of memory. cuBLAS: cublasCreate_v2: CUBLAS_STATUS_ALLOC_FAILED");
    EXPECT_EQ(error.report().device, 0);
    EXPECT_FALSE(error.report().injected);
    EXPECT_GT(error.report().capacity_bytes, 0U);
  }
  const auto convolve = [] {
    return ops::conv2d(on_cuda({1}, {1, 1, 1, 1}), on_cuda({2}, {1, 1, 1, 1}), {}, {1}, {0}, {1},
                       1);
  };
  EXPECT_THROW(convolve(), OutOfMemory);
  EXPECT_EQ(to_doubles(ops::mm(square(), square())), (std::vector<double>{7, 10, 15, 22}));
  EXPECT_EQ(to_doubles(convolve()), (std::vector<double>{2}));
}

TEST(DeviceLibraries, GiveBackAllThatTheyMake) {
  const stand_in::StandIn stand_in(kOneDevice + " fail=cublasLtMatrixLayoutCreate:2:3" +
                                   " fail=cudnnSetTensor4dDescriptor:1:2000");
  {
    const auto card = stand_in::StandIn::device();
    cuda::DeviceLibraries libraries(card, stand_in::StandIn::libraries());
    cuda::Convolution convolution;
    convolution.input = convolution.filter = convolution.output = {1, 1, 1, 1};
    const auto ask = [&] {
      return libraries.cudnn()->suggested(cuda::ConvolutionPass::output, convolution);
    };
    EXPECT_THROW(ask(), cuda::LibraryError);
    ask();
    cuda::Product product;
    product.m = product.n = product.k = 1;
    EXPECT_THROW(libraries.cublaslt()->multiply_with_bias(product, 0, {}), cuda::LibraryError);
    EXPECT_GT(stand_in.held_bytes(), 0U) << "handles are held as long as the libraries are";
  }
  EXPECT_EQ(stand_in.held_bytes(), 0U);
}

}  // namespace
}  // namespace ohm::test

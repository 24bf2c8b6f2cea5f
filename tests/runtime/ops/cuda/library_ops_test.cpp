// Ops that go to NVIDIA's libraries where their values are on a card, against the same ops on the
// host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/matmul/linear.h"
#include "runtime/ops/normalization/batch_norm.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/tensor/context.h"
#include "tests/runtime/ops/cuda/library_support.h"
#include "tests/support/cuda_machine.h"
#include "tests/support/op_samples.h"

namespace ohm::test {
namespace {

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

TEST(OpsOfLibraries, LeaveTheHostABiasThatIsNotDense) {
  const CudaMachine machine(1, kOneDevice);
  const Tensor every_second = make_view(on_card({10, 0, 20, 0}, {2, 2}), {2}, {2}, 0);
  const auto convolved = [&](const Tensor& bias) {
    return to_doubles(ops::conv2d(on_card({1}, {1, 1, 1, 1}), on_card({1, 1}, {2, 1, 1, 1}), bias,
                                  {1}, {0}, {1}, 1));
  };
  EXPECT_EQ(convolved(every_second), (std::vector<double>{11, 21}));
  EXPECT_EQ(machine.stand_in().calls("cudnnConvolutionForward"), 0);
  EXPECT_EQ(convolved(on_card({10, 20}, {2})), (std::vector<double>{11, 21}));
  EXPECT_EQ(machine.stand_in().calls("cudnnConvolutionForward"), 1);
}

// cuBLASLt's kernels read it in pieces of 16 bytes, and cannot be told where it lies.
TEST(OpsOfLibraries, MultiplyWithABiasThatIsNotAligned) {
  const CudaMachine machine(1, kOneDevice);
  const Tensor biases = on_card({0, 10, 20}, {3});
  const auto product = [](const Tensor& bias) {
    return to_doubles(ops::linear(square(), square(), bias));
  };
  EXPECT_EQ(product(make_view(biases, {2}, {1}, 1)), (std::vector<double>{15, 31, 21, 45}));
  EXPECT_EQ(machine.stand_in().calls("cublasLtMatmul"), 0);
  EXPECT_EQ(product(make_view(biases, {2}, {1}, 0)), (std::vector<double>{5, 21, 11, 35}));
  EXPECT_EQ(machine.stand_in().calls("cublasLtMatmul"), 1);
}

TEST(OpsOfLibraries, LeaveTheHostWhatIsEmpty) {
  const CudaMachine machine(1, kOneDevice);
  const Tensor images = make_view(on_card({1, 2}, {2, 1, 1, 1}), {0, 1, 1, 1}, {1, 1, 1, 1}, 0);
  const Tensor filter = on_card({3}, {1, 1, 1, 1});
  filter.set_requires_grad(true);
  const Tensor out = ops::conv2d(images, filter, {}, {1}, {0}, {1}, 1);
  backward({ops::sum(out)}, {}, GraphRetention::release);
  EXPECT_EQ(to_doubles(filter.grad()), std::vector<double>{0});
}

// cuDNN has no batch norm for bfloat16, nor for weights in halves: the op's samples do not say so.
TEST(OpsOfLibraries, NormalizeBatchesAsTheHostDoes) {
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

}  // namespace
}  // namespace ohm::test

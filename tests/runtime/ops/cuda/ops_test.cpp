// Ops on a real card: every op with samples, forwards and backwards, gives there what it gives on a
// virtual GPU; those with kernels of their own run them, and leave the values where they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/embedding/embedding.h"
#include "runtime/ops/normalization/layer_norm.h"
#include "runtime/ops/normalization/rms_norm.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/random/dropout.h"
#include "runtime/ops/reduction/norm.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/tensor/context.h"
#include "tests/support/cuda_machine.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

// ---- every op -----------------------------------------------------------------------------------

/// Results, then gradients.
using Found = std::vector<std::vector<double>>;

Found found_with(const ops::OpDef& op, const Sample& sample) {
  require_gradients(op, sample);
  Found found;
  std::vector<Tensor> roots;
  std::vector<Tensor> root_grads;
  for (const Tensor& result : tensors_in(call_op(op, sample))) {
    if (!result.defined()) continue;
    found.push_back(to_doubles(result));
    if (!result.requires_grad()) continue;
    roots.push_back(result);
    root_grads.push_back(rand(result.shape(), options_of(result)));
  }
  if (roots.empty()) return found;
  backward(roots, root_grads, GraphRetention::release);
  for (const std::size_t position : differentiable(op, sample)) {
    for (const Tensor& leaf : tensors_in(sample[position])) {
      if (leaf.grad().defined()) found.push_back(to_doubles(leaf.grad()));
    }
  }
  return found;
}

/// Of all samples, on the first GPU of the machine that is installed.
std::vector<Found> found_on_gpu(const ops::OpDef& op, DType dtype) {
  std::vector<Found> all;
  for (const Sample& sample : samples_of(op)) {
    Context::current().seed(11);
    all.push_back(found_with(op, converted(sample, dtype, Device::cuda(0))));
  }
  return all;
}

class CudaOp : public testing::TestWithParam<std::string> {};

TEST_P(CudaOp, ComputesWhatItDoesOnAVirtualGpu) {
  const ops::OpDef& op = *ops::find_op(GetParam());
  for (const DType dtype : {DType::float64, DType::float32}) {
    std::vector<Found> expected;
    {
      const TestMachine machine({.values = ValueMode::keeps_values});
      expected = found_on_gpu(op, dtype);
    }
    const CudaMachine machine;
    const std::vector<Found> found = found_on_gpu(op, dtype);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t sample = 0; sample < found.size(); ++sample) {
      ASSERT_EQ(found[sample].size(), expected[sample].size()) << sample;
      for (std::size_t tensor = 0; tensor < found[sample].size(); ++tensor) {
        const std::vector<double>& values = found[sample][tensor];
        ASSERT_EQ(values.size(), expected[sample][tensor].size());
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double is = values[i];
          const double should = expected[sample][tensor][i];
          const bool is_same = is == should || (std::isnan(is) && std::isnan(should));
          const double tolerance = dtype == DType::float64 ? 1e-7 : 1.3e-6;
          EXPECT_TRUE(is_same || std::abs(is - should) <= 1e-5 + tolerance * std::abs(should))
              << name_of(dtype) << ", sample " << sample << ", tensor " << tensor << ", element "
              << i << ": " << is << ", not " << should;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOps, CudaOp, testing::ValuesIn(ops_with_samples()),
                         [](const auto& instance) { return instance.param; });

// ---- where they run -----------------------------------------------------------------------------

class CudaLoops : public testing::Test {
 protected:
  /// On the card, and only there.
  static Tensor cuda_tensor(const std::vector<double>& values, const Shape& shape,
                            DType dtype = DType::float32) {
    return transfer(from_values(values, shape, {dtype, Device::cpu()}), Device::cuda(0));
  }
  int launches() const { return machine_.stand_in().calls("cuLaunchKernel"); }
  int downloads() const { return machine_.downloads(); }

  CudaMachine machine_;
};

TEST_F(CudaLoops, ValuesStayOnTheCardBetweenOps) {
  const Tensor a = cuda_tensor({1, -2, 3, -4}, {4});
  const int uploads = machine_.uploads();
  const Tensor result = ops::relu(ops::mul(ops::add(a, a), 0.5));
  EXPECT_EQ(launches(), 3);
  EXPECT_EQ(downloads(), 0);
  EXPECT_EQ(machine_.uploads(), uploads);
  EXPECT_EQ(result.storage().residency(), Residency::device);
  EXPECT_EQ(to_doubles(result), (std::vector<double>{1, 0, 3, 0}));
}

TEST_F(CudaLoops, WhatTheHostWroteGoesToTheCardFirst) {
  const Tensor a = from_values({1, 2, 3, 4}, {4}, {DType::float32, Device::cuda(0)});
  ASSERT_EQ(a.storage().residency(), Residency::host);
  EXPECT_EQ(to_doubles(ops::add(a, a)), (std::vector<double>{2, 4, 6, 8}));
}

TEST_F(CudaLoops, AnOpWithoutAKernelComesInBetween) {
  const Tensor a = ops::add(cuda_tensor({4, 1, 3, 2}, {2, 2}, DType::int64), 1);
  const auto product = std::get<Tensor>(call_op(*ops::find_op("mm"), {a, a}));
  EXPECT_EQ(downloads(), 1);
  EXPECT_EQ(to_doubles(ops::mul(product, product)), (std::vector<double>{1089, 256, 1024, 289}));
}

TEST_F(CudaLoops, ReadAnyLayout) {
  const Tensor a = cuda_tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor turned = make_view(a, {3, 2}, {1, 3}, 0);
  const Tensor row = make_view(a, {2}, {1}, 1);  // not aligned
  const Tensor column = cuda_tensor({10, 20, 30}, {3, 1});
  EXPECT_EQ(to_doubles(ops::add(turned, row)), (std::vector<double>{3, 7, 4, 8, 5, 9}));
  EXPECT_EQ(to_doubles(ops::add(turned, column)), (std::vector<double>{11, 14, 22, 25, 33, 36}));
  EXPECT_EQ(to_doubles(ops::mul(row, row)), (std::vector<double>{4, 9}));
  EXPECT_EQ(launches(), 3);
}

TEST_F(CudaLoops, WriteIntoAPartAndKeepTheRest) {
  const Tensor a = from_values({1, 2, 3, 4, 5, 6}, {2, 3}, {DType::float32, Device::cuda(0)});
  ops::mul_(make_view(a, {2}, {3}, 1), 10.0);
  EXPECT_EQ(launches(), 1);
  EXPECT_EQ(to_doubles(a), (std::vector<double>{1, 20, 3, 4, 50, 6}));
  EXPECT_EQ(to_doubles(ops::add_(a, a)), (std::vector<double>{2, 40, 6, 8, 100, 12}));
}

TEST_F(CudaLoops, ConvertAsTheHostDoes) {
  const std::vector<double> values = {-1.5, 0, 2.75, 300, 1e9, -7};
  constexpr auto kCount = static_cast<int>(kDTypes.size());
  for (int from = 0; from < kCount; ++from) {
    const Tensor on_cuda = cuda_tensor(values, {6}, static_cast<DType>(from));
    const Tensor on_host = transfer(on_cuda, Device::cpu());
    for (int to = 0; to < kCount; ++to) {
      const auto dtype = static_cast<DType>(to);
      EXPECT_EQ(to_doubles(cast(on_cuda, dtype)), to_doubles(cast(on_host, dtype)))
          << name_of(static_cast<DType>(from)) << " to " << name_of(dtype);
    }
  }
  EXPECT_EQ(launches(), kCount * (kCount - 1));
}

TEST_F(CudaLoops, MixDTypesAsTheHostDoes) {
  const Tensor half = cuda_tensor({0.1, 2.3, -4.7}, {3}, DType::float16);
  const Tensor integers = cuda_tensor({3, 5, 7}, {3}, DType::int64);
  const Tensor singles = cuda_tensor({0.1, 0.2, 0.3}, {3});
  for (const auto& [a, b] : {std::pair(half, integers), std::pair(half, singles),
                             std::pair(integers, integers), std::pair(singles, integers)}) {
    const Tensor host_a = transfer(a, Device::cpu());
    const Tensor host_b = transfer(b, Device::cpu());
    EXPECT_EQ(to_doubles(ops::add(a, b, 2.0)), to_doubles(ops::add(host_a, host_b, 2.0)));
    EXPECT_EQ(to_doubles(ops::gt(a, b)), to_doubles(ops::gt(host_a, host_b)));
  }
  EXPECT_EQ(launches(), 8);
}

TEST_F(CudaLoops, TakeANumberOfTheHost) {
  const Tensor a = cuda_tensor({1, 2, 3}, {3}, DType::float16);
  const Tensor number = from_values({0.1}, {}, {DType::float32, Device::cpu()});
  const Tensor product = ops::mul(a, number);
  EXPECT_EQ(launches(), 1);
  EXPECT_EQ(downloads(), 0);
  EXPECT_EQ(to_doubles(product), to_doubles(ops::mul(transfer(a, Device::cpu()), number)));
}

TEST_F(CudaLoops, DrawTheSameNumbers) {
  const auto drawn = [](Device device) {
    Context::current().seed(3);
    const Tensor like = ones({3, 7}, {DType::float32, device});
    const TensorOptions options = options_of(like);
    std::vector<std::vector<double>> all = {
        to_doubles(rand({3, 7}, options)), to_doubles(randn({3, 7}, options)),
        to_doubles(randint(-4, 9, {10}, {DType::int64, device})),
        to_doubles(ops::dropout(like, 0.3, true)),
        to_doubles(arange(2.5, 0.25, 9, {DType::float16, device}))};
    return all;
  };
  EXPECT_EQ(drawn(Device::cuda(0)), drawn(Device::cpu()));
  EXPECT_EQ(launches(), 6);
}

// Line by line: what each does on the host is the same op on a tensor of the host.
class RowLaunch : public CudaLoops {
 protected:
  /// Of floats that differ: enough of them for a thread each.
  static Tensor numbers(const Shape& shape) {
    Context::current().seed(5);
    return transfer(randn(shape, {DType::float32, Device::cpu()}), Device::cuda(0));
  }
  /// That `op` of these tensors is computed in one launch, or in pieces and one more, and without
  /// any copy.
  template <class Op>
  void expect_same(const Op& op, const std::vector<Tensor>& on_cuda) {
    const int launched = launches();
    const int copied = downloads();
    const Tensor result = op(on_cuda);
    EXPECT_GE(launches(), launched + 1);
    EXPECT_LE(launches(), launched + 2);
    EXPECT_EQ(downloads(), copied);
    std::vector<Tensor> on_host;
    for (const Tensor& tensor : on_cuda) on_host.push_back(transfer(tensor, Device::cpu()));
    const std::vector<double> expected = to_doubles(op(on_host));
    const std::vector<double> found = to_doubles(result);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << i;
    }
  }
};

TEST_F(RowLaunch, AddUpAnyDimensions) {
  const Tensor tensor = numbers({3, 4, 1500});
  const Tensor turned = make_view(tensor, {1500, 3, 4}, {1, 6000, 1500}, 0);
  for (const Tensor& input : {tensor, turned}) {
    for (const Shape& dims : {Shape{0}, Shape{1}, Shape{2}, Shape{0, 2}, Shape{0, 1, 2}}) {
      expect_same([&](const auto& in) { return ops::sum(in[0], dims, false, std::nullopt); },
                  {input});
    }
  }
  const Tensor integers = cast(ops::mul(tensor, 100.0), DType::int32);
  EXPECT_EQ(ops::sum(integers).item(), ops::sum(transfer(integers, Device::cpu())).item());
}

TEST_F(RowLaunch, SoftmaxGoesAlongAnyDimension) {
  const Tensor tensor = numbers({2, 5, 1100});
  for (const std::int64_t dim : {0, 1, 2}) {
    expect_same([dim](const auto& in) { return ops::softmax(in[0], dim, std::nullopt); }, {tensor});
    expect_same([dim](const auto& in) { return ops::log_softmax(in[0], dim, std::nullopt); },
                {tensor});
  }
}

TEST_F(RowLaunch, NormaliseLayers) {
  const Tensor weight = numbers({70});
  expect_same([](const auto& in) { return ops::layer_norm(in[0], Shape{70}, in[1], in[1], 1e-5); },
              {numbers({9, 70}), weight});
}

TEST_F(RowLaunch, NormaliseAboutZero) {
  expect_same([](const auto& in) { return ops::rms_norm(in[0], Shape{70}, in[1], 1e-5); },
              {numbers({9, 70}), numbers({70})});
  expect_same([](const auto& in) { return ops::rms_norm(in[0], Shape{70}, std::nullopt, 1e-5); },
              {numbers({9, 70})});
}

TEST_F(RowLaunch, MeasureNorms) {
  for (const double p : {1.0, 2.0}) {
    expect_same([p](const auto& in) { return ops::norm(in[0], p, Shape{1}, false); },
                {numbers({3, 4, 5})});
  }
}

TEST_F(RowLaunch, RankAndFindExtrema) {
  const Tensor numbers = cuda_tensor({3, 1, 3, -2, 5, 5, -7, 0}, {2, 4});
  const Tensor broken = cuda_tensor({3, std::nan(""), 1, -2, std::nan(""), 5}, {2, 3});
  for (const Tensor& input : {numbers, broken}) {
    const Tensor on_host = transfer(input, Device::cpu());
    for (const char* name : {"sort", "argsort", "max", "min", "argmax", "argmin"}) {
      const int launched = launches();
      const int copied = downloads();
      const ops::Value found = call_op(*ops::find_op(name), {input});
      EXPECT_EQ(downloads(), copied) << name;
      EXPECT_GT(launches(), launched) << name;
      const std::vector<Tensor> expected = tensors_in(call_op(*ops::find_op(name), {on_host}));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::vector<double> values = to_doubles(tensors_in(found)[i]);
        EXPECT_THAT(values,
                    testing::Pointwise(testing::NanSensitiveDoubleEq(), to_doubles(expected[i])))
            << name;
      }
    }
  }
}

// 64 columns are 64 threads.
TEST_F(RowLaunch, SumLayersColumnsInPiecesOfRows) {
  const auto gradients = [](Device device, std::int64_t rows) {
    Context::current().seed(5);
    const Tensor input = randn({rows, 64}, {DType::float32, Device::cpu()});
    std::vector<Tensor> leaves = {transfer(input, device), transfer(ones({64}, {}), device),
                                  transfer(zeros({64}, {}), device)};
    for (const Tensor& leaf : leaves) leaf.set_requires_grad(true);
    const Tensor out = ops::layer_norm(leaves[0], Shape{64}, leaves[1], leaves[2], 1e-5);
    backward({out}, {transfer(input, device)}, GraphRetention::release);
    std::vector<double> values = to_doubles(leaves[1].grad());
    const std::vector<double> bias = to_doubles(leaves[2].grad());
    values.insert(values.end(), bias.begin(), bias.end());
    return values;
  };
  const auto launches_for = [&](std::int64_t rows) {
    const int before = launches();
    gradients(Device::cuda(0), rows);
    return launches() - before;
  };
  EXPECT_EQ(launches_for(4096), launches_for(60) + 2) << "pieces, and a sum of each";
  const std::vector<double> found = gradients(Device::cuda(0), 4096);
  const std::vector<double> expected = gradients(Device::cpu(), 4096);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << i;
  }
}

TEST_F(RowLaunch, RefuseAnIndexThatIsNone) {
  const Tensor table = numbers({4, 3});
  const Tensor indices = cuda_tensor({1, 4}, {2}, DType::int64);
  const Tensor rows = ops::embedding(indices, table, std::nullopt);
  EXPECT_THROW(to_doubles(rows), std::invalid_argument);
}

TEST_F(CudaLoops, DoNothingForNothing) {
  const Tensor none = empty({0, 3}, {DType::float32, Device::cuda(0)});
  EXPECT_EQ(ops::add(none, none).numel(), 0);
  EXPECT_EQ(launches(), 0);
}

TEST(ElementwiseLaunch, IsAnErrorWhereItCannotBeLaunched) {
  const CudaMachine machine(1, "fail=cuLaunchKernel:0:701");
  const Tensor a = zeros({2}, {DType::float32, Device::cuda(0)});
  EXPECT_THROW(ops::add(a, a), cuda::DriverError);
}

TEST(ElementwiseLaunch, RunsOnTheHostInABuildWithoutKernels) {
  CudaMachine machine;
  CudaBackend without;
  without.device = machine.context().gpus[0].backend->device;
  machine.context().gpus[0].backend = &without;
  const Tensor a = full({2}, 3.0, {DType::float32, Device::cuda(0)});
  EXPECT_EQ(to_doubles(ops::add(a, a)), (std::vector<double>{6, 6}));
  EXPECT_EQ(machine.stand_in().calls("cuLaunchKernel"), 0);
}

}  // namespace
}  // namespace ohm::test

// Fused attention on a real card: results and gradients are those of a virtual GPU, and the host is
// not needed for them.
#include "runtime/ops/attention/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/autograd/grad_mode.h"
#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"
#include "tests/support/cuda_comparison.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

struct Case {
  DType dtype = DType::float32;
  Shape query{2, 3, 5, 8};
  Shape key{2, 3, 7, 8};
  Shape value{2, 3, 7, 16};
  Shape mask{};  ///< none without dimensions
  bool is_causal = false;
  double dropout_p = 0.0;
};

Tensor random(const Shape& shape, DType dtype) {
  return transfer(cast(randn(shape, {DType::float64, Device::cpu()}), dtype), Device::cuda(0));
}

/// Query, key, value and maybe a mask of which the last query sees nothing.
std::vector<Tensor> inputs_of(const Case& one) {
  Context::current().seed(3);
  std::vector<Tensor> inputs{random(one.query, one.dtype), random(one.key, one.dtype),
                             random(one.value, one.dtype)};
  if (one.mask.dims() == 0) return inputs;
  inputs.push_back(random(one.mask, one.dtype));
  fill_values(ops::narrow(inputs.back(), -2, one.mask[one.mask.dims() - 2] - 1, 1),
              -std::numeric_limits<double>::infinity());
  return inputs;
}

TensorFunction attention_of(const Case& one) {
  return [one](const std::vector<Tensor>& in) {
    Context::current().state.attention_kernels.math = false;  // what is not fused is refused
    const std::optional<Tensor> mask = in.size() > 3 ? std::optional(in[3]) : std::nullopt;
    return std::vector<Tensor>{ops::scaled_dot_product_attention(
        in[0], in[1], in[2], mask, one.dropout_p, one.is_causal, 0.3)};
  };
}

std::vector<std::vector<double>> numbers_of(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<double>> numbers;
  for (const Tensor& tensor : tensors) numbers.push_back(to_doubles(tensor));
  return numbers;
}

std::vector<std::vector<double>> on_virtual_gpu(const Case& one, const TensorFunction& op) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  return numbers_of(results_and_gradients(op, inputs_of(one)));
}

/// By the products of cuBLAS, or by kernels alone.
enum class Way : std::uint8_t { products, kernels };

cuda::LibraryPlaces libraries_for(Way way) {
  cuda::LibraryPlaces places = stand_in::StandIn::libraries();
  if (way == Way::kernels) places.cublas = {"libthere-is-none.so.1"};
  return places;
}

int products(const CudaMachine& machine) {
  return machine.stand_in().calls("cublasGemmEx") +
         machine.stand_in().calls("cublasGemmStridedBatchedEx");
}

std::vector<std::vector<double>> on_cuda(const Case& one, const TensorFunction& op, Way way) {
  const CudaMachine machine(1, "devices=1 capacity=536870912", ValueMode::keeps_values,
                            libraries_for(way));
  const std::vector<Tensor> inputs = inputs_of(one);
  const int downloaded = machine.downloads();
  const std::vector<Tensor> found = results_and_gradients(op, inputs);
  EXPECT_EQ(machine.downloads(), downloaded) << "the host was needed";
  EXPECT_EQ(products(machine) > 0, way == Way::products);
  return numbers_of(found);
}

/// As assert_close has it.
double tolerance_of(DType dtype) {
  if (dtype == DType::float16) return 1e-3;
  return dtype == DType::bfloat16 ? 1.6e-2 : 1e-5;
}

void expect_close(const std::vector<std::vector<double>>& found,
                  const std::vector<std::vector<double>>& expected, const Case& one) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("tensor " + std::to_string(i));
    double largest = 0;
    for (const double number : expected[i]) largest = std::max(largest, std::abs(number));
    // What is left of large numbers has their errors.
    std::vector<testing::Matcher<double>> close;
    for (const double number : expected[i]) {
      close.push_back(testing::DoubleNear(
          number, tolerance_of(one.dtype) * (1 + std::abs(number)) + 1e-6 * largest));
    }
    EXPECT_THAT(found[i], testing::ElementsAreArray(close));
  }
}

void expect_same_as_virtual(const Case& one, const TensorFunction& op) {
  const std::vector<std::vector<double>> expected = on_virtual_gpu(one, op);
  for (const Way way : {Way::products, Way::kernels}) {
    SCOPED_TRACE(way == Way::products ? "by products" : "by kernels");
    expect_close(on_cuda(one, op, way), expected, one);
  }
}

class CudaAttention : public testing::TestWithParam<DType> {
 protected:
  static void expect_same(Case one) {
    one.dtype = GetParam();
    expect_same_as_virtual(one, attention_of(one));
  }
};

TEST_P(CudaAttention, OfAllKeys) { expect_same({}); }

TEST_P(CudaAttention, OfKeysBefore) {
  expect_same({.key = {2, 3, 5, 8}, .value = {2, 3, 5, 8}, .is_causal = true});
}

TEST_P(CudaAttention, OfMoreKeysThanQueriesBefore) { expect_same({.is_causal = true}); }

TEST_P(CudaAttention, WithAMaskOfItsOwn) { expect_same({.mask = {2, 3, 5, 7}}); }

TEST_P(CudaAttention, WithAMaskForAllHeads) { expect_same({.mask = {5, 7}}); }

TEST_P(CudaAttention, WithDropout) {
  expect_same({.value = {2, 3, 7, 8}, .dropout_p = 0.4});
  expect_same({.mask = {5, 7}, .dropout_p = 0.4});
}

TEST_P(CudaAttention, OfRowsThatAreApart) {
  Case one{.query = {2, 5, 3, 8}, .key = {2, 7, 3, 8}, .value = {2, 7, 3, 8}};
  one.dtype = GetParam();
  expect_same_as_virtual(one, [&](const std::vector<Tensor>& in) {
    std::vector<Tensor> swapped;
    for (const Tensor& tensor : in) swapped.push_back(ops::transpose(tensor, 1, 2));
    return attention_of(one)(swapped);
  });
}

TEST_P(CudaAttention, KeepsNoSumsWhereNoGradientIsWanted) {
  Case one;
  one.dtype = GetParam();
  expect_same_as_virtual(one, [&](const std::vector<Tensor>& in) {
    const NoGradGuard guard;
    return attention_of(one)(in);
  });
}

/// Calls of cuBLAS for a result and its gradients, which are compared. There is no memory for the
/// largest tiles of both: these requests fail.
int products_of(const Case& one, const std::array<int, 4>& failing = {1, 2, 4, 5}) {
  std::string driver = "devices=1 capacity=536870912";
  for (const int call : failing) driver += " fail=cuMemAlloc_v2:" + std::to_string(call) + ":2";
  const TensorFunction op = attention_of(one);
  const std::vector<std::vector<double>> expected = on_virtual_gpu(one, op);
  const CudaMachine machine(1, driver);
  const auto found = numbers_of(results_and_gradients(op, inputs_of(one)));
  EXPECT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    EXPECT_EQ(found[i].size(), expected[i].size());
    // What is left of large numbers has their errors.
    double largest = 0;
    double error = 0;
    for (std::size_t e = 0; e < std::min(found[i].size(), expected[i].size()); ++e) {
      largest = std::max(largest, std::abs(expected[i][e]));
      error = std::max(error, std::abs(found[i][e] - expected[i][e]));
    }
    EXPECT_LE(error, 1e-5 * largest) << "tensor " << i;
  }
  return products(machine);
}

// Two products of each tile forwards, and five backwards.
TEST(CudaAttentionTiles, AreOfSomeQueriesWhereAHeadIsLong) {
  EXPECT_EQ(
      products_of({.query = {1, 1, 3000, 8}, .key = {1, 1, 3000, 8}, .value = {1, 1, 3000, 8}}),
      2 * (2 + 5));
}

TEST(CudaAttentionTiles, OfQueriesHaveNoKeysBehindThem) {
  for (const std::int64_t keys : {2000, 4000}) {
    SCOPED_TRACE(keys);
    EXPECT_EQ(products_of({.query = {1, 1, 3000, 8},
                           .key = {1, 1, keys, 8},
                           .value = {1, 1, keys, 8},
                           .is_causal = true}),
              (keys == 2000 ? 3 : 2) * (2 + 5));
  }
}

TEST(CudaAttentionTiles, AreOfAllHeadsWithSomeOfTheirQueries) {
  const Case one{.query = {5, 2, 900, 4}, .key = {5, 2, 1100, 4}, .value = {5, 2, 1100, 4}};
  EXPECT_EQ(products_of(one, {1, 2, 5, 6}), 2 * (2 + 5));
}

TEST(CudaAttentionTiles, AreOfSomeHeadsOrSomeBatches) {
  const Case heads{.query = {1, 3, 256, 8}, .key = {1, 3, 16384, 8}, .value = {1, 3, 16384, 8}};
  EXPECT_EQ(products_of(heads, {2, 3, 5, 6}), 2 * (2 + 5));
  const Case batches{.query = {3, 2, 256, 8}, .key = {3, 2, 8192, 8}, .value = {3, 2, 8192, 8}};
  EXPECT_EQ(products_of(batches, {2, 3, 5, 6}), 2 * (2 + 5));
}

TEST(CudaAttentionTiles, WithoutMemoryForThemKernelsDoIt) {
  const Case one;
  const CudaMachine machine(1,
                            "devices=1 capacity=268435456 fail=cuMemAlloc_v2:1:2 "
                            "fail=cuMemAlloc_v2:2:2 fail=cuMemAlloc_v2:3:2 fail=cuMemAlloc_v2:4:2");
  const int before = machine.downloads();
  const std::vector<Tensor> found = results_and_gradients(attention_of(one), inputs_of(one));
  EXPECT_EQ(machine.downloads(), before);
  EXPECT_EQ(products(machine), 0);
}

INSTANTIATE_TEST_SUITE_P(DTypes, CudaAttention,
                         testing::Values(DType::float32, DType::float16, DType::bfloat16),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

}  // namespace
}  // namespace ohm::test

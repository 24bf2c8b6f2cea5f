// An op computes the same of operands that lie in memory in another order.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/op_list.h"
#include "tests/support/op_samples.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

// The same values, the first dimension innermost.
Tensor column_major(const Tensor& tensor) {
  Shape strides(tensor.dims(), 1);
  for (int dim = 1; dim < tensor.dims(); ++dim) {
    strides[dim] = strides[dim - 1] * std::max<std::int64_t>(1, tensor.shape()[dim - 1]);
  }
  Tensor copy = empty_strided(tensor.shape(), strides, options_of(tensor));
  copy_into(copy, tensor);
  return copy;
}

// The same values, the channels of images innermost.
Tensor channels_last(const Tensor& tensor) {
  if (tensor.dims() == 5) return laid_out(tensor, MemoryFormat::channels_last_3d);
  return tensor.dims() == 4 ? laid_out(tensor, MemoryFormat::channels_last) : tensor;
}

using LayOut = Tensor (*)(const Tensor&);

Sample laid_out_anew(const Sample& sample, LayOut lay_out) {
  Sample other = sample;
  for (ops::Value& value : other) {
    if (const auto* tensor = std::get_if<Tensor>(&value)) value = lay_out(*tensor);
    if (const auto* list = std::get_if<std::vector<Tensor>>(&value)) {
      std::vector<Tensor> tensors;
      for (const Tensor& tensor : *list) tensors.push_back(lay_out(tensor));
      value = tensors;
    }
  }
  return other;
}

void append(std::vector<double>& numbers, const Tensor& tensor) {
  const std::vector<double> own = to_doubles(tensor);
  numbers.insert(numbers.end(), own.begin(), own.end());
}

// Results, and gradients of everything that has one.
std::vector<double> numbers_of(const ops::OpDef& op, const Sample& inputs) {
  require_gradients(op, inputs);
  std::vector<double> numbers;
  std::vector<Tensor> roots;
  std::vector<Tensor> grads;
  for (const Tensor& result : tensors_in(call_op(op, inputs))) {
    append(numbers, result);
    if (!result.requires_grad()) continue;
    roots.push_back(result);
    grads.push_back(ones_like(result));
  }
  backward(roots, grads, GraphRetention::release);
  for (const ops::Value& value : inputs) {
    for (const Tensor& tensor : tensors_in(value)) {
      if (tensor.requires_grad() && tensor.grad().defined()) append(numbers, tensor.grad());
    }
  }
  return numbers;
}

bool are_close(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](double x, double y) {
    return x == y || std::abs(x - y) <= tolerance * (1.0 + std::abs(x));
  });
}

void expect_the_same_of(LayOut lay_out, DType dtype, double tolerance) {
  TestMachine machine({.values = ValueMode::keeps_values});
  for (const ops::OpDef& op : ops::all_ops()) {
    // Strides are those of memory, whatever the order of the elements.
    if (!has_samples(op) || op.info.name == "as_strided") continue;
    std::size_t number = 0;
    for (const Sample& given : samples_of(op)) {
      SCOPED_TRACE(fmt::format("{}, sample {}", op.info.name, number++));
      const auto sample = [&] { return converted(given, dtype, Device::cuda(0)); };
      const std::vector<double> expected = numbers_of(op, sample());
      // What draws numbers gives others every time.
      if (!are_close(expected, numbers_of(op, sample()), tolerance)) continue;
      try {
        const Sample other = laid_out_anew(sample(), lay_out);
        EXPECT_TRUE(are_close(expected, numbers_of(op, other), tolerance));
      } catch (const std::invalid_argument& error) {
        // A view refuses what cannot be seen with its shape.
        EXPECT_THAT(error.what(), testing::StartsWith("[view] view size"));
      }
    }
  }
}

TEST(EveryOp, ComputesTheSameOfOperandsInAnotherOrder) {
  expect_the_same_of(&column_major, DType::float64, 1e-9);
}

// cuDNN, as PyTorch calls it, keeps channels last in every dtype but float64.
TEST(EveryOp, ComputesTheSameOfImagesWhoseChannelsLieLast) {
  expect_the_same_of(&channels_last, DType::float32, 1e-4);
}

}  // namespace
}  // namespace ohm::test

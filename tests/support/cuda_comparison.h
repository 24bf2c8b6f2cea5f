// A comparison of an op on a device of the stand-in driver, without any help of the host, with the
// same op on the host.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "tests/support/cuda_machine.h"

namespace ohm::test {

using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// The elements of results, then of the gradients of floating inputs.
inline std::vector<Tensor> results_and_gradients(const TensorFunction& op,
                                                 const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (const Tensor& input : inputs) {
    leaves.push_back(make_view(input, input.shape(), input.strides(), input.impl()->offset));
    if (is_floating(input.dtype())) leaves.back().set_requires_grad(true);
  }
  std::vector<Tensor> all = op(leaves);
  std::vector<Tensor> roots;
  std::vector<Tensor> root_grads;
  for (const Tensor& result : all) {
    if (!result.requires_grad()) continue;
    roots.push_back(result);
    root_grads.push_back(arange(1.0, 0.25, result.numel(), options_of(result)));
    root_grads.back() =
        make_view(root_grads.back(), result.shape(), contiguous_strides(result.shape()), 0);
  }
  if (roots.empty()) return all;
  backward(roots, root_grads, GraphRetention::release);
  for (const Tensor& leaf : leaves) {
    if (leaf.grad().defined()) all.push_back(leaf.grad());
  }
  return all;
}

/// `inputs` are the host's. That nothing was read back from the card, and that it is all the same
/// up to `tolerance` (relative, and absolute below 1).
inline void expect_same_on_cuda(const CudaMachine& machine, const TensorFunction& op,
                                const std::vector<Tensor>& inputs, double tolerance = 0) {
  std::vector<Tensor> on_cuda;
  for (const Tensor& input : inputs) on_cuda.push_back(transfer(input, Device::cuda(0)));
  const int launched = machine.stand_in().calls("cuLaunchKernel");
  const int downloaded = machine.downloads();
  const std::vector<Tensor> found = results_and_gradients(op, on_cuda);
  EXPECT_EQ(machine.downloads(), downloaded) << "the host was needed";
  EXPECT_GT(machine.stand_in().calls("cuLaunchKernel"), launched);
  const std::vector<Tensor> expected = results_and_gradients(op, inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<double> is = to_doubles(found[i]);
    const std::vector<double> should = to_doubles(expected[i]);
    ASSERT_EQ(is.size(), should.size()) << "of tensor " << i;
    for (std::size_t e = 0; e < is.size(); ++e) {
      const bool is_same = is[e] == should[e] || (std::isnan(is[e]) && std::isnan(should[e]));
      ASSERT_TRUE(is_same || std::abs(is[e] - should[e]) <= tolerance * (1 + std::abs(should[e])))
          << "element " << e << " of tensor " << i << ": " << is[e] << ", not " << should[e];
    }
  }
}

}  // namespace ohm::test

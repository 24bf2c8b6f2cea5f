// Functions with a backward of their own: what a script writes as autograd.Function.
//
//   forward, without a graph ─► outputs ─► one node, which calls backward with their gradients
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/autograd/node.h"
#include "runtime/autograd/recorder.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// What a forward pass says of its results.
struct CustomForward {
  std::vector<Tensor> outputs;
  std::vector<Tensor> saved;               ///< for backward
  std::vector<Tensor> written;             ///< inputs that it wrote over
  std::vector<Tensor> not_differentiable;  ///< outputs
  bool makes_zeros = true;                 ///< of the gradients that an output without one has
};

class CustomFunction {
 public:
  virtual ~CustomFunction() = default;

  /// Of its node; lives as long as the function.
  virtual std::string_view name() const = 0;
  /// Runs without a graph. `needs`: whether a graph is recorded and the input requires a gradient.
  virtual CustomForward forward(const std::vector<Tensor>& inputs,
                                const std::vector<bool>& needs) = 0;
  /// One gradient for each input, undefined for none. `grads`: one for each output.
  virtual TensorList backward(BackwardCall& call, const TensorList& grads) = 0;
};

/// Calls forward, and records it as one node where an input requires a gradient. What was only
/// passed on is another tensor on the same elements. Throws std::invalid_argument where it wrote
/// over a leaf that requires a gradient.
std::vector<Tensor> call_function(const std::shared_ptr<CustomFunction>& function,
                                  const std::vector<Tensor>& inputs);

/// `output`, which a function with a backward of its own returned, as a tensor that may be given a
/// history of its own: what the function only passed on is not its to change.
Tensor own_output(const Tensor& output, const std::vector<Tensor>& inputs);

}  // namespace ohm

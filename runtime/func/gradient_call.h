// torch.func.grad: the gradient of a function of tensors, one call of it.
//
//   GradientCall call;
//   const Tensor x = call.differentiable(given);
//   const Tensor output = …;                                   // the function of x
//   const std::vector<Tensor> grads = call.gradients(output);
//   return call.outside(grads[0]);
//
// Calls nest: the function may call this again. What is differentiated is recorded, as PyTorch
// does it (create_graph), so that an outer call, or the program's own backward, can go on.
#pragma once

#include <vector>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/tensor/tensor.h"
#include "runtime/tensor/transforms.h"

namespace ohm::func {

class GradientCall {
 public:
  /// Grad mode is on until the end.
  GradientCall();

  /// What the function gets instead of `input`: the same elements, with a gradient of its own.
  Tensor differentiable(const Tensor& input);

  /// The gradient of `output`, which has no dimensions, by each of the differentiable inputs, in
  /// their order; zeros for one that it does not depend on.
  /// Throws std::invalid_argument for an output with dimensions.
  std::vector<Tensor> gradients(const Tensor& output) const;

  /// The same of an output with the gradient `given`, as often as it is wanted: PyTorch's call is
  /// over by then, and what is differentiated is recorded for the outside alone.
  std::vector<Tensor> gradients_later(const Tensor& output, const Tensor& given) const;

  /// A result as the caller sees it: without the graph of this call, unless that leads to a tensor
  /// outside that wants a gradient.
  Tensor outside(const Tensor& result) const;

 private:
  std::vector<Tensor> gradients_of(const Tensor& output, std::vector<Tensor> given,
                                   GraphRetention retention, GradientGraph graph) const;
  bool leads_outside(const Tensor& result) const;

  bool is_recorded_outside_;
  GradModeGuard grad_mode_{true};
  TransformScope scope_{running_transforms().gradients};
  std::vector<Tensor> inputs_;
};

}  // namespace ohm::func

// Whole-tensor functions that gradients are written in: each call is one kernel and one new tensor,
// as each factor of PyTorch's formulas is. Under create_graph each call is the op of the same
// meaning, which records itself: a formula made of these alone can be differentiated again. Sums
// and products are in arithmetic.h.
#pragma once

#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/tensor/context.h"

namespace ohm::ops::formula {

/// Backward runs with grad mode on: what it computes gets a graph.
inline bool is_recorded() { return Context::current().state.grad_enabled; }

/// fn over all elements; `op` is the op that does the same.
template <class F>
Tensor mapped(const Tensor& tensor, Tensor (*op)(const Tensor&), F&& fn) {
  return is_recorded() || !is_floating(tensor.dtype()) ? op(tensor) : map_new(tensor, fn);
}

/// fn over both, broadcast and promoted.
template <class F>
Tensor combined(const Tensor& a, const Tensor& b, F&& fn) {
  constexpr OpInfo kFormula{"backward"};
  return binary_new_floating(kFormula, a, b, result_dtype(a, b), fn);
}
/// A bool tensor of the broadcast shape.
template <class F>
Tensor compared(const Tensor& a, const Tensor& b, F&& fn) {
  constexpr OpInfo kFormula{"backward"};
  Tensor out = empty_for(a, b, DType::boolean, kFormula);
  map_elements(out, result_dtype(a, b), fn, a, b);
  return out;
}

/// kernel(grad, kept), which is linear in the gradient and has no slope along what was kept: zeros
/// go there.
template <class Kernel>
Tensor linear_in_gradient(std::string_view node, const Tensor& grad, const Tensor& kept,
                          const Kernel& kernel) {
  if (!is_recorded()) return kernel(grad, kept);
  Recorder record(node, {&grad, &kept});
  record.save(kept);
  Tensor out = kernel(grad, kept);
  record.attach_differentiable(out, [node, kernel](BackwardCall& call) {
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(0)) {
      grads[0] = linear_in_gradient(node, call.grad(), call.saved(0), kernel);
    }
    if (call.needs(1)) grads[1] = zeros_like(call.grad());
    return grads;
  });
  return out;
}

/// fn over the gradient and what was kept, where PyTorch has this gradient but none of it: asking
/// for that throws std::invalid_argument.
template <class F>
Tensor underivable_gradient(const OpInfo& info, const Tensor& grad, const Tensor& kept, F&& fn) {
  Tensor out = map_new(grad, kept, fn);
  Recorder record("NotImplemented", {&grad, &kept});
  record.attach_differentiable(out, [name = info.name](BackwardCall&) -> TensorList {
    throw std::invalid_argument(
        fmt::format("[{}] the derivative of its gradient is not implemented, as in PyTorch", name));
  });
  return out;
}

/// first(grad, kept), and where that is recorded its own gradients: by the gradient it is the same
/// again, by what was kept it is bend(grad, first grad, kept).
template <class First, class Bend>
Tensor bending_gradient(std::string_view node, const Tensor& grad, const Tensor& kept, First first,
                        Bend bend) {
  Tensor out = first(grad, kept);
  if (Recorder record(node, {&grad, &kept}); record.is_needed()) {
    record.save(record.needs(1) ? grad : Tensor());
    record.save(kept);
    record.attach_differentiable(out, [node, first, bend](BackwardCall& call) {
      TensorList grads{Tensor(), Tensor()};
      const Tensor input = call.saved(1);
      if (call.needs(0)) grads[0] = bending_gradient(node, call.grad(), input, first, bend);
      if (call.needs(1)) grads[1] = bend(call.grad(), call.saved(0), input);
      return grads;
    });
  }
  return out;
}

}  // namespace ohm::ops::formula

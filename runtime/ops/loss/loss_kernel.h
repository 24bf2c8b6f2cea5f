// The common part of losses that compare element by element: checks, loops, gradients.
#pragma once

#include "runtime/kernels/functors/distance.h"
#include "runtime/ops/loss/loss_reduction.h"
#include "runtime/ops/pointwise/binary_kernel.h"

namespace ohm::ops {

/// A prediction and a target, cast by autocast, of shapes that broadcast to `shape`. Throws
/// std::invalid_argument where a loss of them makes no sense.
struct LossOperands {
  Tensor target;  ///< before the input: OpFront takes the last one first
  Tensor input;
  Shape shape;
  DType dtype;

  LossOperands(const OpFront& front, const OpInfo& info, const Tensor& x, const Tensor& t)
      : target(front.input(t)),
        input(front.input(x)),
        shape(broadcast_shapes(x.shape(), t.shape(), info.name.data())),
        dtype(promote_types(input.dtype(), target.dtype())) {
    require_same_device(x, t, info);
    require_floating(input, info);
  }

  Tensor empty_losses() const {
    return empty_for_loop(shape, {&input, &target}, {dtype, input.device()});
  }
};

/// out[i] = fn(a[i], b[i]), read as out's dtype.
template <class F>
void compute_into(const Tensor& out, const Tensor& a, const Tensor& b, F&& fn) {
  map_floating(out, out.dtype(), fn, a, b);
}

/// out[i] = grad · factor · slope(x, t). `grad` is one number or of the losses' shape.
template <class Distance>
void compute_gradient_into(const Tensor& out, const Tensor& grad, const Tensor& x, const Tensor& t,
                           double factor, const Distance& distance) {
  // A number that a CUDA device has is read there: the host would wait for it.
  if (grad.dims() == 0 && grad.cuda_backend() == nullptr) {
    const functors::DistanceBackward<Distance> slope{distance, grad.item() * factor};
    map_floating(out, x.dtype(), slope, x, t);
  } else {
    const functors::DistanceWeightedBackward<Distance> slope{distance, factor};
    map_floating(out, x.dtype(), slope, grad, x, t);
  }
}

/// The same in a new row-major tensor of x's dtype.
template <class Distance>
Tensor distance_gradient(const Tensor& grad, const Tensor& x, const Tensor& t, double factor,
                         const Distance& distance) {
  Tensor out = empty(broadcast_shapes(x.shape(), t.shape(), "backward"), options_of(x));
  compute_gradient_into(out, grad, x, t, factor, distance);
  return out;
}

}  // namespace ohm::ops

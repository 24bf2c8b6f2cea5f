#include "runtime/autograd/real_part.h"

#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/autograd/recorder.h"
#include "runtime/tensor/complex_parts.h"

namespace ohm {

Tensor recorded_real_part(const Tensor& grad) {
  Tensor out = part_of(grad, 0);
  if (Recorder record("RealBackward", {&grad}); record.is_needed()) {
    record.attach_differentiable(out, [dtype = grad.dtype()](BackwardCall& call) {
      return TensorList{recorded_cast(call.grad(), dtype)};
    });
  }
  return out;
}

}  // namespace ohm

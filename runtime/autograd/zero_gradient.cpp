#include "runtime/autograd/zero_gradient.h"

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorded_arithmetic.h"

namespace ohm {
namespace {

// What PyTorch makes of zeros without memory where an op does not know them.
void make_number(const Tensor& like) { const Tensor number = zeros({}, options_of(like)); }

}  // namespace

Tensor zero_gradient(const Tensor& like) {
  const Tensor nothing = empty({0}, options_of(like));
  return make_view(nothing, like.shape(), Shape(like.dims(), 0), 0);
}

bool is_zero_gradient(const Tensor& tensor) {
  return tensor.defined() && tensor.storage().bytes() == 0 && tensor.numel() > 0;
}

Tensor with_memory(const Tensor& grad) {
  return is_zero_gradient(grad) ? zeros(grad.shape(), options_of(grad)) : grad;
}

Tensor sum_with_zero_gradient(const Tensor& a, const Tensor& b, bool a_is_free) {
  make_number(a);
  if (is_zero_gradient(a) && is_zero_gradient(b)) {
    make_number(b);
    return a;
  }
  if (is_zero_gradient(b) && a_is_free) return a;
  const Tensor& other = is_zero_gradient(a) ? b : a;
  return recorded_copy_into(empty_like(other), other);
}

}  // namespace ohm

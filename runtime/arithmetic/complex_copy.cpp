#include "runtime/arithmetic/complex_copy.h"

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/tensor/complex_parts.h"

namespace ohm {

Tensor unconjugated(const Tensor& tensor) {
  if (!tensor.impl()->is_conjugated) return tensor;
  Tensor copy = empty_like(tensor);
  copy_complex(copy, tensor);
  return copy;
}

void copy_complex(const Tensor& target, const Tensor& source) {
  if (!is_complex(target.dtype())) {
    return map_elements(target, part_dtype(source.dtype()), functors::Copy(), part_of(source, 0));
  }
  if (!is_complex(source.dtype())) {
    map_elements(part_of(target, 0), source.dtype(), functors::Copy(), source);
    return fill_values(part_of(target, 1), 0.0);
  }
  map_elements(parts_of(target), part_dtype(source.dtype()), functors::Copy(), parts_of(source));
  if (target.impl()->is_conjugated == source.impl()->is_conjugated) return;
  const Tensor imaginary = part_of(target, 1);
  map_elements(imaginary, imaginary.dtype(), functors::Neg(), imaginary);
}

void accumulate_complex(const Tensor& target, const Tensor& source) {
  // The sum of conjugates is the conjugate of the sum.
  if (target.impl()->is_conjugated) {
    return accumulate_complex(conjugated_view(target), conjugated_view(source));
  }
  add_complex(target, target, source);
}

void add_complex(const Tensor& out, const Tensor& a, const Tensor& b) {
  const Tensor first = unconjugated(a);
  const Tensor second = unconjugated(b);
  map_elements(parts_of(out), part_dtype(out.dtype()), functors::Sum(), parts_of(first),
               parts_of(second));
}

}  // namespace ohm

// Convolutions of both directions without bias, which second gradients are made of. Each is defined
// beside its op: none of the ops includes the other.
#pragma once

#include <cstdint>

#include "runtime/base/shape.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// A convolution without its operands: one size for each dimension of an image or a volume. Lines
/// are images of one row.
struct ConvolutionShape {
  Shape stride;
  Shape padding;
  Shape dilation;
  std::int64_t groups = 1;
  bool is_of_lines = false;
};

/// input * weight, recorded where grad mode is on. Defined in conv.cpp.
Tensor convolved_again(const Tensor& input, const Tensor& weight, const ConvolutionShape& shape);
/// The transposed convolution, the same. Defined in conv_transpose.cpp.
Tensor transposed_again(const Tensor& input, const Tensor& weight, const ConvolutionShape& shape,
                        const Shape& output_padding);
/// A convolution within the gradients of a transposed one: it has the output padding still, which
/// it does not use, but which keeps cuDNN from doing it. Defined in conv_transpose.cpp.
Tensor convolved_for_transposed(const Tensor& input, const Tensor& weight,
                                const ConvolutionShape& shape, const Shape& output_padding);

}  // namespace ohm::ops

// Discrete Fourier transforms, as tensors: what PyTorch's three ops allocate around cuFFT, and what
// they compute. cuFFT itself takes no workspace here (docs/model-limits.md). No graph is recorded.
//
// `dims` are counted from 0 and distinct; the last one is that along which a real side is halved.
// Results are laid out as PyTorch's: the transformed dimensions innermost, in their order, the
// others around them in the order in which they lie in memory. They are computed on the host, in
// double.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

enum class FourierDirection : std::uint8_t { forward, inverse };

/// Which dimensions are transformed, and what results are multiplied by.
struct FourierSpec {
  Shape dims;
  double scale = 1.0;
};

/// Complex to complex, of one shape.
Tensor fourier_of_complex(const Tensor& input, const FourierSpec& spec, FourierDirection direction);
/// Forward, from real to complex: all of the last dimension, or its first half (size / 2 + 1).
Tensor fourier_of_real(const Tensor& input, const FourierSpec& spec, bool is_onesided);
/// Inverse, from the first half of the last dimension to `last_size` real numbers.
Tensor fourier_to_real(const Tensor& input, const FourierSpec& spec, std::int64_t last_size);

}  // namespace ohm::ops

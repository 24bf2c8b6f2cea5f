// Discrete Fourier transforms: PyTorch's torch.fft. See fourier_kernel.h for what they allocate.
//
// `n` and `s` are the sizes of the transformed dimensions before the transform (of real ones: of
// the real side): the input is cut, or padded with zeros at its end. `norm`: "backward", "ortho" or
// "forward", which direction is divided by the number of elements; nothing is "backward".
// Integers become float32, half precision is refused. Errors: std::invalid_argument.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

using FourierNorm = std::optional<std::string>;
using FourierDims = std::optional<Shape>;

Tensor fft(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
           const FourierNorm& norm);
Tensor ifft(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
            const FourierNorm& norm);
/// Of real numbers: the first half of the result, which says all.
Tensor rfft(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
            const FourierNorm& norm);
/// From such a half to real numbers; n is 2 (size − 1) where it is not given.
Tensor irfft(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
             const FourierNorm& norm);

/// Along several dimensions: `dim`, else the last ones that `s` has sizes for, else all.
Tensor fftn(const Tensor& input, const FourierDims& s, const FourierDims& dim,
            const FourierNorm& norm);
Tensor ifftn(const Tensor& input, const FourierDims& s, const FourierDims& dim,
             const FourierNorm& norm);
Tensor rfftn(const Tensor& input, const FourierDims& s, const FourierDims& dim,
             const FourierNorm& norm);
Tensor irfftn(const Tensor& input, const FourierDims& s, const FourierDims& dim,
              const FourierNorm& norm);

std::vector<OpDef> fourier_ops();

}  // namespace ohm::ops

// Rows that are normalised on a CUDA device, by kernels: of LayerNorm, and, without a mean, of
// RMSNorm.
#pragma once

#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/ops/host/layer_gradients.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// `input` is row-major. Of weight and bias, of a row's elements, either may be undefined.
struct NormalisedInputs {
  Tensor input;
  Tensor weight;
  Tensor bias;
};

/// Of each row the mean, undefined where rows are normalised about zero, and 1/deviation.
struct RowStatistics {
  Tensor mean;
  Tensor rstd;
};

// False, and nothing was done, where not all of it is on one device that has kernels.

/// `out` and the statistics are overwritten.
bool are_rows_normalised_on_cuda(const RowShape& rows, const NormalisedInputs& in, double eps,
                                 const RowStatistics& statistics, const Tensor& out);

/// The defined ones of `out` are overwritten. `grad` is row-major.
bool are_norm_gradients_done_on_cuda(const RowShape& rows, const Tensor& grad,
                                     const NormalisedInputs& in, const RowStatistics& statistics,
                                     const LayerGradients& out);

}  // namespace ohm::ops

// Gradients of products that are added to something, in the order of its gradient and those of the
// two factors, which save_factors() keeps. Defined in matmul.cpp.
#pragma once

#include "runtime/autograd/recorder.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// What is added: beta · bias + alpha · product.
struct ProductScales {
  double beta = 1.0;
  double alpha = 1.0;
};

/// How a factor lies decides how its gradient is made; it outlives the factor.
struct MatrixLayout {
  bool is_column_major;
  explicit MatrixLayout(const Tensor& matrix);
};

/// Of bias + [m, k] · [k, n].
TensorList addmm_gradients(const BackwardCall& call, MatrixLayout left, MatrixLayout right,
                           const ProductScales& scales);
/// Of bias + [batch, m, k] · [batch, k, n], where the bias broadcasts.
TensorList baddbmm_gradients(const BackwardCall& call, const Shape& bias_shape,
                             const ProductScales& scales);
/// Of bias + the sum of [m, k] · [k, n] over a batch; `left` and `right` are the factors' shapes.
TensorList addbmm_gradients(const BackwardCall& call, const Shape& left, const Shape& right,
                            const ProductScales& scales);

}  // namespace ohm::ops

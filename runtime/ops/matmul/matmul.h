// Matrix products with their gradients.
//
// Operands have one dtype and one device. Gradients of a product a·b: grad·bᵀ and aᵀ·grad, made
// transposed where an operand is a transposed view, so that a weight's gradient comes out laid out
// as the weight and is taken over without a copy.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// [m, k] · [k, n].
Tensor mm(const Tensor& input, const Tensor& other);
/// [batch, m, k] · [batch, k, n].
Tensor bmm(const Tensor& input, const Tensor& other);
/// bias + [m, k] · [k, n].
Tensor addmm(const Tensor& bias, const Tensor& input, const Tensor& other);
/// beta · bias + alpha · ([batch, m, k] · [batch, k, n]); the bias broadcasts.
Tensor baddbmm(const Tensor& bias, const Tensor& input, const Tensor& other, double beta,
               double alpha);
/// PyTorch's rules for any number of dimensions: vectors, matrices, broadcast batches.
Tensor matmul(const Tensor& input, const Tensor& other);

std::vector<OpDef> matmul_ops();

}  // namespace ohm::ops

#include "runtime/ops/matmul/matrix_product.h"

#include <optional>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/matmul/cublas_workspace.h"
#include "runtime/ops/matmul/cuda/matrix_product.h"
#include "runtime/ops/matmul/host/gemm.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

enum class FirstOperand : bool { left, right };

// The tensor itself when the library can read its last two dimensions, row- or column-wise; else
// a row-major temporary on the device, as the GPU library needs it.
Tensor prepared(const Tensor& matrix) {
  if (library_layout(matrix)) return matrix;
  Tensor copy = empty(matrix.shape(), options_of(matrix));
  copy_into(copy, matrix);
  return copy;
}

void compute_product(const Tensor& a, const Tensor& b, const Tensor& out, bool adds_to_out,
                     const Storage* workspace) {
  if (!out.has_values() || out.numel() == 0) return;
  if (a.shape().back() == 0) {
    if (!adds_to_out) fill_values(out, 0.0);
    return;
  }
  if (multiply_on_cuda(a, b, out, adds_to_out, workspace) == CudaResult::done) return;
  host_matrix_product(a, b, out, adds_to_out);
}

bool is_nothing_multiplied(const Tensor& a, const Tensor& out) {
  return out.numel() == 0 || a.shape().back() == 0;
}

Tensor product(const Tensor& a, const Tensor& b, const Tensor& out, FirstOperand first) {
  if (is_nothing_multiplied(a, out)) {
    compute_product(a, b, out, false, nullptr);
    return out;
  }
  const Tensor earlier = prepared(first == FirstOperand::left ? a : b);
  const Tensor later = prepared(first == FirstOperand::left ? b : a);
  const Tensor& left = first == FirstOperand::left ? earlier : later;
  const Tensor& right = first == FirstOperand::left ? later : earlier;
  compute_product(left, right, out, false, cublas_workspace(out.device()).get());
  return out;
}

// One number for each column.
bool is_row(const Tensor& bias, std::int64_t columns) {
  const bool is_line = bias.dims() == 1 || (Context::current().rules.addmm_fuses_rows &&
                                            bias.dims() == 2 && bias.shape()[0] == 1);
  return is_line && bias.is_contiguous() && bias.shape().back() == columns;
}

// One number for each element of several rows, which lie as the library writes them.
bool is_half_matrix(const Tensor& bias, std::int64_t rows, std::int64_t columns) {
  const bool is_half = bias.dtype() == DType::float16 || bias.dtype() == DType::bfloat16;
  return Context::current().rules.addmm_fuses_half_matrices && is_half && rows > 1 &&
         bias.shape() == Shape{rows, columns} && bias.strides()[1] == 1 &&
         bias.strides()[0] >= columns;
}

bool goes_through_cublaslt(const Tensor& bias, const Tensor& a, const Tensor& b, double beta) {
  const std::int64_t columns = b.shape()[1];
  if (b.shape()[0] <= 1 || columns <= 1) return false;
  return (beta == 1.0 && is_row(bias, columns)) ||
         (beta != 0.0 && is_half_matrix(bias, a.shape()[0], columns));
}

// out = beta · out + alpha · (a · b) on the host, in double, for every layout of `out`.
void add_weighted_product(const Tensor& a, const Tensor& b, const Tensor& out, double beta,
                          double alpha) {
  if (!out.has_values() || lacks_values(a) || lacks_values(b)) return;
  std::vector<double> left = to_doubles(a);
  const std::vector<double> right = to_doubles(b);
  std::vector<double> sums = to_doubles(out);
  for (double& element : left) element *= alpha;
  for (double& sum : sums) sum = beta == 0.0 ? 0.0 : beta * sum;
  const std::int64_t m = a.size(-2);
  const std::int64_t k = a.size(-1);
  const std::int64_t n = b.size(-1);
  const std::int64_t batches = out.dims() == 3 ? out.size(0) : 1;
  for (std::int64_t batch = 0; batch < batches && k > 0; ++batch) {
    host_gemm(m, n, k, {left.data() + batch * m * k, k, false},
              {right.data() + batch * k * n, n, false}, 1.0, sums.data() + batch * m * n, n);
  }
  store_values(out, sums);
}

}  // namespace

// A row-major result is computed as its transpose: the right operand comes first.
Tensor raw_mm(const Tensor& a, const Tensor& b) {
  return product(a, b, empty({a.shape()[0], b.shape()[1]}, options_of(a)), FirstOperand::right);
}

Tensor raw_bmm(const Tensor& a, const Tensor& b) {
  Tensor out = empty({a.shape()[0], a.shape()[1], b.shape()[2]}, options_of(a));
  const bool is_thin = a.shape()[2] == 1 && a.device().is_cuda() &&
                       Context::current().rules.thin_batches_are_elementwise;
  if (is_thin) {
    map_elements(out, out.dtype(), functors::Product(), a, b);
  } else {
    multiply_batches(a, b, out);
  }
  return out;
}

void multiply_batches(const Tensor& a, const Tensor& b, const Tensor& out) {
  // Single columns lie as the library has them, and are not transposed.
  const bool is_column = b.shape()[2] == 1;
  product(a, b, out, is_column ? FirstOperand::left : FirstOperand::right);
}

Tensor raw_addmm(const Tensor& bias, const Tensor& a, const Tensor& b) {
  const Tensor out = empty({a.shape()[0], b.shape()[1]}, options_of(a));
  const Tensor right = prepared(b);
  const Tensor left = prepared(a);
  const bool is_fused = goes_through_cublaslt(bias, a, b, 1.0);
  const FusedWorkspaces workspaces = is_fused ? fused_workspaces(out.device())
                                              : FusedWorkspaces{{}, cublas_workspace(out.device())};
  const bool is_line = is_fused && is_row(bias, b.shape()[1]);
  if (is_line && multiply_with_bias_on_cuda(bias, left, right, out, workspaces.cublaslt.get()) ==
                     CudaResult::done) {
    return out;
  }
  copy_into(out, bias);
  compute_product(left, right, out, true, workspaces.cublas.get());
  return out;
}

Tensor raw_weighted_addmm(const Tensor& bias, const Tensor& a, const Tensor& b, double beta,
                          double alpha) {
  if (beta == 1.0 && alpha == 1.0) return raw_addmm(bias, a, b);
  const Tensor out = empty({a.shape()[0], b.shape()[1]}, options_of(a));
  const Tensor right = prepared(b);
  const Tensor left = prepared(a);
  const bool is_fused = goes_through_cublaslt(bias, a, b, beta);
  const FusedWorkspaces workspaces = is_fused ? fused_workspaces(out.device())
                                              : FusedWorkspaces{{}, cublas_workspace(out.device())};
  compute_product(left, right, out, false, workspaces.cublas.get());
  // What a bias of no weight holds does not count, NaN included.
  const Tensor& added = beta == 0.0 ? out : bias;
  map_floating(out, out.dtype(), functors::WeightedSum{alpha, beta}, out, added);
  return out;
}

void multiply_onto(const Tensor& out, const Tensor& a, const Tensor& b, double beta, double alpha) {
  if (is_nothing_multiplied(a, out)) return add_weighted_product(a, b, out, beta, alpha);
  const Tensor target = prepared(out);
  const Tensor right = prepared(b);
  const Tensor left = prepared(a);
  const auto workspace = cublas_workspace(out.device());
  if (beta == 1.0 && alpha == 1.0 && target.is_contiguous()) {
    compute_product(left, right, target, true, workspace.get());
  } else {
    add_weighted_product(left, right, target, beta, alpha);
  }
  if (!target.is_same(out)) copy_into(out, target);
}

}  // namespace ohm::ops

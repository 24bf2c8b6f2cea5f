#include "runtime/ops/matmul/cuda/matrix_product.h"

#include <optional>

#include "runtime/ops/cuda/library_call.h"
#include "runtime/ops/matmul/host/gemm.h"

namespace ohm::ops {
namespace {

cuda::DeviceRange range_of(const Storage* workspace) {
  if (workspace == nullptr) return {};
  return {workspace->address(), workspace->bytes()};
}

cuda::ProductOperand operand(const Tensor& matrix, const MatrixLayout2d& layout) {
  const std::int64_t batch_stride = matrix.dims() == 3 ? matrix.strides()[0] : 0;
  return {read_on_cuda(matrix), layout.leading_dimension, layout.is_transposed, batch_stride};
}

/// nullopt where a library cannot be asked for it.
std::optional<cuda::Product> product_of(const Tensor& a, const Tensor& b, const Tensor& out) {
  const std::optional<MatrixLayout2d> of_a = library_layout(a);
  const std::optional<MatrixLayout2d> of_b = library_layout(b);
  if (!of_a || !of_b || !out.is_contiguous()) return std::nullopt;
  cuda::Product product;
  product.type = element_type(out.dtype());
  product.m = out.size(-2);
  product.n = out.size(-1);
  product.k = a.size(-1);
  product.batches = out.dims() == 3 ? out.size(0) : 1;
  product.a.leading_dimension = of_a->leading_dimension;
  product.b.leading_dimension = of_b->leading_dimension;
  if (!cuda::fits_libraries(product)) return std::nullopt;
  product.a = operand(a, *of_a);
  product.b = operand(b, *of_b);
  return product;
}

}  // namespace

CudaResult multiply_on_cuda(const Tensor& a, const Tensor& b, const Tensor& out, bool adds_to_out,
                            const Storage* workspace) {
  cuda::DeviceLibraries* const libraries = libraries_for({&a, &b, &out});
  if (libraries == nullptr) return CudaResult::no;
  return call_library(out.device(), [&] {
    const cuda::Cublas* const cublas = libraries->cublas();
    if (cublas == nullptr) return CudaResult::no;
    std::optional<cuda::Product> product = product_of(a, b, out);
    if (!product) return CudaResult::no;
    product->adds_to_out = adds_to_out;
    product->out = adds_to_out ? out.cuda_address(CudaAccess::write) : overwrite_on_cuda(out);
    cublas->multiply(*product, range_of(workspace));
    return CudaResult::done;
  });
}

CudaResult multiply_with_bias_on_cuda(const Tensor& bias, const Tensor& a, const Tensor& b,
                                      const Tensor& out, const Storage* workspace) {
  cuda::DeviceLibraries* const libraries = libraries_for({&bias, &a, &b, &out});
  if (libraries == nullptr) return CudaResult::no;
  return call_library(out.device(), [&] {
    const cuda::CublasLt* const cublaslt = libraries->cublaslt();
    if (cublaslt == nullptr) return CudaResult::no;
    std::optional<cuda::Product> product = product_of(a, b, out);
    if (!product) return CudaResult::no;
    product->out = overwrite_on_cuda(out);
    const bool is_done =
        cublaslt->multiply_with_bias(*product, read_on_cuda(bias), range_of(workspace));
    return is_done ? CudaResult::done : CudaResult::no;
  });
}

}  // namespace ohm::ops

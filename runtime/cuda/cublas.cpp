#include "runtime/cuda/cublas.h"

namespace ohm::cuda {
namespace {

int transposition(const ProductOperand& operand) {
  return operand.is_transposed ? kTransposed : kNotTransposed;
}

}  // namespace

CublasFunctions CublasApi::functions_of(const SharedLibrary& library) {
  CublasFunctions functions;
#define OHM_ROW(member, header_name, symbol, ...) library.find(symbol, functions.member);
  OHM_FOR_EACH_CUBLAS_FUNCTION(OHM_ROW)
#undef OHM_ROW
  library.find(kCublasStatusName, functions.status_name);
  return functions;
}

std::string Cublas::version() const {
  int version = 0;
  check(functions_.version(handle_, &version), "cublasGetVersion_v2");
  return cublas_version_text(static_cast<std::size_t>(version));
}

// Setting the stream makes the handle forget the workspace that it has: that may be another
// thread's memory by now.
void Cublas::use_workspace(const DeviceRange& workspace) const {
  if (workspace.address == workspace_.address && workspace.bytes == workspace_.bytes) return;
  check(functions_.set_stream(handle_, nullptr), "cublasSetStream_v2");
  workspace_ = {};
  if (workspace.bytes == 0) return;
  check(functions_.set_workspace(handle_, as_pointer(workspace.address), workspace.bytes),
        "cublasSetWorkspace_v2");
  workspace_ = workspace;
}

// The library's matrices are column-major: what is row-major here is its transpose there, and
// (a · b)ᵀ = bᵀ · aᵀ.
void Cublas::multiply(const Product& product, const DeviceRange& workspace) const {
  device_->current();
  use_workspace(workspace);
  const Factors factors(product.type);
  const int data = data_type(product.type);
  const int compute = compute_type(product.type);
  const void* const beta = product.adds_to_out ? factors.one() : factors.zero();
  const auto size = [](std::int64_t value) { return static_cast<int>(value); };
  const ProductOperand& a = product.a;
  const ProductOperand& b = product.b;
  if (product.batches == 1) {
    check(functions_.gemm(handle_, transposition(b), transposition(a), size(product.n),
                          size(product.m), size(product.k), factors.one(), as_pointer(b.address),
                          data, size(b.leading_dimension), as_pointer(a.address), data,
                          size(a.leading_dimension), beta, as_pointer(product.out), data,
                          size(product.n), compute, kDefaultGemm),
          "cublasGemmEx");
    return;
  }
  const std::int64_t stride =
      product.out_batch_stride == 0 ? product.m * product.n : product.out_batch_stride;
  check(functions_.gemm_strided_batched(
            handle_, transposition(b), transposition(a), size(product.n), size(product.m),
            size(product.k), factors.one(), as_pointer(b.address), data, size(b.leading_dimension),
            b.batch_stride, as_pointer(a.address), data, size(a.leading_dimension), a.batch_stride,
            beta, as_pointer(product.out), data, size(product.n), stride, size(product.batches),
            compute, kDefaultGemm),
        "cublasGemmStridedBatchedEx");
}

}  // namespace ohm::cuda

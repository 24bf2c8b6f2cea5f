// cuBLAS's functions: the same products in plain loops.
#include "tests/support/stand_in_driver/column_product.h"

namespace ohm::stand_in::cublas {

using namespace cuda;  // NOLINT(google-build-using-namespace): the signatures are written in it

#define OHM_ROW(member, header_name, symbol, ...) \
  __attribute__((visibility("default"))) CublasStatus member(__VA_ARGS__) __asm__(symbol);
OHM_FOR_EACH_CUBLAS_FUNCTION(OHM_ROW)
#undef OHM_ROW
__attribute__((visibility("default")))
const char* status_name(CublasStatus) __asm__("cublasGetStatusName");

namespace {

constexpr CublasStatus kInvalid = 7;

struct Handle {};

bool is_handle(CublasHandle handle) { return machine().objects.count(handle) > 0; }

bool computes_alike(int data, int compute) {
  return compute == (data == kDataFloat64 ? kComputeFloat64 : kComputeFloat32);
}

}  // namespace

const char* status_name(CublasStatus status) {
  switch (status) {
    case kCublasAllocFailed:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case kCublasNotSupported:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case 13:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    default:
      return "CUBLAS_STATUS_STAND_IN";
  }
}

CublasStatus create(CublasHandle* handle) {
  Machine& now = machine();
  if (const int error = now.begin("cublasCreate_v2")) return error;
  *handle = reinterpret_cast<CublasHandle>(now.make<Handle>());
  return 0;
}

CublasStatus destroy(CublasHandle handle) {
  Machine& now = machine();
  if (const int error = now.begin("cublasDestroy_v2")) return error;
  return now.drop(handle);
}

CublasStatus version(CublasHandle handle, int* version) {
  *version = 130001;
  return is_handle(handle) ? 0 : kInvalid;
}

CublasStatus set_stream(CublasHandle handle, StreamHandle stream) {
  Machine& now = machine();
  if (const int error = now.begin("cublasSetStream_v2")) return error;
  if (!is_handle(handle) || stream != nullptr) return now.wrong("another stream", kInvalid);
  now.library_workspace = 0;
  return 0;
}

CublasStatus set_workspace(CublasHandle handle, void* workspace, std::size_t bytes) {
  Machine& now = machine();
  if (const int error = now.begin("cublasSetWorkspace_v2")) return error;
  if (!is_handle(handle)) return now.wrong("cublasSetWorkspace of no handle", kInvalid);
  return use_workspace(workspace, bytes) ? 0 : kInvalid;
}

CublasStatus gemm(CublasHandle handle, int transpose_a, int transpose_b, int m, int n, int k,
                  const void* alpha, const void* a, int type_a, int lda, const void* b, int type_b,
                  int ldb, const void* beta, void* c, int type_c, int ldc, int compute,
                  int /*algorithm*/) {
  Machine& now = machine();
  if (const int error = now.begin("cublasGemmEx")) return error;
  if (!is_handle(handle) || type_a != type_b || type_b != type_c ||
      !computes_alike(type_a, compute)) {
    return now.wrong("cublasGemmEx of what does not fit together", kInvalid);
  }
  const ColumnProduct product{m,
                              n,
                              k,
                              1,
                              {a, lda, transpose_a == kTransposed},
                              {b, ldb, transpose_b == kTransposed},
                              {c, ldc},
                              alpha,
                              beta};
  return multiply(product, type_a) ? 0 : kInvalid;
}

CublasStatus gemm_strided_batched(CublasHandle handle, int transpose_a, int transpose_b, int m,
                                  int n, int k, const void* alpha, const void* a, int type_a,
                                  int lda, long long stride_a, const void* b, int type_b, int ldb,
                                  long long stride_b, const void* beta, void* c, int type_c,
                                  int ldc, long long stride_c, int batches, int compute,
                                  int /*algorithm*/) {
  Machine& now = machine();
  if (const int error = now.begin("cublasGemmStridedBatchedEx")) return error;
  if (!is_handle(handle) || type_a != type_b || type_b != type_c ||
      !computes_alike(type_a, compute)) {
    return now.wrong("cublasGemmStridedBatchedEx of what does not fit together", kInvalid);
  }
  const ColumnProduct product{m,
                              n,
                              k,
                              batches,
                              {a, lda, transpose_a == kTransposed, stride_a},
                              {b, ldb, transpose_b == kTransposed, stride_b},
                              {c, ldc, false, stride_c},
                              alpha,
                              beta};
  return multiply(product, type_a) ? 0 : kInvalid;
}

}  // namespace ohm::stand_in::cublas

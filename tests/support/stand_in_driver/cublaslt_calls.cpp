// cuBLASLt's functions: products with a bias in plain loops.
#include <cstring>

#include "runtime/cuda/cublaslt_functions.h"
#include "tests/support/stand_in_driver/column_product.h"

namespace ohm::stand_in::cublaslt {

using namespace cuda;  // NOLINT(google-build-using-namespace): the signatures are written in it

#define OHM_ROW(member, header_name, symbol, ...) \
  __attribute__((visibility("default"))) CublasStatus member(__VA_ARGS__) __asm__(symbol);
OHM_FOR_EACH_CUBLASLT_FUNCTION(OHM_ROW)
#undef OHM_ROW
__attribute__((visibility("default")))
const char* status_name(CublasStatus) __asm__("cublasLtGetStatusName");
__attribute__((visibility("default"))) std::size_t version() __asm__("cublasLtGetVersion");

namespace {

constexpr CublasStatus kInvalid = 7;
constexpr std::size_t kWorkspaceOfAlgorithm = 65'536;

struct Handle {};
struct Description {
  int transpose_a = kNotTransposed;
  int transpose_b = kNotTransposed;
  std::uint32_t epilogue = 1;
  Pointer bias = 0;
};
struct Layout {
  int type = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading_dimension = 0;
};
struct Preference {
  std::uint64_t workspace_bytes = 0;
};

template <class T>
const T& as(const void* object) {
  return *static_cast<const T*>(object);
}

template <class T>
CublasStatus take(T& to, const void* value, std::size_t bytes) {
  if (bytes != sizeof to) return machine().wrong("an attribute of another size", kInvalid);
  std::memcpy(&to, value, bytes);
  return 0;
}

ColumnMatrix matrix(const void* address, const Layout& layout, int transposed) {
  return {address, layout.leading_dimension, transposed == kTransposed};
}

std::int64_t rows_read(const Layout& layout, int transposed) {
  return static_cast<std::int64_t>(transposed == kTransposed ? layout.columns : layout.rows);
}
std::int64_t columns_read(const Layout& layout, int transposed) {
  return static_cast<std::int64_t>(transposed == kTransposed ? layout.rows : layout.columns);
}

}  // namespace

const char* status_name(CublasStatus status) {
  return status == kCublasAllocFailed ? "CUBLAS_STATUS_ALLOC_FAILED" : "CUBLAS_STATUS_STAND_IN";
}

std::size_t version() { return 130001; }

CublasStatus create(CublasLtHandle* handle) {
  Machine& now = machine();
  if (const int error = now.begin("cublasLtCreate")) return error;
  *handle = reinterpret_cast<CublasLtHandle>(now.make<Handle>());
  return 0;
}

CublasStatus destroy(CublasLtHandle handle) { return machine().drop(handle); }

CublasStatus product_create(LtProduct* product, int compute, int scale) {
  Machine& now = machine();
  if (const int error = now.begin("cublasLtMatmulDescCreate")) return error;
  if ((compute == kComputeFloat64) != (scale == kDataFloat64)) {
    return now.wrong("a product computed in one type and scaled in another", kInvalid);
  }
  *product = reinterpret_cast<LtProduct>(now.make<Description>());
  return 0;
}

CublasStatus product_destroy(LtProduct product) { return machine().drop(product); }

CublasStatus product_set(LtProduct product, int attribute, const void* value, std::size_t bytes) {
  if (const int error = machine().begin("cublasLtMatmulDescSetAttribute")) return error;
  auto& description = *reinterpret_cast<Description*>(product);
  switch (attribute) {
    case kLtTransposeA:
      return take(description.transpose_a, value, bytes);
    case kLtTransposeB:
      return take(description.transpose_b, value, bytes);
    case kLtEpilogue:
      return take(description.epilogue, value, bytes);
    case kLtBiasPointer:
      return take(description.bias, value, bytes);
    default:
      return machine().wrong("an attribute that is none", kInvalid);
  }
}

CublasStatus layout_create(LtLayout* layout, int type, std::uint64_t rows, std::uint64_t columns,
                           std::int64_t leading_dimension) {
  Machine& now = machine();
  if (const int error = now.begin("cublasLtMatrixLayoutCreate")) return error;
  if (leading_dimension < static_cast<std::int64_t>(rows)) {
    return now.wrong("columns that overlap", kInvalid);
  }
  auto* const made = now.make<Layout>();
  *made = {type, rows, columns, leading_dimension};
  *layout = reinterpret_cast<LtLayout>(made);
  return 0;
}

CublasStatus layout_destroy(LtLayout layout) { return machine().drop(layout); }

CublasStatus preference_create(LtPreference* preference) {
  Machine& now = machine();
  if (const int error = now.begin("cublasLtMatmulPreferenceCreate")) return error;
  *preference = reinterpret_cast<LtPreference>(now.make<Preference>());
  return 0;
}

CublasStatus preference_destroy(LtPreference preference) { return machine().drop(preference); }

CublasStatus preference_set(LtPreference preference, int attribute, const void* value,
                            std::size_t bytes) {
  if (const int error = machine().begin("cublasLtMatmulPreferenceSetAttribute")) return error;
  if (attribute == kLtMaxWorkspaceBytes) {
    return take(reinterpret_cast<Preference*>(preference)->workspace_bytes, value, bytes);
  }
  std::uint32_t alignment = 0;
  const CublasStatus taken = take(alignment, value, bytes);
  const bool is_power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  return is_power_of_two ? taken : machine().wrong("an alignment that is none", kInvalid);
}

CublasStatus heuristic(CublasLtHandle /*handle*/, LtProduct /*product*/, LtLayout /*a*/,
                       LtLayout /*b*/, LtLayout /*c*/, LtLayout /*d*/, LtPreference preference,
                       int wanted, LtHeuristic* found, int* count) {
  Machine& now = machine();
  if (const int error = now.begin("cublasLtMatmulAlgoGetHeuristic")) return error;
  const std::uint64_t most = as<Preference>(preference).workspace_bytes;
  *count = wanted > 0 && most >= kWorkspaceOfAlgorithm ? 1 : 0;
  if (*count == 1) found->workspace_bytes = kWorkspaceOfAlgorithm;
  return 0;
}

CublasStatus product(CublasLtHandle /*handle*/, LtProduct product, const void* alpha, const void* a,
                     LtLayout layout_a, const void* b, LtLayout layout_b, const void* beta,
                     const void* /*c*/, LtLayout /*layout_c*/, void* d, LtLayout layout_d,
                     const LtAlgorithm* /*algorithm*/, void* workspace, std::size_t bytes,
                     StreamHandle /*stream*/) {
  Machine& now = machine();
  if (const int error = now.begin("cublasLtMatmul")) return error;
  if (bytes < kWorkspaceOfAlgorithm || !use_workspace(workspace, bytes)) {
    return now.wrong("cublasLtMatmul without its workspace", kInvalid);
  }
  const auto& how = as<Description>(product);
  const auto& of_a = as<Layout>(layout_a);
  const auto& of_b = as<Layout>(layout_b);
  const auto& of_d = as<Layout>(layout_d);
  ColumnProduct columns;
  columns.m = rows_read(of_a, how.transpose_a);
  columns.k = columns_read(of_a, how.transpose_a);
  columns.n = columns_read(of_b, how.transpose_b);
  if (columns.k != rows_read(of_b, how.transpose_b) ||
      columns.m != static_cast<std::int64_t>(of_d.rows) ||
      columns.n != static_cast<std::int64_t>(of_d.columns)) {
    return now.wrong("cublasLtMatmul of sizes that do not fit", kInvalid);
  }
  columns.a = matrix(a, of_a, how.transpose_a);
  columns.b = matrix(b, of_b, how.transpose_b);
  columns.c = matrix(d, of_d, kNotTransposed);
  columns.alpha = alpha;
  columns.beta = beta;
  if (how.epilogue == kLtEpilogueBias) columns.bias = reinterpret_cast<const void*>(how.bias);
  return multiply(columns, of_a.type) ? 0 : kInvalid;
}

}  // namespace ohm::stand_in::cublaslt

#include "runtime/cuda/cublaslt.h"

#include <algorithm>
#include <utility>

namespace ohm::cuda {
namespace {

/// The largest power of two up to 256 that divides it: all that the library can make use of.
std::uint32_t alignment_of(Pointer address) {
  constexpr Pointer kMost = 256;
  return static_cast<std::uint32_t>(std::min(kMost, address & (~address + 1)));
}

}  // namespace

// What describes one call, as long as it takes. Matrices are column-major there: the operands
// change places, as in cuBLAS.
class CublasLt::Call {
 public:
  Call(const CublasLt& library, const Product& product, Pointer bias, const DeviceRange& workspace)
      : library_(library),
        functions_(library.functions_),
        product_(product),
        workspace_(workspace),
        b_(layout(product.b, product.n, product.k)),
        a_(layout(product.a, product.k, product.m)),
        out_(layout({product.out, product.n, false, 0}, product.n, product.m)) {
    LtProduct made = nullptr;
    library_.check(
        functions_.product_create(&made, compute_type(product.type), scale_type(product.type)),
        "cublasLtMatmulDescCreate");
    description_ = {made, functions_.product_destroy};
    describe(kLtTransposeA, product.b.is_transposed ? kTransposed : kNotTransposed);
    describe(kLtTransposeB, product.a.is_transposed ? kTransposed : kNotTransposed);
    describe(kLtEpilogue, kLtEpilogueBias);
    describe(kLtBiasPointer, bias);
    prefer();
  }

  /// False: there is no kernel for it.
  bool run() const {
    LtHeuristic found;
    int count = 0;
    const CublasStatus answer =
        functions_.heuristic(library_.handle_, description_.get(), b_.get(), a_.get(), out_.get(),
                             out_.get(), preference_.get(), 1, &found, &count);
    if (answer == kCublasNotSupported) return false;
    if (answer == 0 && (count == 0 || found.state != 0)) return false;
    library_.check(answer, "cublasLtMatmulAlgoGetHeuristic");
    const Factors factors(product_.type);
    void* const out = as_pointer(product_.out);
    library_.check(functions_.product(library_.handle_, description_.get(), factors.one(),
                                      as_pointer(product_.b.address), b_.get(),
                                      as_pointer(product_.a.address), a_.get(), factors.zero(), out,
                                      out_.get(), out, out_.get(), &found.algorithm,
                                      as_pointer(workspace_.address), workspace_.bytes, nullptr),
                   "cublasLtMatmul");
    return true;
  }

 private:
  using Layout = Described<OpaqueLtLayout>;

  template <class T>
  void describe(int attribute, const T& value) {
    library_.check(functions_.product_set(description_.get(), attribute, &value, sizeof value),
                   "cublasLtMatmulDescSetAttribute");
  }
  template <class T>
  void prefer(int attribute, const T& value) {
    library_.check(functions_.preference_set(preference_.get(), attribute, &value, sizeof value),
                   "cublasLtMatmulPreferenceSetAttribute");
  }

  void prefer() {
    LtPreference made = nullptr;
    library_.check(functions_.preference_create(&made), "cublasLtMatmulPreferenceCreate");
    preference_ = {made, functions_.preference_destroy};
    prefer(kLtMaxWorkspaceBytes, std::uint64_t{workspace_.bytes});
    prefer(kLtMinAlignmentA, alignment_of(product_.b.address));
    prefer(kLtMinAlignmentB, alignment_of(product_.a.address));
    prefer(kLtMinAlignmentC, alignment_of(product_.out));
    prefer(kLtMinAlignmentD, alignment_of(product_.out));
  }

  /// `rows` and `columns` as the product reads it, once it is transposed.
  Layout layout(const ProductOperand& operand, std::int64_t rows, std::int64_t columns) const {
    if (operand.is_transposed) std::swap(rows, columns);
    LtLayout made = nullptr;
    library_.check(
        functions_.layout_create(&made, data_type(product_.type), static_cast<std::uint64_t>(rows),
                                 static_cast<std::uint64_t>(columns), operand.leading_dimension),
        "cublasLtMatrixLayoutCreate");
    return {made, functions_.layout_destroy};
  }

  const CublasLt& library_;
  const CublasLtFunctions& functions_;
  const Product& product_;
  const DeviceRange& workspace_;
  Layout b_;
  Layout a_;
  Layout out_;
  Described<OpaqueLtProduct> description_{nullptr, nullptr};
  Described<OpaqueLtPreference> preference_{nullptr, nullptr};
};

CublasLtFunctions CublasLtApi::functions_of(const SharedLibrary& library) {
  CublasLtFunctions functions;
#define OHM_ROW(member, header_name, symbol, ...) library.find(symbol, functions.member);
  OHM_FOR_EACH_CUBLASLT_FUNCTION(OHM_ROW)
#undef OHM_ROW
  library.find(kCublasLtStatusName, functions.status_name);
  library.find(kCublasLtVersion, functions.version);
  return functions;
}

std::string CublasLt::version() const { return cublas_version_text(functions_.version()); }

bool CublasLt::multiply_with_bias(const Product& product, Pointer bias,
                                  const DeviceRange& workspace) const {
  // What is preferred says nothing of the bias, which kernels read in pieces of 16 bytes.
  constexpr Pointer kBiasAlignment = 16;
  if (bias % kBiasAlignment != 0) return false;
  device_->current();
  return Call(*this, product, bias, workspace).run();
}

}  // namespace ohm::cuda

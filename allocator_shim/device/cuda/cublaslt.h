// cuBLASLt on one card: products with a bias in one kernel.
#pragma once

#include <memory>
#include <string>

#include "allocator_shim/device/cuda/cublaslt_functions.h"
#include "allocator_shim/device/cuda/product.h"

namespace ohm::cuda {

/// Queues on the card's default stream. Throws LibraryError; DriverError where the card broke.
class CublasLt {
 public:
  static constexpr const char* kName = "cuBLASLt";

  /// Throws GpuUnavailable that says what is missing, LibraryError where it does not start.
  CublasLt(std::shared_ptr<const Card> card, const LibraryNames& names);
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  /// "13.1.0".
  std::string version() const;

  /// out = a · b + bias, where the bias has one dense element for each column; `adds_to_out` is
  /// not looked at. False, and nothing was done, where the library has no kernel for it that works
  /// in `workspace`. Pre-condition: one product, fits_libraries().
  bool multiply_with_bias(const Product& product, Pointer bias, const CardRange& workspace) const;

 private:
  class Call;
  void check(CublasStatus status, const char* call) const;

  std::shared_ptr<const Card> card_;
  std::unique_ptr<SharedLibrary> library_;
  CublasLtFunctions functions_;
  CublasLtHandle handle_ = nullptr;
};

}  // namespace ohm::cuda

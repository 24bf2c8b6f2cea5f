// cuBLASLt on one device: products with a bias in one kernel.
#pragma once

#include <string>

#include "runtime/cuda/cublaslt_functions.h"
#include "runtime/cuda/library_handle.h"
#include "runtime/cuda/library_product.h"

namespace ohm::cuda {

struct CublasLtApi {
  static constexpr const char* kName = "cuBLASLt";
  static constexpr const char* kCreate = "cublasLtCreate";
  using Functions = CublasLtFunctions;
  using Handle = CublasLtHandle;
  using Status = CublasStatus;
  static Functions functions_of(const SharedLibrary& library);
  static LibraryFailure failure_of(Status status) { return cublas_failure(status); }
};

/// Queues on the device's default stream. Throws LibraryError; DriverError where the device broke.
class CublasLt final : public LibraryHandle<CublasLtApi> {
 public:
  using LibraryHandle::LibraryHandle;

  /// "13.1.0".
  std::string version() const;

  /// out = a · b + bias, where the bias has one dense element for each column; `adds_to_out` is
  /// not looked at. False, and nothing was done, where the library has no kernel for it that works
  /// in `workspace`, or may have one that does not work with a bias at such an address.
  /// Pre-condition: one product, fits_libraries().
  bool multiply_with_bias(const Product& product, Pointer bias, const DeviceRange& workspace) const;

 private:
  class Call;
};

}  // namespace ohm::cuda

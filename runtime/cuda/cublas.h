// cuBLAS on one device: products of matrices.
#pragma once

#include <string>

#include "runtime/cuda/cublas_functions.h"
#include "runtime/cuda/library_handle.h"
#include "runtime/cuda/library_product.h"

namespace ohm::cuda {

struct CublasApi {
  static constexpr const char* kName = "cuBLAS";
  static constexpr const char* kCreate = "cublasCreate_v2";
  using Functions = CublasFunctions;
  using Handle = CublasHandle;
  using Status = CublasStatus;
  static Functions functions_of(const SharedLibrary& library);
  static LibraryFailure failure_of(Status status) { return cublas_failure(status); }
};

/// Queues on the device's default stream. Throws LibraryError; DriverError where the device broke.
class Cublas final : public LibraryHandle<CublasApi> {
 public:
  using LibraryHandle::LibraryHandle;

  /// "13.1.0".
  std::string version() const;

  /// With `workspace` for intermediate results: none leaves it to the library, which then has
  /// memory of its own. Pre-condition: fits_libraries(product).
  void multiply(const Product& product, const DeviceRange& workspace) const;

 private:
  void use_workspace(const DeviceRange& workspace) const;

  mutable DeviceRange workspace_;  ///< that the handle was given; none: it has its own
};

}  // namespace ohm::cuda

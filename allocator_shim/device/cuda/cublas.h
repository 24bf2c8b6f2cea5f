// cuBLAS on one card: products of matrices.
#pragma once

#include <memory>
#include <string>

#include "allocator_shim/device/cuda/cublas_functions.h"
#include "allocator_shim/device/cuda/product.h"

namespace ohm::cuda {

/// Queues on the card's default stream. Throws LibraryError; DriverError where the card broke.
class Cublas {
 public:
  static constexpr const char* kName = "cuBLAS";

  /// Opens the library and makes a handle, which takes memory of the card. Throws GpuUnavailable
  /// that says what is missing, LibraryError where it does not start.
  Cublas(std::shared_ptr<const Card> card, const LibraryNames& names);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// "13.1.0".
  std::string version() const;

  /// With `workspace` for intermediate results: none leaves it to the library, which then has
  /// memory of its own. Pre-condition: fits_libraries(product).
  void multiply(const Product& product, const CardRange& workspace) const;

 private:
  void check(CublasStatus status, const char* call) const;
  void use_workspace(const CardRange& workspace) const;

  std::shared_ptr<const Card> card_;
  std::unique_ptr<SharedLibrary> library_;
  CublasFunctions functions_;
  CublasHandle handle_ = nullptr;
  mutable CardRange workspace_;  ///< that the handle was given; none: it has its own
};

}  // namespace ohm::cuda

// A product of matrices in a device's memory, as the libraries are asked for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/cuda/library.h"

namespace ohm::cuda {

/// One operand: rows next to each other, `leading_dimension` apart, or columns where it is
/// transposed; the matrices of a batch are `batch_stride` elements apart.
struct ProductOperand {
  Pointer address = 0;
  std::int64_t leading_dimension = 1;
  bool is_transposed = false;
  std::int64_t batch_stride = 0;
};

/// out [m, n] = a [m, k] · b [k, n] (+ out), for each of the batch. The result is row-major and
/// dense; those of a batch lie one behind the other, or `out_batch_stride` elements apart where it
/// is not 0. Sizes are positive.
struct Product {
  ElementType type = ElementType::float32;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batches = 1;
  ProductOperand a;
  ProductOperand b;
  Pointer out = 0;
  std::int64_t out_batch_stride = 0;
  bool adds_to_out = false;
};

/// Whether the libraries' 32-bit sizes can say it.
bool fits_libraries(const Product& product);

/// cudaDataType_t.
int data_type(ElementType type);
/// cublasComputeType_t, and the type of the factors.
int compute_type(ElementType type);
int scale_type(ElementType type);

/// What a cublasStatus_t that is not a success says: cuBLAS and cuBLASLt share them.
LibraryFailure cublas_failure(int status);

/// 130101 -> "13.1.1".
std::string cublas_version_text(std::size_t version);

/// 1 and 0, as a library reads them: in float, or in double for float64.
class Factors {
 public:
  explicit Factors(ElementType type) : is_double_(type == ElementType::float64) {}

  const void* one() const { return is_double_ ? static_cast<const void*>(&kOne) : &kOneFloat; }
  const void* zero() const { return is_double_ ? static_cast<const void*>(&kZero) : &kZeroFloat; }

 private:
  static constexpr double kOne = 1;
  static constexpr double kZero = 0;
  static constexpr float kOneFloat = 1;
  static constexpr float kZeroFloat = 0;

  bool is_double_;
};

}  // namespace ohm::cuda

#include "runtime/cuda/library_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runtime/cuda/cublas_functions.h"

namespace ohm::cuda {

bool fits_libraries(const Product& product) {
  const std::int64_t largest = std::max({product.m, product.n, product.k, product.batches,
                                         product.a.leading_dimension, product.b.leading_dimension});
  return largest <= std::numeric_limits<int>::max();
}

int data_type(ElementType type) {
  switch (type) {
    case ElementType::float16:
      return kDataFloat16;
    case ElementType::bfloat16:
      return kDataBFloat16;
    case ElementType::float32:
      return kDataFloat32;
    case ElementType::float64:
      return kDataFloat64;
  }
  return kDataFloat32;
}

int compute_type(ElementType type) {
  return type == ElementType::float64 ? kComputeFloat64 : kComputeFloat32;
}

int scale_type(ElementType type) {
  return type == ElementType::float64 ? kDataFloat64 : kDataFloat32;
}

std::string cublas_version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

LibraryFailure cublas_failure(int status) {
  if (status == kCublasAllocFailed) return LibraryFailure::out_of_memory;
  return status == kCublasNotSupported ? LibraryFailure::not_supported : LibraryFailure::other;
}

}  // namespace ohm::cuda

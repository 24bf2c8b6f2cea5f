// A library of NVIDIA's: how it is opened, and how it fails.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/device/cuda/cuda_device.h"
#include "allocator_shim/device/cuda/shared_library.h"
#include "runtime/cuda/library_places.h"

namespace ohm::cuda {

/// What a call of a library came to when it failed.
enum class LibraryFailure : std::uint8_t { out_of_memory, not_supported, other };

/// A call that failed, in the library's words: "cuBLAS: cublasGemmEx: CUBLAS_STATUS_NOT_SUPPORTED".
class LibraryError : public std::runtime_error {
 public:
  LibraryError(LibraryFailure failure, const std::string& text)
      : std::runtime_error(text), failure_(failure) {}

  LibraryFailure failure() const { return failure_; }

 private:
  LibraryFailure failure_;
};

/// Calls use(name) with one name after the other until it throws neither GpuUnavailable nor
/// LibraryError: a library can be there and not go with the driver. Throws the first LibraryError
/// where there was one, or else the first GpuUnavailable. A lack of memory is not a reason to go
/// on.
template <class Use>
void use_first(const LibraryNames& names, Use&& use) {
  OHM_ASSERT(!names.empty(), "a library has a name");
  std::exception_ptr missing;
  std::exception_ptr broken;
  for (const std::string& name : names) {
    try {
      use(name);
      return;
    } catch (const GpuUnavailable&) {
      if (!missing) missing = std::current_exception();
    } catch (const LibraryError& error) {
      if (error.failure() == LibraryFailure::out_of_memory) throw;
      if (!broken) broken = std::current_exception();
    }
  }
  std::rethrow_exception(broken ? broken : missing);
}

/// Throws LibraryError: "LIBRARY: CALL: WORDS". A CUDA device that broke is told of first: the
/// driver's error says more than the library's, and ends what cannot go on.
[[noreturn]] void fail_library(const CudaDevice& device, LibraryFailure failure,
                               std::string_view library, std::string_view call, const char* words);

/// What libraries compute with.
enum class ElementType : std::uint8_t { float16, bfloat16, float32, float64 };

/// A piece of a device's memory; none: 0 bytes.
struct DeviceRange {
  Pointer address = 0;
  std::size_t bytes = 0;
};

/// What a library makes and takes back: a description of one call.
template <class T>
using Described = std::unique_ptr<T, int (*)(T*)>;

inline void* as_pointer(Pointer address) { return reinterpret_cast<void*>(address); }

}  // namespace ohm::cuda

// cuBLAS and cuBLASLt: handles, modes, and a heuristic with one algorithm that needs no workspace.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

namespace {

struct BlasHandle : LibraryHandle {
  int math_mode;
  int pointer_mode;
  int atomics_mode;
  int multiprocessor_target;
};

/// cublasLtMatmulHeuristicResult_t.
struct HeuristicResult {
  std::array<std::uint64_t, 8> algorithm;
  std::size_t workspace_bytes;
  int status;
  float waves;
  std::array<int, 4> reserved;
};

constexpr int kNotInitialized = dead_handle_of(CallLibrary::cublas);
constexpr int kInvalidValue = invalid_argument_of(CallLibrary::cublas);

constexpr HeuristicResult kOnlyAlgorithm = {{}, 0, kLibrarySuccess, 1.0F, {}};

/// Its version is 10000 * major + 100 * minor + patch.
int blas_property(int property, int* value) {
  const int version = toolkit_of_process().cublas;
  const std::array parts = {version / 10'000, version % 10'000 / 100, version % 100};
  const bool is_part = property >= 0 && static_cast<std::size_t>(property) < parts.size();
  if (value == nullptr || !is_part) return kInvalidValue;
  *value = parts.at(static_cast<std::size_t>(property));
  return kLibrarySuccess;
}

}  // namespace

OHM_EXPORTED int cublasGetVersion_v2(BlasHandle* /*handle*/, int* version) {
  OHM_LIBRARY_CALL(int);
  if (version == nullptr) return kInvalidValue;
  *version = toolkit_of_process().cublas;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasSetStream_v2(BlasHandle* handle, Stream* stream) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kNotInitialized;
  handle->stream = stream;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasGetStream_v2(BlasHandle* handle, Stream** stream) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kNotInitialized;
  if (stream == nullptr) return kInvalidValue;
  *stream = handle->stream;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasSetMathMode(BlasHandle* handle, int mode) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kNotInitialized;
  constexpr int kModes = 31;  // numbers and flags
  if ((mode & ~kModes) != 0) return kInvalidValue;
  handle->math_mode = mode;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasGetMathMode(BlasHandle* handle, int* mode) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kNotInitialized;
  if (mode == nullptr) return kInvalidValue;
  *mode = handle->math_mode;
  return kLibrarySuccess;
}

/// A program's memory, which nothing needs here.
OHM_EXPORTED int cublasSetWorkspace_v2(const BlasHandle* handle, const void* memory,
                                       std::size_t /*bytes*/) {
  OHM_LIBRARY_CALL(int);
  constexpr std::uintptr_t kAlignment = 256;
  if (!is_object(handle)) return kNotInitialized;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(memory) % kAlignment == 0;
  return is_aligned ? kLibrarySuccess : kInvalidValue;
}

OHM_EXPORTED int cublasSetPointerMode_v2(BlasHandle* handle, int mode) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kNotInitialized;
  if (mode != 0 && mode != 1) return kInvalidValue;
  handle->pointer_mode = mode;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasGetPointerMode_v2(BlasHandle* handle, int* mode) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kNotInitialized;
  if (mode == nullptr) return kInvalidValue;
  *mode = handle->pointer_mode;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasSetAtomicsMode(BlasHandle* handle, int mode) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kNotInitialized;
  handle->atomics_mode = mode;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasGetAtomicsMode(BlasHandle* handle, int* mode) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kNotInitialized;
  if (mode == nullptr) return kInvalidValue;
  *mode = handle->atomics_mode;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasSetSmCountTarget(BlasHandle* handle, int count) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kNotInitialized;
  if (count < 0) return kInvalidValue;
  handle->multiprocessor_target = count;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasGetSmCountTarget(BlasHandle* handle, int* count) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kNotInitialized;
  if (count == nullptr) return kInvalidValue;
  *count = handle->multiprocessor_target;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasGetProperty(int property, int* value) {
  return blas_property(property, value);
}

OHM_EXPORTED int cublasLtGetProperty(int property, int* value) {
  return blas_property(property, value);
}

OHM_EXPORTED std::size_t cublasGetCudartVersion() {
  return static_cast<std::size_t>(toolkit_of_process().cuda);
}

OHM_EXPORTED std::size_t cublasLtGetCudartVersion() { return cublasGetCudartVersion(); }

OHM_EXPORTED std::size_t cublasLtGetVersion() {
  return static_cast<std::size_t>(toolkit_of_process().cublas);
}

OHM_EXPORTED int cublasLtMatmulAlgoGetHeuristic(void* /*handle*/, void* operation, void* a, void* b,
                                                void* c, void* d, void* /*preference*/, int wanted,
                                                HeuristicResult* results, int* count) {
  OHM_LIBRARY_CALL(int);
  for (const void* descriptor : {operation, a, b, c, d}) {
    if (descriptor == nullptr) return kInvalidValue;
  }
  if (wanted <= 0 || results == nullptr || count == nullptr) return kInvalidValue;
  *count = 1;
  *results = kOnlyAlgorithm;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasLtMatmulAlgoCheck(void* /*handle*/, void* /*operation*/, void* /*a*/,
                                         void* /*b*/, void* /*c*/, void* /*d*/,
                                         const void* /*algorithm*/, HeuristicResult* result) {
  OHM_LIBRARY_CALL(int);
  *result = kOnlyAlgorithm;
  return kLibrarySuccess;
}

OHM_EXPORTED int cublasLtMatmulAlgoConfigGetAttribute(const void* /*algorithm*/, int /*attribute*/,
                                                      void* value, std::size_t bytes,
                                                      std::size_t* written) {
  OHM_LIBRARY_CALL(int);
  std::memset(value, 0, bytes);
  if (written != nullptr) *written = bytes;
  return kLibrarySuccess;
}

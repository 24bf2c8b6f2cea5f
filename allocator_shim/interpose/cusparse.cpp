// cuSPARSE: handles, and its version.
#include "allocator_shim/interpose/cusparse_descriptors.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

namespace {

struct SparseHandle : LibraryHandle {
  int pointer_mode;
};

}  // namespace

OHM_EXPORTED int cusparseSetStream(SparseHandle* handle, Stream* stream) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle)) return kInvalidSparseValue;
  handle->stream = stream;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseGetStream(const SparseHandle* handle, Stream** stream) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle) || stream == nullptr) return kInvalidSparseValue;
  *stream = handle->stream;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseSetPointerMode(SparseHandle* handle, int mode) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle) || (mode != 0 && mode != 1)) return kInvalidSparseValue;
  handle->pointer_mode = mode;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseGetPointerMode(const SparseHandle* handle, int* mode) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(handle) || mode == nullptr) return kInvalidSparseValue;
  *mode = handle->pointer_mode;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseGetProperty(int property, int* value) {
  const auto part = part_of_version(toolkit_of_process().cusparse, property);
  if (!part || value == nullptr) return kInvalidSparseValue;
  *value = *part;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusparseGetVersion(void* /*handle*/, int* version) {
  if (version == nullptr) return kInvalidSparseValue;
  *version = toolkit_of_process().cusparse;
  return kLibrarySuccess;
}

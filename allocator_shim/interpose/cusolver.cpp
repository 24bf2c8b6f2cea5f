// cuSOLVER: its version, and the streams of handles.
#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/toolkit_version.h"

using namespace ohm::interpose;

namespace {

constexpr int kInvalidSolverValue = invalid_argument_of(CallLibrary::cusolver);
constexpr int kNoSolver = dead_handle_of(CallLibrary::cusolver);

int set_stream_of_solver(LibraryHandle* handle, Stream* stream) {
  if (!is_object(handle)) return kNoSolver;
  handle->stream = stream;
  return kLibrarySuccess;
}

int stream_of_solver(const LibraryHandle* handle, Stream** stream) {
  if (!is_object(handle)) return kNoSolver;
  if (stream == nullptr) return kInvalidSolverValue;
  *stream = handle->stream;
  return kLibrarySuccess;
}

}  // namespace

OHM_EXPORTED int cusolverDnSetStream(LibraryHandle* handle, Stream* stream) {
  OHM_LIBRARY_CALL(int);
  return set_stream_of_solver(handle, stream);
}

OHM_EXPORTED int cusolverDnGetStream(const LibraryHandle* handle, Stream** stream) {
  OHM_LIBRARY_CALL(int);
  return stream_of_solver(handle, stream);
}

OHM_EXPORTED int cusolverSpSetStream(LibraryHandle* handle, Stream* stream) {
  OHM_LIBRARY_CALL(int);
  return set_stream_of_solver(handle, stream);
}

OHM_EXPORTED int cusolverSpGetStream(const LibraryHandle* handle, Stream** stream) {
  OHM_LIBRARY_CALL(int);
  return stream_of_solver(handle, stream);
}

OHM_EXPORTED int cusolverGetProperty(int property, int* value) {
  const auto part = part_of_version(toolkit_of_process().cusolver, property);
  if (!part || value == nullptr) return kInvalidSolverValue;
  *value = *part;
  return kLibrarySuccess;
}

OHM_EXPORTED int cusolverGetVersion(int* version) {
  if (version == nullptr) return kInvalidSolverValue;
  *version = toolkit_of_process().cusolver;
  return kLibrarySuccess;
}

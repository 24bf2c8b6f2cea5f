#include "allocator_shim/interpose/status.h"

#include <algorithm>
#include <array>

namespace ohm::interpose {
namespace {

struct StatusText {
  Status status;
  const char* name;
  const char* text;
};

constexpr std::array<StatusText, 14> kTexts = {{
    {Status::success, "cudaSuccess", "no error"},
    {Status::invalid_value, "cudaErrorInvalidValue", "invalid argument"},
    {Status::out_of_memory, "cudaErrorMemoryAllocation", "out of memory"},
    {Status::not_initialized, "cudaErrorInitializationError", "initialization error"},
    {Status::no_device, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {Status::invalid_device, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {Status::invalid_handle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {Status::not_found, "cudaErrorSymbolNotFound", "named symbol not found"},
    {Status::not_ready, "cudaErrorNotReady", "device not ready"},
    {Status::peer_access_already_enabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {Status::not_supported, "cudaErrorNotSupported", "operation not supported"},
    {Status::capture_not_allowed, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {Status::capture_invalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {Status::unknown, "cudaErrorUnknown", "unknown error"},
}};

const StatusText& row_of(Status status) {
  const auto* found = std::find_if(kTexts.begin(), kTexts.end(),
                                   [&](const StatusText& row) { return row.status == status; });
  return found == kTexts.end() ? kTexts.back() : *found;
}

thread_local Status last = Status::success;

}  // namespace

const char* name_of(Status status) { return row_of(status).name; }
const char* text_of(Status status) { return row_of(status).text; }

Status noted(Status status) {
  if (status != Status::success) last = status;
  return status;
}

Status last_error() { return last; }
void forget_last_error() { last = Status::success; }

}  // namespace ohm::interpose

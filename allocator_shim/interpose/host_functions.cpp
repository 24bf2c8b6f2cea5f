#include "allocator_shim/interpose/host_functions.h"

namespace ohm::interpose {
namespace {

thread_local int host_functions = 0;

/// A host function may not be left by an exception.
template <typename Call>
void call_within(const Call& call) {
  ++host_functions;
  call();
  --host_functions;
}

}  // namespace

void call_host_function(HostFunction function, void* data) {
  call_within([&] { function(data); });
}

void call_stream_callback(StreamCallback callback, Stream* stream, void* data) {
  call_within([&] { callback(stream, Status::success, data); });
}

bool is_within_host_function() { return host_functions > 0; }

}  // namespace ohm::interpose

// Functions of a program that a stream or a graph calls, and the end of a user object.
#pragma once

#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

struct Stream;

/// What programs have called when a stream gets there.
using HostFunction = void (*)(void* data);
using StreamCallback = void (*)(Stream* stream, Status status, void* data);

/// Within them calls of CUDA are not permitted.
void call_host_function(HostFunction function, void* data);
void call_stream_callback(StreamCallback callback, Stream* stream, void* data);
bool is_within_host_function();

}  // namespace ohm::interpose

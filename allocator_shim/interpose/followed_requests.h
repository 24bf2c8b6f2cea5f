// Requests for memory of a GPU, as a program makes them, with a follower that sees them and says
// which fail: those that PyTorch's caching allocator is asked to serve, and the calls with which it
// asks the device for segments.
//
// Followers are asked in the thread that makes the request, without a lock of this library. They
// may fork. None by default.
#pragma once

#include <cstddef>

namespace ohm::interpose {

/// Not 0: the request is to fail.
using RequestFollower = int (*)(std::size_t bytes);

/// The program asks how much memory is left: PyTorch's allocator does so for the text of its error,
/// when it needs the stream no more.
void restore_stream_of_request();

}  // namespace ohm::interpose

// Entry points without a function of their own that are work: nothing is computed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/work_in_flight.h"

namespace ohm::interpose {

using Word = std::uint64_t;
inline constexpr std::size_t kMaxWords = 24;
using Words = std::array<Word, kMaxWords>;

inline constexpr Word kSuccess = 0;

/// Does nothing, and that is all there is to do where nothing is computed.
struct Succeeds {
  static Word call(const Words& /*words*/, const char* /*name*/) { return kSuccess; }
};

/// Work on the stream that argument `Which` is, which computes nothing.
template <std::size_t Which>
struct WorksOn {
  static Word call(const Words& words, const char* /*name*/) {
    note_work(reinterpret_cast<const Stream*>(words[Which - 1]));
    return kSuccess;
  }
};

/// The same on the stream of a handle of cuBLAS or cuDNN, the first argument.
struct Works {
  static Word call(const Words& words, const char* name) {
    const auto* const handle = reinterpret_cast<const LibraryHandle*>(words[0]);
    if (!is_object(handle)) return static_cast<Word>(dead_handle_of(library_of_call(name)));
    note_work(handle->stream);
    return kSuccess;
  }
};

}  // namespace ohm::interpose

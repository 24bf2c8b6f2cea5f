// What an entry point does that has no function of its own: the classes of behaviour of
// entry_points.def. A stub sees the words of its call (integers and pointers, without floating
// arguments) as the x86-64 and AArch64 calling conventions pass them, and reads only those that its
// class names: the others may not be there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/objects.h"

namespace ohm::interpose {

using Word = std::uint64_t;
inline constexpr std::size_t kMaxWords = 24;
using Words = std::array<Word, kMaxWords>;

inline constexpr Word kSuccess = 0;

/// Does nothing, and that is all there is to do where nothing is computed.
struct Succeeds {
  static Word call(const Words& /*words*/, const char* /*name*/) { return kSuccess; }
};

/// Argument `which`, counted from 1, is the place of a new handle or descriptor.
template <std::size_t which>
struct Creates {
  static Word call(const Words& words, const char* /*name*/) {
    *reinterpret_cast<void**>(words[which - 1]) = create_object();
    return kSuccess;
  }
};

/// Its first argument was created so.
struct Destroys {
  static Word call(const Words& words, const char* /*name*/) {
    destroy_object(reinterpret_cast<void*>(words[0]));
    return kSuccess;
  }
};

/// Argument `which` is the place of a size that is asked for.
template <typename Type, std::size_t which>
struct Size {
  static void write_zero(const Words& words) {
    if (auto* place = reinterpret_cast<Type*>(words[which - 1])) *place = 0;
  }
};

template <std::size_t which>
using SizeAt = Size<std::size_t, which>;
template <std::size_t which>
using IntAt = Size<std::int32_t, which>;
template <std::size_t which>
using LongAt = Size<std::int64_t, which>;

/// How much memory something takes beside its operands: none, where the real library's figure is
/// not known. Marked as modelled in docs/model-limits.md.
template <typename... Sizes>
struct NeedsNothing {
  static Word call(const Words& words, const char* /*name*/) {
    (Sizes::write_zero(words), ...);
    return kSuccess;
  }
};

/// A solver that says on the device, or on the host, how it went: well.
template <typename Info>
struct Solves {
  static Word call(const Words& words, const char* /*name*/) {
    Info::write_zero(words);
    return kSuccess;
  }
};

/// The same for each of a batch: argument `info` is a list with a number for each of argument
/// `count` matrices.
template <std::size_t info, std::size_t count, typename... Others>
struct SolvesBatch {
  static Word call(const Words& words, const char* /*name*/) {
    (Others::write_zero(words), ...);
    auto* const infos = reinterpret_cast<std::int32_t*>(words[info - 1]);
    const auto matrices = static_cast<std::int32_t>(words[count - 1]);
    for (std::int32_t i = 0; infos != nullptr && i < matrices; ++i) infos[i] = 0;
    return kSuccess;
  }
};

/// A text about an error that cannot be.
struct SaysNothing {
  static Word call(const Words& /*words*/, const char* /*name*/) {
    return reinterpret_cast<Word>("no error");
  }
};

/// The same through argument `which`.
template <std::size_t which>
struct SaysNothingAt {
  static Word call(const Words& words, const char* /*name*/) {
    *reinterpret_cast<const char**>(words[which - 1]) = "no error";
    return kSuccess;
  }
};

/// Prints the name, the first time.
void report_unsupported(const char* name);

/// What the stand-in cannot do: says so once for each, by name, and fails with the library's own
/// code for what it does not support.
template <int code>
struct Unsupported {
  static Word call(const Words& /*words*/, const char* name) {
    report_unsupported(name);
    return static_cast<Word>(code);
  }
};

/// The same without a word: what programs try, and do without.
template <int code>
struct Declines {
  static Word call(const Words& /*words*/, const char* /*name*/) { return static_cast<Word>(code); }
};

}  // namespace ohm::interpose

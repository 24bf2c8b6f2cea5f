// The behaviour of entry points that have no function of their own, by the classes of
// entry_points.def. A stub sees the words of its call (integers and pointers, without floating
// arguments) as the x86-64 and AArch64 calling conventions pass them, and reads only those that its
// class names: the others may not be there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "allocator_shim/interpose/blas_calls.h"
#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/stub_work.h"

namespace ohm::interpose {

using enum Assumption;

/// Whether a call of the driver fails before cuInit: log callbacks are registered before it.
constexpr bool needs_cuinit(std::string_view library, std::string_view name) {
  return library == "cuda" && !name.starts_with("cuLogs");
}

/// Whether a call initializes the driver. NVML and compilers do not, and neither does registering
/// the kernels of a program while it is loaded.
constexpr bool initializes(std::string_view library, std::string_view name) {
  for (const std::string_view other :
       {"cuda", "nvml", "nvrtc", "nvJitLink", "cupti", "cufile", "nvToolsExt"}) {
    if (library == other) return false;
  }
  return !name.starts_with("__cuda");
}

/// Whether calls are work that may write device memory: those of the mathematical libraries.
constexpr bool may_write(std::string_view library) {
  for (const std::string_view one :
       {"cublas", "cublasLt", "cudnn", "cufft", "curand", "cusolver", "cusparse", "cusparseLt"}) {
    if (library == one) return true;
  }
  return false;
}

/// Argument `Which`, counted from 1, is the place of a new handle or descriptor.
template <std::size_t Which>
struct Creates {
  static Word call(const Words& words, const char* name) {
    auto* const place = reinterpret_cast<void**>(words[Which - 1]);
    if (place == nullptr) return static_cast<Word>(invalid_argument_of(library_of_call(name)));
    *place = create_object();
    return kSuccess;
  }
};

/// The same for what would take memory of the GPU: none, as the real library's figure is not known.
template <Assumption What, std::size_t Which>
struct CreatesTakingNothing {
  static Word call(const Words& words, const char* name) {
    note_assumption(What);
    return Creates<Which>::call(words, name);
  }
};

/// Its first argument was created so. To destroy nothing is no error.
struct Destroys {
  static Word call(const Words& words, const char* name) {
    const bool is_right = words[0] == 0 || destroy_object(reinterpret_cast<void*>(words[0]));
    return is_right ? kSuccess : static_cast<Word>(dead_handle_of(library_of_call(name)));
  }
};

/// Argument `Which` is the place of a size that is asked for.
template <typename Type, std::size_t Which>
struct Size {
  static void write_zero(const Words& words) {
    if (auto* place = reinterpret_cast<Type*>(words[Which - 1])) *place = 0;
  }
};

template <std::size_t Which>
using SizeAt = Size<std::size_t, Which>;
template <std::size_t Which>
using IntAt = Size<std::int32_t, Which>;
template <std::size_t Which>
using LongAt = Size<std::int64_t, Which>;

/// Asks for numbers, and all of them are 0.
template <typename... Sizes>
struct NeedsNothing {
  static Word call(const Words& words, const char* /*name*/) {
    (Sizes::write_zero(words), ...);
    return kSuccess;
  }
};

/// Whether a call of cuSOLVER or cuSPARSE, whose first argument is a handle, has none.
inline bool lacks_handle(const Words& words, const char* name) {
  if (words[0] != 0) return false;
  const CallLibrary library = library_of_call(name);
  return library == CallLibrary::cusolver || library == CallLibrary::cusparse;
}
inline Word no_handle(const char* name) {
  return static_cast<Word>(dead_handle_of(library_of_call(name)));
}

/// How much memory something takes beside its operands: none, as the real library's figure is not
/// known.
template <Assumption What, typename... Sizes>
struct TakesNothing {
  static Word call(const Words& words, const char* name) {
    if (lacks_handle(words, name)) return no_handle(name);
    note_assumption(What);
    (Sizes::write_zero(words), ...);
    return kSuccess;
  }
};

/// A solver that says on the device, or on the host, how it went: well.
template <typename Info>
struct Solves {
  static Word call(const Words& words, const char* name) {
    if (lacks_handle(words, name)) return no_handle(name);
    Info::write_zero(words);
    return kSuccess;
  }
};

/// The same for each of a batch: argument `Info` is a list with a number for each of argument
/// `Count` matrices.
template <std::size_t Info, std::size_t Count, typename... Others>
struct SolvesBatch {
  static Word call(const Words& words, const char* name) {
    if (lacks_handle(words, name)) return no_handle(name);
    (Others::write_zero(words), ...);
    auto* const infos = reinterpret_cast<std::int32_t*>(words[Info - 1]);
    const auto matrices = static_cast<std::int32_t>(words[Count - 1]);
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

/// The same through argument `Which`.
template <std::size_t Which>
struct SaysNothingAt {
  static Word call(const Words& words, const char* /*name*/) {
    *reinterpret_cast<const char**>(words[Which - 1]) = "no error";
    return kSuccess;
  }
};

/// Prints the name, the first time.
void report_unsupported(const char* name);
/// Whether the program is to go on without what is not there (kAllowMissingVariable).
bool is_missing_allowed();

/// What the stand-in cannot do: says so once for each, by name, and fails with the library's own
/// code for what it does not support, or passes for done where that is allowed.
template <int Code>
struct Unsupported {
  static Word call(const Words& /*words*/, const char* name) {
    report_unsupported(name);
    return is_missing_allowed() ? kSuccess : static_cast<Word>(Code);
  }
};

/// The same for what programs link to. Those that ask for functions by name are told that there is
/// none, and do without (function_table.h).
template <int Code>
struct Absent : Unsupported<Code> {};

/// The same without a word: what programs try, and do without.
template <int Code>
struct Declines {
  static Word call(const Words& /*words*/, const char* /*name*/) { return static_cast<Word>(Code); }
};

}  // namespace ohm::interpose

// Stacks of a program without Python, as ohm exec puts them into a snapshot.
//
// The first frame is CUDA's function, in no file. The others are the program's calls: with the line
// of the source, or, where that is not known, with the file of the program and line 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "allocator_shim/observe/stack_table.h"
#include "allocator_shim/snapshot/snapshot.h"
#include "reports/model/memory_result.h"

namespace ohm::reports {

/// An annotation of the snapshot of such a program.
inline constexpr std::string_view kNativeProgramNote = "ohm exec native program";
/// The file of its first frames.
inline constexpr std::string_view kCudaFunctionFile = "<CUDA>";

bool is_of_native_program(const Snapshot& snapshot);
/// Python's: it runs what others wrote. By the name of the file.
bool is_of_interpreter(std::string_view path);
bool is_native_stack(const StackTable& tables, StackId stack);

/// The place in such a stack of the innermost call with a source of the user's; without one, of the
/// innermost in a file of the user's; without one, of the innermost.
/// What is installed, the toolkit's headers and Python's interpreter are not the user's.
std::optional<std::size_t> named_native_frame(const StackTable& tables, StackId stack);

/// What a record shows in one line: its events, and how it ran out of memory.
std::string native_reason(const std::string& events, const std::optional<OomResult>& oom,
                          std::optional<std::uint32_t> oom_event);

}  // namespace ohm::reports

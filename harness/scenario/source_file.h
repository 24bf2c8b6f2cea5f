// The text of a scenario file, or a clear reason why it is not one.
#pragma once

#include <cstddef>
#include <string>

namespace ohm::engine {

/// A script larger than this is taken for something else.
inline constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20U;

/// Throws ScriptError with a hint when the file is missing, a directory or not a file at all,
/// cannot be read, is empty, too large, binary, or not UTF-8. A byte order mark is dropped.
std::string read_source_file(const std::string& path);

}  // namespace ohm::engine

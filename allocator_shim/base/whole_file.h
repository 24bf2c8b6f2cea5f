// Files that are read at once.
#pragma once

#include <string>

namespace ohm {

/// The bytes of the file at `path`. Throws std::system_error with the system's reason, which is not
/// preceded by the path: it is a directory, there is none, it may not be
/// read, it does not end (InputFile::kMostBytes).
std::string read_whole_file(const std::string& path);

}  // namespace ohm

// All bytes of a file, where one that is not there is as good as an empty one.
#pragma once

#include <string>

namespace ohm::engine {

/// Empty where it cannot be read.
std::string read_file_bytes(const std::string& path);

}  // namespace ohm::engine

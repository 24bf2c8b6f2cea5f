// Text that a command is given: a file, or standard input.
#pragma once

#include <string>

namespace ohm::cli {

/// "-", or nothing.
bool is_stdin(const std::string& path);

/// All of it, or the last 16 MiB of more. Throws UsageError, which begins with `option` where it is
/// not empty, for what cannot be read.
std::string read_text_input(const std::string& path, const std::string& option);

}  // namespace ohm::cli

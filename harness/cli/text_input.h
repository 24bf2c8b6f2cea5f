// Text that a command is given: a file, or standard input.
#pragma once

#include <string>

namespace ohm::cli {

/// "-", or nothing.
bool is_stdin(const std::string& path);

/// All of it. Throws UsageError, which begins with `option`, for what cannot be read and for more
/// than 16 MiB: a log of a crash, not of a year.
std::string read_text_input(const std::string& path, const std::string& option);

}  // namespace ohm::cli

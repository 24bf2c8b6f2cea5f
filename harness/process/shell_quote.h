// Text as a word of a shell command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ohm::engine {

/// As it is where no shell would touch it, else in single quotes.
std::string shell_quoted(std::string_view text);

/// Words of a command line, with blanks between.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace ohm::engine

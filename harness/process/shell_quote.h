// Text as a word of a shell command.
#pragma once

#include <string>
#include <string_view>

namespace ohm::engine {

/// As it is where no shell would touch it, else in single quotes.
std::string shell_quoted(std::string_view text);

}  // namespace ohm::engine

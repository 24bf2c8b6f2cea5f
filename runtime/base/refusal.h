// An argument refused in the name of the op that is running, by code that does not know the name.
#pragma once

#include <string_view>

namespace ohm {

/// Throws std::invalid_argument("[add] text"), with the name of the op that is running; outside
/// any, the text alone.
[[noreturn]] void refuse(std::string_view text);

}  // namespace ohm

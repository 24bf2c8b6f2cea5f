// How what knows no op's name refuses an argument all the same in the op's name.
#pragma once

#include <string_view>

namespace ohm {

/// Throws std::invalid_argument("[add] text"), with the name of the op that is running; outside
/// any, the text alone. Defined in context.cpp.
[[noreturn]] void refuse(std::string_view text);

}  // namespace ohm

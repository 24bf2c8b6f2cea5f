// Bad verdicts of a command that its user has looked at and accepts.
#pragma once

#include <string_view>

#include "harness/scenario/scenario.h"

namespace ohm::engine {

/// "VERDICT=REASON" or "ohm:HEX=REASON". Throws std::invalid_argument.
Waiver parse_waiver(std::string_view text);

}  // namespace ohm::engine

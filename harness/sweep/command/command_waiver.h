// Bad verdicts of a command that its user has looked at and accepts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/sweep_result.h"

namespace ohm::engine {

struct CommandWaiver {
  std::string verdict;  ///< its name; empty: whichever
  std::string point;    ///< "ohm:3f9c22d1"; empty: wherever
  std::string reason;
};

/// "VERDICT=REASON" or "ohm:HEX=REASON". Throws std::invalid_argument.
CommandWaiver parse_waiver(std::string_view text);

/// The reason of the first waiver that is meant for a fault; empty: there is none.
std::string waived_reason(const std::vector<CommandWaiver>& waivers, FaultVerdict verdict,
                          const std::string& point);

}  // namespace ohm::engine

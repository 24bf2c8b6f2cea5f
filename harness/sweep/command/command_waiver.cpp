#include "harness/sweep/command/command_waiver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/model/sweep_result.h"

namespace ohm::engine {

Waiver parse_waiver(std::string_view text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string_view::npos || equal + 1 == text.size()) {
    throw std::invalid_argument(fmt::format(
        "\"{}\": a waiver is VERDICT=REASON, or POINT=REASON with a point as ohm:3f9c22d1", text));
  }
  Waiver waiver;
  waiver.reason = text.substr(equal + 1);
  const std::string what(text.substr(0, equal));
  if (what.starts_with("ohm:")) {
    waiver.point = what;
    return waiver;
  }
  std::vector<std::string_view> bad;
  for (const auto& row : kFaultVerdicts) {
    if (!row.is_good) bad.push_back(row.name);
  }
  if (std::find(bad.begin(), bad.end(), what) == bad.end()) {
    throw std::invalid_argument(
        fmt::format("\"{}\" is none of the bad verdicts {}", what, fmt::join(bad, ", ")));
  }
  waiver.verdict = what;
  return waiver;
}

}  // namespace ohm::engine

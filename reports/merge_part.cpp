#include "reports/merge_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace ohm::reports {

using Json = nlohmann::json;

void refuse(const ShardPart& part, std::string_view why) {
  throw std::invalid_argument(fmt::format("{}: {}", part.name, why));
}

void require_equal(const Json& sum, const Json& more, std::string_view field,
                   const ShardPart& part) {
  if (sum.at(field) == more.at(field)) return;
  refuse(part, fmt::format("of other work: its {} is {}, not {}", field, more.at(field).dump(),
                           sum.at(field).dump()));
}

std::int64_t as_count(const Json& value, std::string_view field, const ShardPart& part) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;  // sums of two do not overflow
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) {
    refuse(part, fmt::format("a field is wrong: {} is {}, no count", field, value.dump()));
  }
  return value.get<std::int64_t>();
}

ExitReason exit_reason_of(const ShardPart& part) {
  const Json& name = part.json.at("exit_reason");
  const auto* const known = std::find_if(
      kExitCodes.begin(), kExitCodes.end(),
      [&](const ExitCode& code) { return name.is_string() && name == std::string(code.reason); });
  if (known == kExitCodes.end()) {
    refuse(part, fmt::format("exit_reason {} is unknown", name.dump()));
  }
  return static_cast<ExitReason>(known - kExitCodes.begin());
}

void merge_exit_reason(ShardPart& sum, const ShardPart& more) {
  const ExitReason reason = worse_of(exit_reason_of(sum), exit_reason_of(more));
  sum.json.at("exit_reason") = exit_code(reason).reason;
}

}  // namespace ohm::reports

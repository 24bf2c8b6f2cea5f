// What merging reports of every kind is made of.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reports/exit_code.h"

namespace ohm::reports {

/// A parsed report of one shard.
struct ShardPart {
  std::string name;
  nlohmann::json json;
};

/// Throws std::invalid_argument: `part` cannot be merged.
[[noreturn]] void refuse(const ShardPart& part, std::string_view why);

/// Throws unless the objects have the same there.
void require_equal(const nlohmann::json& sum, const nlohmann::json& more, std::string_view field,
                   const ShardPart& part);

/// Throws unless `value`, which the part has as `field`, is a number from 0 on of which two can be
/// added.
std::int64_t as_count(const nlohmann::json& value, std::string_view field, const ShardPart& part);
inline std::int64_t count_of(const nlohmann::json& object, std::string_view field,
                             const ShardPart& part) {
  return as_count(object.at(field), field, part);
}

ExitReason exit_reason_of(const ShardPart& part);

/// The exit reason of both.
void merge_exit_reason(ShardPart& sum, const ShardPart& more);

/// Adds what another shard of the same sweep injected.
void merge_sweep(ShardPart& sum, const ShardPart& more);

/// Puts the scenarios of all shards in the order in which their files were given. `parts` are by
/// their number, each once.
ShardPart merged_run(std::vector<ShardPart> parts);

}  // namespace ohm::reports

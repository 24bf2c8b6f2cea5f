// Parts of a merge, and the checks that reports of every kind share.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/exit_code.h"

namespace ohm::reports {

/// A parsed report of one shard.
struct ShardPart {
  std::string name;
  nlohmann::json json;
};

/// Throws std::invalid_argument: `part` cannot be merged.
[[noreturn]] void refuse(const ShardPart& part, std::string_view why);

/// The same, since `part` has another value as `field` than the first shard.
[[noreturn]] void refuse_other_work(const ShardPart& first, const ShardPart& part,
                                    std::string_view field, const nlohmann::json& found,
                                    const nlohmann::json& expected);

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

/// The list or the object that the part has as `field`. Throws for anything else there.
const nlohmann::json& list_of(const nlohmann::json& object, std::string_view field,
                              const ShardPart& part);
const nlohmann::json& object_of(const nlohmann::json& object, std::string_view field,
                                const ShardPart& part);

/// Throws unless both say that they are shards of one work: the same settings, the same files.
void require_same_work(const ShardPart& first, const ShardPart& part);

ExitReason exit_reason_of(const ShardPart& part);

/// The exit reason of both.
void merge_exit_reason(ShardPart& sum, const ShardPart& more);

/// Throws unless the part has lists and objects where those of a sweep are.
void require_sweep(const ShardPart& part);

/// Adds what another shard of the same sweep injected. Both are sweeps.
void merge_sweep(ShardPart& sum, ShardPart& more);
/// After the last one: what failed is put in the order in which one machine lists it.
void finish_sweep(ShardPart& sum);

/// The scenarios of the shards of a run, which each has some of.
class MergedRun {
 public:
  /// Takes the scenarios out of the part.
  void add(ShardPart& part);
  /// Puts them into what was the first part, in the order in which their files were given.
  void finish(ShardPart& sum);

 private:
  struct PlacedScenario {
    std::int64_t file;  ///< which of those that were given
    nlohmann::json json;
  };

  std::vector<PlacedScenario> all_;
  ExitReason exit_reason_ = ExitReason::passed;
};

}  // namespace ohm::reports

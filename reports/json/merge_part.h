// Parts of a merge, and the checks that reports of every kind share.
#pragma once

#include <cstdint>
#include <memory>
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

/// Throws unless both say that they are of one work: the same settings, the same files.
void require_same_work(const ShardPart& first, const ShardPart& part);

ExitReason exit_reason_of(const ShardPart& part);

/// The exit reason of both.
void merge_exit_reason(ShardPart& sum, const ShardPart& more);

/// The shards of one kind of work, one after the other. What is wrong with one throws
/// std::invalid_argument, or an exception of the JSON library.
class ShardMerge {
 public:
  virtual ~ShardMerge() = default;
  /// Takes from the first one what is not merged in its place.
  virtual void begin(ShardPart& sum) = 0;
  /// Takes another one, of the same work.
  virtual void add(ShardPart& sum, ShardPart& part) = 0;
  /// After the last one: makes `sum` what one machine would have written, but for its shard.
  virtual void finish(ShardPart& sum) = 0;
};

std::unique_ptr<ShardMerge> merge_of_runs();
std::unique_ptr<ShardMerge> merge_of_sweeps();
std::unique_ptr<ShardMerge> merge_of_fits();
std::unique_ptr<ShardMerge> merge_of_verifications();

/// What of a kind of work has shards of its own.
struct MergeSubject {
  std::string key;
  std::string text;  ///< for people
};

/// Of a verification: its card.
MergeSubject card_of_part(const ShardPart& part);

/// Adds to a verification of all variants, of whatever cards, one of the same work on others.
void join_cards(ShardPart& sum, ShardPart& more);

}  // namespace ohm::reports

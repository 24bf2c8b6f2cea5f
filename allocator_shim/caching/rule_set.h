// Rule sets: the versions of PyTorch that the allocator can behave as. A row of differences for
// each; all else is the same in every version.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ohm {

struct RuleSet {
  std::string_view name;
  /// set_per_process_memory_fraction(1.0) removes the limit. Otherwise it is a limit like others:
  /// requests above it never reach the device, and it arms the garbage collection.
  bool fraction_of_one_is_no_limit = false;
  /// `>` in roundup_power2_divisions overwrites the entry that stands before it.
  bool greater_than_overwrites_last_entry = true;
  std::size_t smallest_max_split_size_mb = 21;
  /// Where the out-of-memory message tells the user to put settings.
  std::string_view settings_variable;
  /// cuBLASLt's workspace stays with the handle; else each call takes one.
  bool keeps_lt_workspaces = false;
};

/// The first one is the default.
std::span<const RuleSet> rule_sets();
const RuleSet& default_rule_set();

/// Throws std::invalid_argument that suggests the nearest name.
const RuleSet& find_rule_set(std::string_view name);

/// The same; no name is the default one's.
const RuleSet& rule_set_or_default(std::string_view name);

}  // namespace ohm

// The share of the work that a result is of, where several machines divide it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reports/model/fields.h"

namespace ohm {

/// A file that was given, or a module.
struct ShardInput {
  std::string file;
  std::string hash;  ///< of its text; empty: it cannot be read

  static constexpr const char* kSchemaName = "shard_input";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ShardInput;
    visit("file", &T::file);
    visit("hash", &T::hash, "Hash of its text; empty if it cannot be read.");
  }
};

struct ShardResult {
  std::int64_t number = 1;  ///< from 1
  std::int64_t count = 1;
  /// Of a run: which of the files that were given each scenario is, from 1. A shard of a sweep has
  /// all of them.
  std::vector<std::int64_t> files;
  /// What the results depend on, equal in all shards of one work; an older version's have neither.
  std::map<std::string, std::string> settings;
  std::vector<ShardInput> inputs;  ///< in the order given, then what they require

  static constexpr const char* kSchemaName = "shard";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ShardResult;
    visit("number", &T::number, "Number of the shard, from 1.");
    visit("count", &T::count);
    visit("files", &T::files, Presence::optional,
          "Which of the files that were given each scenario is, from 1; absent without scenarios.");
    visit("settings", &T::settings, Presence::optional,
          "What the result depends on, by the names of the options: equal in all shards.");
    visit("inputs", &T::inputs, Presence::optional,
          "The files that were given, in that order, then the modules that they require: equal in "
          "all shards.");
  }
};

}  // namespace ohm

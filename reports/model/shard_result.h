// Which part of the work a result is of, where several machines share it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ohm {

/// A file that was given, or a module.
struct ShardInput {
  std::string file;
  std::string hash;  ///< of its text; empty: it cannot be read
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
};

}  // namespace ohm

// The directions of the architecture, as a check on a source tree: which room may include which,
// and what is fenced in to certain folders (Lua, CLI11, CUDA, dlsym, the clock, entropy).
//
// Both tables stand in include_rules.cpp. A new folder is a row there: a source outside every row
// is a breach.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/style/source_tree.h"

namespace ohm::style {

/// A room: a folder without those of its folders that have a row of their own. It may include the
/// rooms directly below it, and what these may include.
struct Room {
  std::string_view folder;  ///< a `*` stands for any one folder: the row is of all of them
  std::vector<std::string_view> below;
};

/// The table, with each row below those that it may include.
const std::vector<Room>& rooms();

/// The breaches of both tables, in the order of the files.
std::vector<Breach> find_rule_breaches(const std::vector<SourceFile>& sources);

/// The rooms of a table that stand above one that they may include: none, or the table has cycles.
std::vector<std::string> rooms_above_themselves(const std::vector<Room>& table);

/// What the table allows and no source needs, in words: rooms without sources, and permissions
/// whose includes the other permissions of the room allow, too.
std::vector<std::string> find_unused_permissions(const std::vector<SourceFile>& sources);

}  // namespace ohm::style

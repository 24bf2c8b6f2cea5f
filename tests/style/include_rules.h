// The directions of the architecture, as a check on a source tree: which room may include which,
// and what is fenced in to certain folders (Lua, CLI11, CUDA, dlsym, the clock, entropy).
//
// Both tables stand in include_rules.cpp. A new folder is a row there: a source outside every row
// is a breach.
#pragma once

#include <string>
#include <vector>

#include "tests/style/source_tree.h"

namespace ohm::style {

/// The breaches of both tables, in the order of the files.
std::vector<Breach> find_rule_breaches(const std::vector<SourceFile>& sources);

/// The rooms of the table that stand above one that they may include: none, or the table has
/// circles.
std::vector<std::string> rooms_above_themselves();

}  // namespace ohm::style

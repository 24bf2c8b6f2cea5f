// Cycles of sources that include each other, directly or by way of others.
#pragma once

#include <string>
#include <vector>

#include "tests/style/source_tree.h"

namespace ohm::style {

/// One breach for each cycle, by path. A header and the sources of its name are one unit: what a
/// source includes its header needs, too. The breach is told of the unit's first file and names
/// the shortest way around.
std::vector<Breach> find_include_cycles(const std::vector<SourceFile>& sources);

}  // namespace ohm::style

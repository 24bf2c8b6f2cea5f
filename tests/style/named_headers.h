// The headers that comments name: "see functors/rows.h" has to lead somewhere.
#pragma once

#include <filesystem>
#include <vector>

#include "tests/style/source_tree.h"

namespace ohm::style {

/// The comments after `//` in allocator_shim, runtime, reports and harness that name a header which
/// is not there, by path and line. A header may be named by the end of its path.
std::vector<Breach> find_missing_headers(const std::filesystem::path& root);

}  // namespace ohm::style

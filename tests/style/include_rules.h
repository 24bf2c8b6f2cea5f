// The directions of the architecture, as a check on a source tree: which folder may include which,
// and what is fenced in to certain folders (Lua, CLI11, CUDA, dlsym, the clock, entropy).
//
// Both tables stand in include_rules.cpp. A new folder is a row there: a source outside every row
// is a breach.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ohm::style {

struct Breach {
  std::string file;  ///< relative to the root of the tree
  int line = 0;      ///< 1-based
  std::string what;  ///< the rule, in words

  friend bool operator==(const Breach&, const Breach&) = default;
};

/// The breaches in the C++ and CUDA sources under `root` (allocator_shim, runtime, reports,
/// harness), by file and line. Throws std::runtime_error when a file cannot be read.
std::vector<Breach> find_breaches(const std::filesystem::path& root);

/// `text` without comments and without the contents of literals; lines stay where they are, and
/// lines with an #include stay as they are.
std::string code_of(const std::string& text);

}  // namespace ohm::style

// Sources that no target compiles: the tree compared with the list that CMake writes.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::style {

/// A source that is in a target only where the build has something that not every machine has.
struct ConditionalSource {
  std::string_view path;  ///< from the root of the tree
  std::string_view needs;
};
const std::vector<ConditionalSource>& conditional_sources();

/// The lines of a file: one path each, from the root of the tree. Throws std::runtime_error when it
/// cannot be read.
std::set<std::string> read_target_sources(const std::filesystem::path& list);

/// The .cpp files below `root` (allocator_shim, runtime, reports, harness, tests) that are neither
/// in `compiled` nor conditional, in order.
std::vector<std::string> find_uncompiled_sources(const std::filesystem::path& root,
                                                 const std::set<std::string>& compiled);

}  // namespace ohm::style

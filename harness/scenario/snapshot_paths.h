// The paths of the snapshots that `--snapshot` writes: one for each variant that is selected.
#pragma once

#include <string>
#include <vector>

namespace ohm::engine {

/// A path in which {scenario} stands for the stem of the scenario's file and {variant} for the
/// variant's name; a folder stands for FOLDER/{scenario}.{variant}.pickle.
class SnapshotPaths {
 public:
  SnapshotPaths() = default;
  /// Throws std::invalid_argument for other words in braces, and when the snapshots of two of the
  /// scenario files would go to the same place.
  SnapshotPaths(std::string pattern, const std::vector<std::string>& scenario_files);

  bool empty() const { return pattern_.empty(); }
  /// As it was given.
  const std::string& text() const { return text_; }
  /// Otherwise only one variant of a scenario can have a snapshot.
  bool tells_variants_apart() const;
  std::string path_for(const std::string& scenario_file, const std::string& variant) const;

 private:
  std::string text_;
  std::string pattern_;
};

}  // namespace ohm::engine

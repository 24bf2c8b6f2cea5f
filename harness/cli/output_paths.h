// The paths that a command reads and writes: none of them may take the place of another.
#pragma once

#include <string>
#include <vector>

namespace ohm::cli {

class OutputPaths {
 public:
  /// `read` are files that the command reads.
  explicit OutputPaths(std::vector<std::string> read) : taken_(std::move(read)) {}

  /// Takes a path to write to; `option` is how the user gave it. The standard output and devices
  /// can be taken many times. Throws UsageError for a file that is taken already.
  void add(const std::string& option, const std::string& path);

 private:
  std::vector<std::string> taken_;
};

}  // namespace ohm::cli

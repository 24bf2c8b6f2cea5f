// The paths that a command reads and writes: none of them may take the place of another.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ohm::cli {

class OutputPaths {
 public:
  /// `read` are files that the command reads.
  explicit OutputPaths(std::vector<std::string> read) : read_(std::move(read)) {}

  /// Takes a path to write to; `option` is how the user gave it. The standard output and devices
  /// can be taken many times. Throws UsageError for a file that is taken already, by whatever name,
  /// and for a scenario or a baseline that is there.
  void add(const std::string& option, const std::string& path);

 private:
  static void check(const std::string& option, const std::string& path,
                    const std::vector<std::string>& taken);

  std::vector<std::string> read_;
  std::vector<std::string> written_;
};

}  // namespace ohm::cli

// The lines of the scripts that a result names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/model/run_result.h"

namespace ohm::engine {

/// Reads each file once. A file that cannot be read has no lines.
class SourceLines {
 public:
  const std::vector<std::string>& of(const std::string& file);

  /// Without blanks around; empty for a line that is not there. Lines count from 1.
  std::string text(const std::string& file, int line);

  void fill_in(std::vector<HolderResult>& holders);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace ohm::engine

// The lines of the scripts that a result names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/scenario/script_sources.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

/// Reads each file once, but for those of the scenario that ran. A file that cannot be read has no
/// lines.
class SourceLines {
 public:
  SourceLines(const std::string& script, const ScriptSources& sources);

  const std::vector<std::string>& of(const std::string& file);

  /// Without blanks around; empty for a line that is not there. Lines count from 1.
  std::string text(const std::string& file, int line);

  void fill_in(std::vector<HolderResult>& holders);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace ohm::engine

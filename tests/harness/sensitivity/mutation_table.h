// The table of how many mutants of scenarios' sources are noticed, kind by kind.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/scenario/scenario.h"
#include "tests/harness/sensitivity/source_mutants.h"
#include "tests/support/temp_folder.h"

namespace ohm::test {

enum class Noticed {
  by_run,       ///< a variant does not do what its role says, or the scenario is refused
  by_baseline,  ///< every variant does, and one of them is not what the baseline has
  not_at_all,
};

/// Mutants that do what the original does, one in a line of a file: "scenario | kind | where |
/// reason". A `*` stands for every scenario, or every place.
class EquivalentMutants {
 public:
  /// Throws std::runtime_error for a line that does not have four parts.
  explicit EquivalentMutants(const std::string& text);

  bool has(const std::string& scenario, const SourceMutant& mutant);
  /// Lines about this scenario alone that no call of has() was about.
  std::vector<std::string> unused(const std::string& scenario) const;

 private:
  struct Line {
    std::string scenario;
    std::string kind;
    std::string where;
    bool is_used = false;
  };
  std::vector<Line> lines_;
};

class MutationTable {
 public:
  explicit MutationTable(EquivalentMutants equivalent) : equivalent_(std::move(equivalent)) {}

  /// Runs all mutants of a scenario's file, beside which its baseline and `lib` are. Throws
  /// std::runtime_error for a file that cannot be loaded or does not pass as it is.
  void add(const std::string& path);

  std::string text() const;
  /// Mutants that nothing notices, and lines of the equivalent ones that are not needed.
  const std::vector<std::string>& missed() const { return missed_; }

 private:
  struct Counts {
    int mutants = 0;
    int by_run = 0;
    int by_baseline = 0;
    int equivalent = 0;
    int missed = 0;
  };

  void count(const std::string& scenario, const std::string& file, const SourceMutant& mutant);

  TempFolder folder_;
  EquivalentMutants equivalent_;
  std::vector<std::string> kinds_;  ///< in the order of their first mutants
  std::map<std::string, Counts> counts_;
  std::vector<std::string> missed_;
};

}  // namespace ohm::test

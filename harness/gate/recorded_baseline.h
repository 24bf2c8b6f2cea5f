// The comparison of a recording with earlier recordings of the same job.
//
// Several recordings of one job make the tolerance: a figure may be above the largest of them by as
// much as they are apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/gate/baseline.h"
#include "harness/gate/baseline_check.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

struct RecordedBaselineOptions {
  /// Each a .baseline, a snapshot, or a result; empty: nothing is compared.
  std::vector<std::string> paths;
  /// Figures that fail where they grow, others are shown; empty: those of default_measures().
  std::vector<std::string> measures;
  /// Figures may also be above the largest by so many percent: real devices are not exact.
  double tolerance_percent = 0;
  /// Figures that depend on values that no kernel computed are compared, too; else they are an
  /// error.
  bool allows_unknown_values = false;
  /// Figures that rest on what is modelled are an error.
  bool refuses_modelled = false;
};

/// What a program needs of a GPU, or of the host: its peaks, what it has more after each step, and
/// out-of-memory errors. How the allocator came by it, and how many steps there were, is shown.
std::vector<std::string> default_measures();

/// As options of a command line, each with a blank before it.
std::string baseline_words(const RecordedBaselineOptions& options);

class RecordedBaseline {
 public:
  /// Throws BaselineError for files, of figures that are not allowed, too; std::invalid_argument
  /// for a measure that no baseline has.
  explicit RecordedBaseline(RecordedBaselineOptions options);

  bool is_there() const { return !baselines_.empty(); }
  bool allows_unknown_values() const { return options_.allows_unknown_values; }
  bool refuses_modelled() const { return options_.refuses_modelled; }

  struct Outcome {
    bool fails = false;
    std::string reason;         ///< what fails first, then what else differs; empty: nothing does
    std::string figure;         ///< that fails first; empty: none does
    reports::VariantDiff diff;  ///< from the first baseline
  };
  /// Of the one variant of a recording. `is_only`: there are no other processes, so that a single
  /// baseline is meant for this one. `limits`: that it is held to, beside; others than those of the
  /// baseline are told, and fail nothing.
  Outcome judge(const ScenarioResult& scenario, bool is_only,
                const std::vector<std::string>& limits) const;

 private:
  struct File {
    std::string path;
    /// By the name of the scenario, that is of the process; a file of another format has one
    /// without.
    std::map<std::string, Baseline> of_processes;
  };
  /// One figure, here and in the recordings before.
  struct Figure {
    std::string name;
    Unit unit = Unit::bytes;
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::int64_t now = 0;

    std::int64_t increase() const { return now - most; }
    std::int64_t decrease() const { return least - now; }
  };

  std::vector<Figure> figures(const std::vector<BaselineCheck>& checks) const;
  bool is_measured(const Figure& figure) const;
  bool fails(const Figure& figure) const;
  std::string before_text() const;
  Outcome outcome(const std::vector<BaselineCheck>& checks) const;

  RecordedBaselineOptions options_;
  std::vector<File> baselines_;
};

}  // namespace ohm::engine

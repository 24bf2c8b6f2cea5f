// The options of a sweep: which calls of which variants fail, and how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run/run_options.h"
#include "harness/scenario/shard.h"
#include "harness/sweep/call_recorder.h"
#include "harness/sweep/fault_trials.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// Which calls fail: every one, the first one at each point, or some.
struct PointChoice {
  enum class Kind : std::uint8_t { all, unique, sample };
  Kind kind = Kind::unique;
  std::size_t sample = 0;  ///< how many calls of each variant, spread evenly

  std::string text() const;
};

/// "all", "unique" or "sample=N". Throws std::invalid_argument.
PointChoice parse_point_choice(std::string_view text);

struct SweepOptions {
  /// Files, selection, jobs, GPUs, caps and seed as of a run; its timeout is that of a whole
  /// variant without faults. Its fault plan has to be empty.
  RunOptions run;
  PointChoice points;
  std::vector<FaultForm> forms = {FaultForm::transient};
  CallFilter filter;
  TrialsOptions trials;
  Shard shard;  ///< of all faults of each variant
};

}  // namespace ohm::engine

// The choice of a sweep's faults: which calls of a variant fail, and in which form.
//
// Note [Spread]
// What a program does about a failure in its first pass through a loop can be wrong in a later one:
// gradients are there by then, states, caches, the last of several batches. `spread` fails the
// first pass of each point, the last one, and one between them, once and for good. First passes
// fail once in any case; the rest is chosen as long as it costs no more than these do, the last
// passes before the middle ones, the cheap before the dear. What a failure costs is counted in
// requests, which are the same on every machine: those from the failed one to the end, and as many
// as take the time that a copy of the process does; the whole run where a process cannot be copied
// (see Note [Fork at the fault]). A failure for good is mostly no run of its own (see Note [Both
// forms]) and counts as none, except where it is a whole one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/sweep/call_recorder.h"
#include "harness/sweep/fault_task.h"

namespace ohm::engine {

/// Which calls fail: the first, a middle and the last one at each point, the first one at each,
/// every one, or some.
struct PointChoice {
  enum class Kind : std::uint8_t { spread, unique, all, sample };
  Kind kind = Kind::spread;
  std::size_t sample = 0;  ///< how many calls of each variant, spread evenly

  std::string text() const;
  /// The forms in which calls fail where no option says: `spread` tries both.
  std::vector<FaultForm> forms() const;
};

/// "spread", "unique", "all" or "sample=N". Throws std::invalid_argument.
PointChoice parse_point_choice(std::string_view text);

struct ChosenFaults {
  std::vector<FaultTask> tasks;   ///< in the order of the calls; transient before persistent
  std::size_t beyond_budget = 0;  ///< failures that `spread` would have chosen if they cost less
};

/// Equal calls bring equal choices. `forms` are in their order and not empty.
ChosenFaults chosen_faults(const RecordedCalls& calls, const PointChoice& choice,
                           const std::vector<FaultForm>& forms);

}  // namespace ohm::engine

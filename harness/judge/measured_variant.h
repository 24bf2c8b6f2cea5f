// The figures and values that came back from the process of one variant, not judged yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/scenario/returned_value.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

struct MeasuredVariant {
  Outcome outcome = Outcome::not_run;
  std::int64_t steps = 0;             ///< marks of ohm.step()
  std::vector<DeviceResult> devices;  ///< every GPU, by index
  HostResult host;
  /// Bytes allocated at each mark: one list for each GPU, as long as `steps`.
  std::vector<std::vector<std::int64_t>> allocated_at_marks;
  std::optional<MemoryHistory> history;  ///< where it was asked for
  std::optional<RetentionResult> retention;
  std::optional<OomResult> oom;  ///< with outcome oom: the error that ended it
  /// Events before that error, with a history; not told to other processes.
  std::optional<std::uint64_t> oom_event;
  std::optional<ErrorResult> error;  ///< with outcome error, timeout or crashed
  ReturnedValues values;
  std::vector<std::string> unused_faults;  ///< plans that never fired
  std::string snapshot_error;              ///< why the snapshot that was asked for is not there
  std::string output;                      ///< what it wrote to stdout and stderr, the first part
  double seconds = 0;                      ///< wall time
};

}  // namespace ohm::engine

// The result of a command whose host memory was recorded: one scenario for each of its processes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/exec/child_command.h"
#include "harness/exec/host_record.h"
#include "harness/gate/recorded_gate.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

/// How it was run.
struct HostMachine {
  std::string limit;  ///< of each process, as it was asked for; empty: none
  std::string fault;  ///< the plan; empty: none
  std::string rerun;  ///< the command line that repeats it
};

/// A process that was killed before it could write its figures is an error of its scenario; one in
/// which a request failed has failed where the command has.
RunResult host_result(const std::vector<HostRecord>& records, const HostMachine& machine,
                      const CommandEnd& end, const RecordedGate& gate);

}  // namespace ohm::engine

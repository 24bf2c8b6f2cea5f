// The result of a command: one scenario for each of its processes that used CUDA, so that every
// report can show it.
#pragma once

#include <string>
#include <vector>

#include "harness/exec/child_command.h"
#include "harness/exec/process_record.h"
#include "harness/gate/recorded_gate.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

/// What the processes ran on.
struct CommandMachine {
  std::string profile;      ///< name of the GPU's
  std::string rerun;        ///< the command line that repeats it
  bool has_values = false;  ///< its kernels were computed
};

/// Figures are the allocator's own counters; what made up the peaks is from the snapshots, as far
/// as these reach back. A process that left none, as it was killed, is an error of its scenario;
/// one that ran out of memory in a command that failed has failed. Throws PickleError.
RunResult command_result(const std::vector<ProcessRecord>& records, const CommandMachine& machine,
                         const CommandEnd& end, const RecordedGate& gate);

}  // namespace ohm::engine

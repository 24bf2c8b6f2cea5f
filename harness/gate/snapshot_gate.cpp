#include "harness/gate/snapshot_gate.h"

#include <fmt/format.h>

#include <utility>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "harness/gate/recorded_gate.h"
#include "harness/process/shell_quote.h"
#include "reports/history/snapshot_result.h"

namespace ohm::engine {

namespace {

std::string rerun_command(const SnapshotGate& gate) {
  std::string command = "ohm replay " + shell_quoted(gate.file);
  for (const std::string& limit : gate.limits) command += " --limit " + shell_quoted(limit);
  if (!gate.baseline.empty()) command += " --baseline " + shell_quoted(gate.baseline);
  if (gate.tolerance_percent > 0) command += fmt::format(" --tolerance {}", gate.tolerance_percent);
  return command;
}

}  // namespace

RunResult judge_snapshot(const SnapshotGate& gate) {
  reports::RecordedRun recorded = reports::recorded_run(read_snapshot_file(gate.file), gate.file);
  recorded.result.scenarios.front().variants.front().rerun = rerun_command(gate);
  RecordedGate(gate.limits, RecordedCounters::absent, gate.baseline, gate.tolerance_percent)
      .judge(recorded, /*is_only=*/true);
  return std::move(recorded.result);
}

}  // namespace ohm::engine

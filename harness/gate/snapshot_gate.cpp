#include "harness/gate/snapshot_gate.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "harness/gate/recorded_gate.h"
#include "harness/process/shell_quote.h"
#include "reports/history/snapshot_result.h"
#include "reports/json/result_reader.h"

namespace ohm::engine {

namespace {

std::string rerun_command(const SnapshotGate& gate) {
  std::string command = "ohm replay " + shell_quoted(gate.file);
  for (const std::string& limit : gate.limits) command += " --limit " + shell_quoted(limit);
  return command + baseline_words(gate.baseline);
}

Snapshot judged_snapshot(const std::string& file) {
  try {
    return read_snapshot_file(file);
  } catch (const std::runtime_error& error) {
    throw reports::ResultError(error.what());
  }
}

}  // namespace

RunResult judge_snapshot(const SnapshotGate& gate) {
  reports::RecordedRun recorded = reports::recorded_run(judged_snapshot(gate.file), gate.file);
  recorded.result.scenarios.front().variants.front().rerun = rerun_command(gate);
  RecordedGate(gate.limits, RecordedCounters::absent, gate.baseline)
      .judge(recorded, /*is_only=*/true);
  return std::move(recorded.result);
}

}  // namespace ohm::engine

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
  const RecordedBaselineOptions& baseline = gate.baseline;
  for (const std::string& path : baseline.paths) command += " --baseline " + shell_quoted(path);
  for (const std::string& measure : baseline.measures) command += " --measure " + measure;
  if (baseline.tolerance_percent > 0) {
    command += fmt::format(" --tolerance {}", baseline.tolerance_percent);
  }
  if (baseline.allows_unknown_values) command += " --allow-unknown-values";
  return command;
}

/// What a job needs; how the allocator came by it is shown.
RecordedBaselineOptions with_measures(RecordedBaselineOptions baseline) {
  if (baseline.measures.empty()) {
    baseline.measures = {"peak_allocated_bytes", "peak_reserved_bytes", "num_ooms"};
  }
  return baseline;
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
  RecordedGate(gate.limits, RecordedCounters::absent, with_measures(gate.baseline))
      .judge(recorded, /*is_only=*/true);
  return std::move(recorded.result);
}

}  // namespace ohm::engine

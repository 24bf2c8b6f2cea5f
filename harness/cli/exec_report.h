// The reports of a command that ohm exec ran: its gate, what it ran out of memory with, files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/output_paths.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/style_options.h"
#include "harness/exec/child_command.h"
#include "harness/exec/value_options.h"
#include "harness/gate/recorded_gate.h"
#include "reports/model/run_result.h"

namespace ohm::cli {

/// Whose memory is virtual, limited and recorded.
enum class ExecMemory : std::uint8_t { device, host };

struct ExecArguments {
  std::string memory;      ///< as asked for; empty: as the other options are about
  std::string host_limit;  ///< of each process
  std::string gpu;
  std::optional<int> gpus;
  std::string limit;
  int in_flight = 0;         ///< calls after which work of a stream is complete
  bool shares_gpus = false;  ///< all processes of the command have the same
  std::string fault;
  bool fails_once = false;  ///< the fault is one process's, as in a sweep
  std::string lost_rank;    ///< and the step at which it is; empty: none
  std::vector<std::string> gates;
  engine::RecordedBaselineOptions baseline;
  std::vector<std::string> reports;
  std::string record;  ///< folder to keep the records in; empty: they are not kept
  bool is_unrecorded = false;
  bool has_one_thread = false;  ///< autograd's own are not used
  bool allows_missing = false;  ///< calls of what a virtual GPU does not have
  engine::ValueOptions values;
  StyleOptions style;
  std::vector<std::string> command;

  ExecMemory chosen_memory() const {
    return memory == "host" || !host_limit.empty() ? ExecMemory::host : ExecMemory::device;
  }

  bool is_as_in_sweep() const { return fails_once || !lost_rank.empty(); }

  /// Whether anything but an out-of-memory error is to be reported.
  bool asks_for_report() const {
    return !gates.empty() || !baseline.paths.empty() || !reports.empty();
  }
};

/// Prints to stderr: stdout is the command's.
class ExecReport {
 public:
  /// Before the command starts: whatever cannot be read or written is found now. Throws UsageError,
  /// and as RecordedGate does.
  explicit ExecReport(const ExecArguments& arguments);

  /// Of what the command's processes wrote to the folder before it ended. The worst of what the
  /// gate says and what the reports ran into.
  ExitReason write(const std::string& folder, const engine::CommandEnd& end);

 private:
  RunResult result_of(const std::string& folder, const engine::CommandEnd& end);
  RunResult device_result(const std::string& folder, const engine::CommandEnd& end);
  RunResult host_result(const std::string& folder, const engine::CommandEnd& end);
  void print(const RunResult& result) const;
  void print_out_of_memory(const RunResult& result) const;
  void print_unknown_values(const RunResult& result) const;
  void print_not_computed() const;

  const ExecArguments& arguments_;
  reports::ReportStyle style_;
  OutputPaths paths_;
  ReportOutputs outputs_;
  engine::RecordedGate gate_;
  /// Some record could not be written.
  bool lacks_records_ = false;
  std::map<std::string, std::int64_t> not_computed_;  ///< by all processes of the command
};

}  // namespace ohm::cli

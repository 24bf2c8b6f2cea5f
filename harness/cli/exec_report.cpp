#include "harness/cli/exec_report.h"

#include <fmt/format.h>

#include <csignal>
#include <stdexcept>

#include "allocator_shim/device/gpu_profile.h"
#include "harness/cli/command.h"
#include "harness/cli/github_actions.h"
#include "harness/cli/terminal.h"
#include "harness/exec/command_result.h"
#include "harness/exec/host_record.h"
#include "harness/exec/host_result.h"
#include "harness/exec/process_record.h"
#include "harness/process/shell_quote.h"
#include "reports/console/console_breakdown.h"
#include "reports/console/console_oom.h"
#include "reports/console/console_report.h"
#include "reports/console/console_retention.h"
#include "reports/text/paint.h"
#include "reports/text/text_layout.h"
#include "reports/text/unknown_values_text.h"

namespace ohm::cli {

namespace {

engine::RecordedGate gate_of(const ExecArguments& arguments) {
  try {
    using Counters = engine::RecordedCounters;
    const bool is_host = arguments.chosen_memory() == ExecMemory::host;
    return {arguments.gates, is_host ? Counters::host : Counters::present, arguments.baseline};
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

std::string rerun_command(const ExecArguments& arguments) {
  std::string text = "ohm exec";
  if (arguments.chosen_memory() == ExecMemory::host) {
    text += " --memory host";
    if (!arguments.host_limit.empty()) {
      text += " --host-limit " + engine::shell_quoted(arguments.host_limit);
    }
  } else {
    text += " --gpu " + engine::shell_quoted(arguments.gpu);
    if (arguments.has_one_thread) text += " --one-thread";
    text += arguments.values.words();
  }
  if (arguments.gpus) text += fmt::format(" --gpus {}", *arguments.gpus);
  if (!arguments.limit.empty()) text += " --limit " + engine::shell_quoted(arguments.limit);
  if (!arguments.fault.empty()) text += " --fault " + engine::shell_quoted(arguments.fault);
  for (const std::string& gate : arguments.gates) text += " --gate " + engine::shell_quoted(gate);
  text += engine::baseline_words(arguments.baseline);
  return text + " -- " + engine::shell_command(arguments.command);
}

}  // namespace

ExecReport::ExecReport(const ExecArguments& arguments)
    : arguments_(arguments),
      style_(report_style(arguments.style)),
      paths_(arguments.baseline.paths),
      outputs_(run_outputs(arguments.reports, paths_)),
      gate_(gate_of(arguments)) {
  if (outputs_.uses_stdout()) {
    throw UsageError("--report: standard output belongs to the command; name a file");
  }
}

ExitReason ExecReport::write(const std::string& folder, const engine::CommandEnd& end) {
  const RunResult result = result_of(folder, end);
  print(result);
  if (arguments_.asks_for_report()) tell_github(result);
  const std::string errors = outputs_.try_write(render_run(result, style_));
  if (!errors.empty()) {
    print_error(errors);
    return ExitReason::usage;
  }
  const bool is_asked = arguments_.asks_for_report() || !arguments_.record.empty();
  if (lacks_records_ && is_asked) return ExitReason::usage;
  // What the command's end says of it is said by its exit status.
  return arguments_.asks_for_report() ? result.exit_reason : ExitReason::passed;
}

RunResult ExecReport::result_of(const std::string& folder, const engine::CommandEnd& end) {
  RunResult result = arguments_.chosen_memory() == ExecMemory::host ? host_result(folder, end)
                                                                    : device_result(folder, end);
  result.command = {engine::shell_command(arguments_.command), end.status};
  return result;
}

RunResult ExecReport::host_result(const std::string& folder, const engine::CommandEnd& end) {
  const std::vector<engine::HostRecord> records = engine::read_host_records(folder);
  for (const engine::HostRecord& record : records) {
    if (record.unwritten.empty()) continue;
    lacks_records_ = true;
    print_error(fmt::format("the record of process {} cannot be written: {}", record.pid,
                            record.unwritten));
  }
  RunResult result = engine::host_result(
      records, {arguments_.host_limit, arguments_.fault, rerun_command(arguments_)}, end, gate_);
  if (records.empty() && arguments_.asks_for_report()) {
    print_error("nothing was recorded: no process of the command could be watched");
    result.exit_reason = ExitReason::nothing_selected;
  }
  return result;
}

RunResult ExecReport::device_result(const std::string& folder, const engine::CommandEnd& end) {
  const std::vector<engine::ProcessRecord> records = engine::read_process_records(folder);
  const GpuSelection gpu = parse_gpu_selection(arguments_.gpu);
  RunResult result = engine::command_result(
      records, {gpu.profile.name, rerun_command(arguments_), arguments_.values.are_computed()}, end,
      gate_);
  if (records.empty() && arguments_.asks_for_report()) {
    print_error(
        "nothing was recorded: no process of the command requested GPU memory; --memory host "
        "records the host memory of any program");
    result.exit_reason = ExitReason::nothing_selected;
  }
  if (end.signal == SIGKILL && arguments_.values.are_computed()) {
    print_error(
        "the command was killed by signal 9, as when a machine runs out of memory: with --values "
        "cpu, tensors take up the memory of this machine");
  }
  for (const engine::ProcessRecord& record : records) {
    for (const std::string& problem : record.problems) print_error(problem);
    lacks_records_ = lacks_records_ || record.is_unwritten;
    for (const auto& [name, count] : record.not_computed) not_computed_[name] += count;
  }
  return result;
}

void ExecReport::print(const RunResult& result) const {
  const bool is_silent = arguments_.style.quiet && result.exit_reason == ExitReason::passed;
  if (arguments_.asks_for_report() && !is_silent) {
    write_stderr(reports::console_report(result, style_));
    return;
  }
  if (!is_silent) print_out_of_memory(result);
  if (!arguments_.style.quiet || !arguments_.baseline.allows_unknown_values)
    print_unknown_values(result);
  if (!is_silent) print_not_computed();
}

void ExecReport::print_out_of_memory(const RunResult& result) const {
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) {
      if (variant.outcome != Outcome::oom || !variant.oom) continue;
      write_stderr("\n" + reports::console_oom(scenario.name, variant, style_));
      write_stderr(reports::console_retention(scenario.name, variant, style_));
      if (variant.host) write_stderr(reports::console_host_peak(*variant.host, style_));
    }
  }
}

/// Whatever else is printed: the figures of such a program are not those of a real GPU.
void ExecReport::print_unknown_values(const RunResult& result) const {
  const std::vector<std::string> lines = reports::unknown_value_lines(result);
  if (lines.empty()) return;
  std::string text = "\n";
  for (const std::string& line : lines) {
    text += "  " +
            reports::painted(reports::printable(line), reports::Tone::warning, style_.color) + "\n";
  }
  text += "  " + reports::unknown_values_advice(result, arguments_.values.are_computed()) + "\n";
  write_stderr(text);
}

/// With --values cpu: what it left out.
void ExecReport::print_not_computed() const {
  const std::string line = reports::not_computed_line(not_computed_);
  if (!line.empty()) write_stderr("  " + reports::printable(line) + "\n");
}

}  // namespace ohm::cli

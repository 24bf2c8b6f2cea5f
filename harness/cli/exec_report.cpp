#include "harness/cli/exec_report.h"

#include <fmt/format.h>

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

namespace ohm::cli {

namespace {

std::vector<std::string> inputs(const ExecArguments& arguments) {
  if (arguments.baseline.empty()) return {};
  return {arguments.baseline};
}

engine::RecordedGate gate_of(const ExecArguments& arguments) {
  try {
    using Counters = engine::RecordedCounters;
    const bool is_host = arguments.chosen_memory() == ExecMemory::host;
    return {
        arguments.gates, is_host ? Counters::host : Counters::present, {inputs(arguments), {}, 0}};
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
  }
  if (arguments.gpus) text += fmt::format(" --gpus {}", *arguments.gpus);
  if (!arguments.limit.empty()) text += " --limit " + engine::shell_quoted(arguments.limit);
  if (!arguments.fault.empty()) text += " --fault " + engine::shell_quoted(arguments.fault);
  for (const std::string& gate : arguments.gates) text += " --gate " + engine::shell_quoted(gate);
  if (!arguments.baseline.empty())
    text += " --baseline " + engine::shell_quoted(arguments.baseline);
  return text + " -- " + engine::shell_command(arguments.command);
}

}  // namespace

ExecReport::ExecReport(const ExecArguments& arguments)
    : arguments_(arguments),
      style_(report_style(arguments.style)),
      paths_(inputs(arguments)),
      outputs_(run_outputs(arguments.reports, paths_)),
      gate_(gate_of(arguments)) {
  if (outputs_.uses_stdout()) {
    throw UsageError("--report: standard output is the command's; name a file");
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
  // What the command's end says of it is said by its exit status.
  return arguments_.asks_for_report() ? result.exit_reason : ExitReason::passed;
}

RunResult ExecReport::result_of(const std::string& folder, const engine::CommandEnd& end) const {
  RunResult result = arguments_.chosen_memory() == ExecMemory::host ? host_result(folder, end)
                                                                    : device_result(folder, end);
  result.command = {engine::shell_command(arguments_.command), end.status};
  return result;
}

RunResult ExecReport::host_result(const std::string& folder, const engine::CommandEnd& end) const {
  const std::vector<engine::HostRecord> records = engine::read_host_records(folder);
  RunResult result = engine::host_result(
      records, {arguments_.host_limit, arguments_.fault, rerun_command(arguments_)}, end, gate_);
  if (records.empty() && arguments_.asks_for_report()) {
    print_error("nothing was recorded: no process of the command could be watched");
    result.exit_reason = ExitReason::nothing_selected;
  }
  return result;
}

RunResult ExecReport::device_result(const std::string& folder,
                                    const engine::CommandEnd& end) const {
  const std::vector<engine::ProcessRecord> records = engine::read_process_records(folder);
  const GpuSelection gpu = parse_gpu_selection(arguments_.gpu);
  RunResult result =
      engine::command_result(records, {gpu.profile.name, rerun_command(arguments_)}, end, gate_);
  if (records.empty() && arguments_.asks_for_report()) {
    print_error(
        "nothing was recorded: no process of the command used CUDA from PyTorch in Python, or "
        "Python was told to ignore its environment; --memory host records what programs take of "
        "the "
        "host's memory");
    result.exit_reason = ExitReason::nothing_selected;
  }
  for (const engine::ProcessRecord& record : records) {
    for (const std::string& problem : record.problems) print_error(problem);
  }
  return result;
}

void ExecReport::print(const RunResult& result) const {
  if (arguments_.style.quiet && result.exit_reason == ExitReason::passed) return;
  if (arguments_.asks_for_report()) {
    write_stderr(reports::console_report(result, style_));
    return;
  }
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) {
      if (variant.outcome != Outcome::oom || !variant.oom) continue;
      write_stderr("\n" + reports::console_oom(scenario.name, *variant.oom, style_));
      if (variant.host) write_stderr(reports::console_host_peak(*variant.host, style_));
    }
  }
}

}  // namespace ohm::cli

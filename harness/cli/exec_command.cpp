#include "harness/cli/exec_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/device/gpu_profile.h"
#include "allocator_shim/fault/fault_plan.h"
#include "allocator_shim/interpose/gpu_variable.h"
#include "harness/cli/baseline_options.h"
#include "harness/cli/exec_report.h"
#include "harness/cli/gpu_option.h"
#include "harness/cli/option_values.h"
#include "harness/cli/terminal.h"
#include "harness/cli/value_option.h"
#include "harness/exec/call_faults.h"
#include "harness/exec/child_command.h"
#include "harness/exec/gpu_command.h"
#include "harness/exec/host_command.h"
#include "harness/exec/preloading.h"
#include "harness/exec/python_protocol.h"
#include "harness/exec/record_folder.h"
#include "harness/sweep/command/rank_faults.h"

namespace ohm::cli {

namespace {

/// The GPUs, as the preloaded library reads them.
std::string gpu_variable(const ExecArguments& arguments) {
  const GpuSelection selection =
      parsed("--gpu", [&] { return parse_gpu_selection(arguments.gpu); });
  std::string text = arguments.gpu;
  if (arguments.gpus) {
    if (selection.count) throw UsageError("--gpus: --gpu already gives the count (count=)");
    text += fmt::format(",count={}", *arguments.gpus);
  }
  if (!arguments.limit.empty()) {
    const std::size_t bytes = parsed("--limit", [&] { return parse_bytes(arguments.limit); });
    if (bytes > selection.profile.capacity_bytes) {
      throw UsageError(fmt::format("--limit: {} is more than the {} of {}", arguments.limit,
                                   human_bytes(selection.profile.capacity_bytes),
                                   selection.profile.name));
    }
    text += fmt::format(",capacity={}", bytes);
  }
  parsed("--gpus, --limit", [&] { return parse_gpu_selection(text); });
  return text;
}

engine::ChildCommand device_command(const ExecArguments& arguments) {
  const std::string gpus = gpu_variable(arguments);
  if (!arguments.fault.empty()) {
    parsed("--fault", [&] {
      engine::check_call_faults(FaultPlan::parse(arguments.fault, PlannedCalls::device));
      return 0;
    });
  }
  engine::ChildCommand command =
      parsed("exec", [&] { return engine::gpu_command(arguments.command, gpus); });
  command.environment.emplace_back(interpose::kFaultVariable, arguments.fault);
  if (arguments.has_one_thread)
    command.environment.emplace_back(engine::python::kOneThreadVariable, "1");
  if (arguments.allows_missing) {
    command.environment.emplace_back(interpose::kAllowMissingVariable, "1");
  }
  if (arguments.in_flight > 0) {
    command.environment.emplace_back(interpose::kInFlightVariable,
                                     std::to_string(arguments.in_flight));
  }
  engine::add_values(command, arguments.values);
  return command;
}

engine::ChildCommand host_command(const ExecArguments& arguments) {
  engine::HostOptions options;
  options.fault = arguments.fault;
  if (!arguments.host_limit.empty()) {
    options.limit_bytes = parsed("--host-limit", [&] { return parse_bytes(arguments.host_limit); });
    if (options.limit_bytes == 0) {
      throw UsageError(
          "--host-limit: 0 bytes are no limit that a program can start in; leave the "
          "option out for none");
    }
  }
  parsed("--fault", [&] {
    engine::check_host_fault(options.fault);
    return 0;
  });
  const std::string unseen = engine::unseen_requests();
  if (!unseen.empty()) print_error(unseen);
  return parsed("exec", [&] { return engine::host_command(arguments.command, options); });
}

/// What becomes of the memory that is asked about, in each process of the command.
engine::ChildCommand prepared_command(const ExecArguments& arguments) {
  return arguments.chosen_memory() == ExecMemory::host ? host_command(arguments)
                                                       : device_command(arguments);
}

void add_record(const ExecArguments& arguments, engine::ChildCommand& command,
                const std::string& folder) {
  if (arguments.chosen_memory() == ExecMemory::host) {
    engine::add_host_record(command, folder);
  } else {
    engine::add_recorder(command, folder);
    engine::add_device_recorder(command, folder);
  }
}

std::unique_ptr<engine::RecordFolder> record_folder(const std::string& asked) {
  if (!asked.empty()) {
    return parsed("--record", [&] { return std::make_unique<engine::RecordFolder>(asked); });
  }
  return parsed("exec", [] { return std::make_unique<engine::RecordFolder>(); });
}

/// The command's own status where it failed, or where all that was asked of it holds.
int exit_status(const engine::CommandEnd& end, ExitReason reason) {
  if (end.signal != 0) engine::end_by_signal(end.signal);
  return end.status != 0 ? end.status : exit_code(reason).code;
}

struct CommandOutcome {
  engine::CommandEnd end;
  ExitReason reason = ExitReason::passed;
};

CommandOutcome run_recorded(const ExecArguments& arguments, engine::ChildCommand command) {
  ExecReport report(arguments);
  const engine::CommandRunner runner;
  const auto folder = record_folder(arguments.record);
  add_record(arguments, command, folder->path());
  CommandOutcome outcome;
  outcome.end = parsed("exec", [&] { return runner.run(command); });
  outcome.reason = report.write(folder->path(), outcome.end);
  return outcome;
}

/// With the fault as ohm sweep --faults injects it.
CommandOutcome run_as_in_sweep(const ExecArguments& arguments, engine::ChildCommand command) {
  engine::PlannedFault fault;
  fault.plan = arguments.fault;
  if (!arguments.lost_rank.empty()) {
    fault.lost =
        parsed("--lose-rank", [&] { return engine::parse_lost_rank(arguments.lost_rank); });
  }
  const engine::CommandRunner runner;
  const engine::RecordFolder folder;
  engine::add_fault(command, folder.path(), fault);
  return {parsed("exec", [&] { return runner.run(command); })};
}

CommandOutcome run_unrecorded(const engine::ChildCommand& command) {
  const engine::CommandRunner runner;
  return {parsed("exec", [&] { return runner.run(command); })};
}

CommandOutcome run(const ExecArguments& arguments, engine::ChildCommand command) {
  // The file that shared GPUs are counted in is removed when all is over.
  std::unique_ptr<engine::RecordFolder> shared;
  if (arguments.shares_gpus) {
    shared = record_folder("");
    parsed("--shared-gpu", [&] { engine::share_gpus(command, shared->path()); });
  }
  if (arguments.is_as_in_sweep()) return run_as_in_sweep(arguments, std::move(command));
  if (!arguments.is_unrecorded) return run_recorded(arguments, std::move(command));
  if (!arguments.shares_gpus) parsed("exec", [&] { engine::become_command(command); });
  return run_unrecorded(command);
}

int exec(const ExecArguments& arguments) {
  const CommandOutcome outcome = run(arguments, prepared_command(arguments));
  return exit_status(outcome.end, outcome.reason);
}

void check(const ExecArguments& arguments) {
  check_baseline_options(arguments.baseline);
  if (arguments.baseline.refuses_modelled && arguments.gates.empty() &&
      arguments.baseline.paths.empty()) {
    throw UsageError("--refuse-modelled requires --gate or --baseline");
  }
  const bool needs_record = arguments.asks_for_report() || !arguments.record.empty();
  constexpr std::array<std::string_view, 3> kMemories = {"", "device", "host"};
  if (std::find(kMemories.begin(), kMemories.end(), arguments.memory) == kMemories.end()) {
    throw UsageError(fmt::format("--memory must be device or host, not \"{}\"", arguments.memory));
  }
  if (arguments.memory == "device" && !arguments.host_limit.empty()) {
    throw UsageError("--host-limit limits host memory: remove --memory device");
  }
  const bool is_about_gpus =
      arguments.gpu != interpose::kDefaultGpu || arguments.gpus.has_value() ||
      !arguments.limit.empty() || arguments.has_one_thread || arguments.allows_missing ||
      arguments.shares_gpus || arguments.in_flight != 0 || !arguments.values.are_default();
  if (arguments.chosen_memory() == ExecMemory::host && is_about_gpus) {
    throw UsageError(
        "--gpu, --gpus, --limit, --shared-gpu, --in-flight, --one-thread, --allow-missing, "
        "--values and --assume-selected apply to device memory, not to host memory");
  }
  if (arguments.fails_once && arguments.fault.find("call(") == std::string::npos) {
    throw UsageError("--fault-once requires --fault with call(NAME)");
  }
  if (arguments.is_as_in_sweep() && (needs_record || arguments.is_unrecorded)) {
    throw UsageError("--fault-once and --lose-rank record nothing: use no option about records");
  }
  if (arguments.is_unrecorded && needs_record) {
    throw UsageError(
        "--no-record records nothing for --gate, --baseline, --report or --record to use");
  }
  const bool is_of_requests = arguments.fault.find("level(request)") != std::string::npos;
  if (arguments.is_unrecorded && (is_of_requests || arguments.has_one_thread)) {
    throw UsageError("--no-record: level(request) and --one-thread need the recorder");
  }
}

}  // namespace

std::function<int()> setup_exec(const OptionParser& parser, const Environment& environment) {
  const auto arguments = std::make_shared<ExecArguments>();
  arguments->gpu = interpose::kDefaultGpu;
  arguments->command = environment.program;
  parser
      .add_option(
          "--gpu", arguments->gpu,
          fmt::format("NAME[,capacity=SIZE][,count=N] (default: {}); ohm gpus lists them; or a "
                      "file with the output of nvidia-smi -q",
                      interpose::kDefaultGpu))
      .type_name("PROFILE")
      .completes(Completion::gpus);
  parser.add_option("--gpus", arguments->gpus, "How many of them (default: 1)").type_name("N");
  parser.add_option("--limit", arguments->limit, "Memory of each GPU (default: its capacity)")
      .type_name("SIZE")
      .check(not_empty());
  parser.add_flag("--shared-gpu", arguments->shares_gpus,
                  "All processes of the command compete for the memory of the same GPUs (default: "
                  "each has its own)");
  parser
      .add_option("--in-flight", arguments->in_flight,
                  "Complete work of a stream N calls later, or when it is waited for (default: 0, "
                  "at once)")
      .type_name("N")
      .check(not_negative());
  parser
      .add_option("--memory", arguments->memory,
                  "Memory to record and limit: device (the GPUs'; default), or host (malloc and "
                  "the like, in each process of any program)")
      .type_name("WHICH")
      .check(not_empty());
  parser
      .add_option("--host-limit", arguments->host_limit,
                  "Host memory of each process; beyond it requests fail (implies --memory host)")
      .type_name("SIZE")
      .check(not_empty());
  parser
      .add_option("--fault", arguments->fault,
                  "Make requests for GPU or host memory fail as this plan says (ohm list "
                  "--faults): 'from(20)', 'size(>=1GiB)'")
      .type_name("PLAN")
      .check(not_empty());
  parser.add_flag("--fault-once", arguments->fails_once,
                  "Inject the fault of a call once, in one process of the command (rank 0 of a "
                  "job), as ohm sweep --faults device does; nothing is recorded");
  parser
      .add_option("--lose-rank", arguments->lost_rank,
                  "Kill a rank of the job once, before it completes a step, as ohm sweep --faults "
                  "rank does: 1@3 is rank 1 at its third step; nothing is recorded")
      .type_name("RANK@STEP")
      .check(not_empty());
  parser
      .add_option("--gate", arguments->gates,
                  "Exit with 1 if the command breaks this limit: 'peak_allocated_bytes < 20 GiB'; "
                  "repeatable")
      .type_name("LIMIT")
      .one_value_each();
  add_baseline_options(parser, arguments->baseline);
  parser
      .add_option("--report", arguments->reports,
                  "Write a report (ohm list --reporters) of the command; repeatable")
      .type_name("NAME=PATH")
      .one_value_each();
  parser
      .add_option("--record", arguments->record,
                  "Keep the memory snapshot of each process, and what else was recorded, in this "
                  "folder")
      .type_name("FOLDER");
  parser.add_flag("--one-thread", arguments->has_one_thread,
                  "Run PyTorch's backward in the thread that calls it, as a sweep does, so that "
                  "requests have the same numbers");
  parser.add_flag(
      "--allow-missing", arguments->allows_missing,
      "Continue past calls that virtual GPUs do not implement: they are reported, and do nothing");
  add_value_options(parser, arguments->values);
  add_allow_unknown_values_option(parser, arguments->baseline.allows_unknown_values);
  parser.add_flag("--refuse-modelled", arguments->baseline.refuses_modelled,
                  "Do not judge figures that rest on what is modelled, such as workspaces of cuDNN "
                  "(exit code 3)");
  parser.add_flag("--no-record", arguments->is_unrecorded,
                  "Record nothing: ohm replaces itself with the command");
  add_color_option(parser, arguments->style);
  add_quiet_option(parser, arguments->style, "Print only what failed");
  return [arguments] {
    arguments->gpu = named_gpus(arguments->gpu);
    check(*arguments);
    return exec(*arguments);
  };
}

}  // namespace ohm::cli

#include "harness/cli/program_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/device/gpu_profile.h"
#include "allocator_shim/interpose/gpu_variable.h"
#include "harness/cli/command.h"
#include "harness/cli/cuda_options.h"
#include "harness/cli/gpu_option.h"
#include "harness/cli/option_values.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/resume_option.h"
#include "harness/cli/swept_memory.h"
#include "harness/cli/terminal.h"
#include "harness/cli/value_option.h"
#include "harness/slurm/array_folder.h"
#include "harness/sweep/command/command_sweep.h"
#include "harness/sweep/command/command_waiver.h"
#include "harness/sweep/command/device_faults.h"
#include "harness/sweep/command/rank_faults.h"
#include "harness/sweep/command/scratch_folder.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

void refuse_scenario_options(const OptionParser& parser) {
  constexpr std::array<std::string_view, 25> kOfCommands = {
      "--gpu",    "--points",       "--form",    "--level",           "--engine",
      "--shard",  "--jobs",         "--timeout", "--report",          "--json",
      "--check",  "--scratch",      "--color",   "--memory",          "--faults",
      "--quiet",  "--verbose",      "--help",    "--resume",          "--launcher",
      "--shards", "--slurm-option", "--values",  "--assume-selected", "--waive"};
  refuse_options_but(kOfCommands, parser, "applies to scenarios, not to a command after --");
}

void check_level(const SweepArguments& arguments) {
  const FaultLevel level = arguments.sweep.filter.level;
  if (level == FaultLevel::request || level == FaultLevel::segment) return;
  throw UsageError("--level must be one of request, segment where a command is swept");
}

engine::TorchCommand command_of(const SweepArguments& arguments, const OptionParser& parser,
                                const std::vector<std::string>& program) {
  const engine::SweepOptions& sweep = arguments.sweep;
  if (asks_for_cuda(sweep.run.gpu_text)) {
    throw UsageError("--gpu cuda: commands run on virtual GPUs; ohm gpus lists them");
  }
  engine::TorchCommand command;
  command.words = program;
  command.gpus =
      sweep.run.gpu_text.empty() ? interpose::kDefaultGpu : named_gpus(sweep.run.gpu_text);
  parsed("--gpu", [&] { return parse_gpu_selection(command.gpus); });
  command.level = sweep.filter.level;
  command.engine = sweep.trials.engine;
  command.jobs = sweep.run.jobs;
  command.check = arguments.check;
  command.in_scratch = arguments.in_scratch;
  command.values = arguments.values;
  // A scenario's default is not one for programs that load models.
  if (parser.count("--timeout") > 0) command.timeout_seconds = sweep.run.timeout_seconds;
  return command;
}

engine::CommandSweepOptions options_of(const SweepArguments& arguments,
                                       const engine::TorchCommand& command, bool is_host) {
  engine::CommandSweepOptions options;
  options.words = command.words;
  options.points = arguments.sweep.points;
  options.forms = arguments.sweep.forms;
  options.level = command.level;
  options.shard = arguments.sweep.shard;
  options.settings = {{"gpu", command.gpus}, {"check", command.check}};
  if (!command.values.are_default()) options.settings["values"] = command.values.words();
  if (is_host) options.settings = {{"memory", "host"}};
  options.check = command.check;
  options.in_scratch = command.in_scratch;
  for (const std::string& waiver : arguments.waivers) {
    options.waivers.push_back(parsed("--waive", [&] { return engine::parse_waiver(waiver); }));
  }
  options.on_note = [](const std::string& note) {
    write_stderr("ohm: " + reports::printable(note) + "\n");
  };
  return options;
}

/// Each run has a copy of the folder.
void check_folder_size() {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{2} << 30U;
  const std::uintmax_t bytes = engine::bytes_of_current_folder();
  if (bytes <= kMostBytes) return;
  throw UsageError(fmt::format(
      "--faults: this folder has {}, and each run would copy it; start in a folder with what the "
      "command reads and writes by relative paths, of 2 GiB at most",
      human_bytes(bytes)));
}

void check_faults(const SweepArguments& arguments, const OptionParser& parser) {
  if (arguments.faults != "device" && arguments.faults != "rank") {
    throw UsageError(fmt::format("--faults must be device or rank, not \"{}\"", arguments.faults));
  }
  for (const char* option : {"--memory", "--level", "--form", "--engine"}) {
    if (parser.count(option) > 0) {
      throw UsageError(fmt::format("{}: applies to requests for memory, not to --faults", option));
    }
  }
  check_folder_size();
}

/// Which of them are injected is chosen where they are counted.
void take_fault_rules(const SweepArguments& arguments, engine::CommandSweepOptions& options) {
  options.asked_points = options.points.text();
  options.settings["faults"] = arguments.faults + " " + options.asked_points;
  options.points.kind = engine::PointChoice::Kind::all;
  options.forms = {FaultForm::transient};
  options.level = FaultLevel::call;
  options.in_scratch = true;
}

std::unique_ptr<engine::FailingMemory> faults_of(const SweepArguments& arguments,
                                                 const engine::TorchCommand& command,
                                                 const engine::CommandSweepOptions& options) {
  engine::FaultSweepOptions sweep;
  sweep.command = {command.words,           command.gpus,  command.jobs, command.check,
                   command.timeout_seconds, command.values};
  sweep.points = arguments.sweep.points;
  sweep.on_note = options.on_note;
  if (arguments.faults == "rank") return std::make_unique<engine::RankFaults>(std::move(sweep));
  return std::make_unique<engine::DeviceFaults>(std::move(sweep));
}

/// Beside the command's files lie those of the work that goes on.
std::string own_files(const std::string& resume) {
  return engine::array_folder_of(resume).value_or(resume);
}

/// All of it by a job array.
int launched(const SweepArguments& arguments, const engine::CommandSweepOptions& options,
             const Environment& environment, ReportOutputs& outputs,
             const reports::ReportStyle& style) {
  LaunchedCommand command;
  command.name = "sweep";
  command.words = environment.words;
  // What the command asks for is found out once.
  if (arguments.memory.empty() && arguments.faults.empty()) {
    command.more = {"--memory", options.settings.contains("memory") ? "host" : "device"};
  }
  command.started = environment.program;
  command.folder = arguments.resume;
  command.described = [options](const engine::Shard& shard) {
    engine::CommandSweepOptions of_shard = options;
    of_shard.shard = shard;
    return engine::checkpointed_work(of_shard);
  };
  command.prepare = [] { return 0; };
  return launched_sweep(arguments.launcher, command, outputs, style);
}

int swept_here(const SweepArguments& arguments, engine::CommandSweepOptions options,
               engine::FailingMemory& memory, ReportOutputs& outputs,
               const reports::ReportStyle& style) {
  const auto checkpoint =
      opened_checkpoint(arguments.resume, [&] { return engine::checkpointed_work(options); });
  options.checkpoint = checkpoint.get();
  if (checkpoint) options.own_files = own_files(arguments.resume);
  SweepPrinter printer(style, !outputs.uses_stdout(),
                       !arguments.style.quiet && is_stderr_animated());
  const engine::SweepOutcome outcome =
      parsed("sweep", [&] { return engine::sweep_command(options, memory, printer); });
  const std::string errors = outputs.try_write(render_sweep(outcome.result));
  printer.on_end(outcome.result);
  tell_lack(checkpoint.get());
  if (!errors.empty()) throw UsageError(errors);
  return outcome.exit_code();
}

}  // namespace

void add_program_options(const OptionParser& parser, SweepArguments& arguments) {
  parser
      .add_option("--faults", arguments.faults,
                  "For a command after --: instead of memory, device (each kind of CUDA error once "
                  "at each call site) or rank (a rank is killed at each step of a job)")
      .type_name("WHICH")
      .check(not_empty());
  parser
      .add_option("--memory", arguments.memory,
                  "For a command after --: device (PyTorch's requests to virtual GPUs) or host "
                  "(malloc and the like, of any program) (default: device for Python programs that "
                  "use a GPU, otherwise host)")
      .type_name("WHICH")
      .check(not_empty());
  parser
      .add_option("--check", arguments.check,
                  "For a command after --: Python expression, evaluated in the script's module at "
                  "its end, that must have the value of the fault-free run")
      .type_name("EXPR")
      .check(not_empty());
  parser.add_flag("--scratch", arguments.in_scratch,
                  "For a command after --: do each run, and each fault, in a copy of this folder");
  parser
      .add_option(
          "--waive", arguments.waivers,
          "For a command after --: accept a bad verdict everywhere (VERDICT=REASON), or all "
          "those at a point (ohm:HEX=REASON); repeatable")
      .type_name("WHAT=REASON")
      .one_value_each();
  add_value_options(parser, arguments.values, "For a command after --: ");
}

void refuse_program_options(const SweepArguments& arguments) {
  const bool has_any = !arguments.check.empty() || !arguments.memory.empty() ||
                       !arguments.faults.empty() || arguments.in_scratch ||
                       !arguments.waivers.empty();
  if (has_any) {
    throw UsageError("--check, --faults, --memory, --scratch, --waive: require a command after --");
  }
  refuse_value_options(arguments.values);
}

int sweep_program(SweepArguments arguments, const OptionParser& parser,
                  const Environment& environment) {
  refuse_scenario_options(parser);
  take_faults(arguments);
  check_level(arguments);
  check_launcher(arguments.launcher, arguments.resume, arguments.shard);
  if (arguments.json) arguments.reports.emplace_back("json=-");
  const engine::TorchCommand command = command_of(arguments, parser, environment.program);
  const bool is_about_gpus =
      parser.count("--gpu") + parser.count("--level") + parser.count("--check") > 0 ||
      !arguments.values.are_default();
  const bool is_of_faults = !arguments.faults.empty();
  if (is_of_faults) check_faults(arguments, parser);
  SweptMemory swept;
  if (!is_of_faults) swept = swept_memory(arguments.memory, command, is_about_gpus);
  engine::CommandSweepOptions options = options_of(arguments, command, swept.is_host);
  if (is_of_faults) {
    swept.memory = faults_of(arguments, command, options);
    take_fault_rules(arguments, options);
  }
  const reports::ReportStyle style = report_style(arguments.style);
  OutputPaths paths({});
  const bool is_launched = arguments.launcher.is_used();
  if (!arguments.resume.empty() && !is_launched) {
    paths.add("--resume " + arguments.resume, arguments.resume);
  }
  ReportOutputs outputs = sweep_outputs(arguments.reports, paths);
  if (is_launched) return launched(arguments, options, environment, outputs, style);
  return swept_here(arguments, options, *swept.memory, outputs, style);
}

}  // namespace ohm::cli

#include "harness/cli/program_fit.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/gpu_variable.h"
#include "harness/cli/gpu_option.h"
#include "harness/cli/option_values.h"
#include "harness/cli/resume_option.h"
#include "harness/cli/shard_option.h"
#include "harness/cli/terminal.h"
#include "harness/fit/command_fit.h"

namespace ohm::cli {

namespace {

void refuse_options_of_scenarios(const OptionParser& parser) {
  constexpr std::array<std::string_view, 15> kOfCommands = {
      "--vary",     "--gpu",     "--timeout",      "--report", "--json",
      "--color",    "--verbose", "--help",         "--shard",  "--resume",
      "--launcher", "--shards",  "--slurm-option", "--values", "--assume-selected"};
  refuse_options_but(kOfCommands, parser, "applies to scenarios, not to a command after --");
}

engine::CommandFitOptions command_fit_of(FitArguments& arguments, const OptionParser& parser,
                                         const std::vector<std::string>& program) {
  if (arguments.varied.empty()) {
    throw UsageError("name what to vary: --vary batch=1..512, or --vary capacity");
  }
  take_range(arguments);
  take_gpus(arguments);
  engine::CommandFitOptions fit;
  fit.words = program;
  fit.varied = arguments.fit.varied;
  fit.least = arguments.fit.least.value_or(fit.least);
  fit.most = arguments.fit.most.value_or(fit.most);
  fit.gpus = arguments.fit.gpus;
  fit.values = arguments.values;
  // The most memory: what fits then fits whatever the mask is.
  if (fit.values.assumed_selection.empty()) fit.values.assumed_selection = "max";
  // A scenario's default is not one for programs that load models.
  if (parser.count("--timeout") > 0) fit.timeout_seconds = arguments.fit.run.timeout_seconds;
  if (fit.gpus.empty()) fit.gpus.push_back(gpu_selection(interpose::kDefaultGpu));
  for (const GpuSelection& gpu : fit.gpus) {
    if (!gpu.file.empty()) {
      throw UsageError(
          fmt::format("--gpu {}: commands run only on the GPUs that ohm gpus lists", gpu.file));
    }
  }
  check_launcher(arguments.launcher, arguments.resume, arguments.shard);
  fit.shard = chosen_shard(arguments.shard);
  if (is_stderr_animated() || arguments.style.verbose) {
    fit.on_run = [](std::int64_t run, const std::string& what) {
      write_stderr(fmt::format("ohm: run {}: {}\n", run, what));
    };
  }
  return fit;
}

engine::FinishedFit launched_fit_of_command(const FitArguments& arguments,
                                            engine::CommandFitOptions options,
                                            const Environment& environment) {
  const auto described = [&options](const engine::Shard& shard) {
    engine::CommandFitOptions of_shard = options;
    of_shard.shard = shard;
    return engine::checkpointed_work(of_shard);
  };
  LaunchedCommand command{"fit",     environment.words, {}, arguments.resume,
                          described, [] { return 0; }};
  command.started = environment.program;
  command.takes_jobs = false;
  const LaunchedReport report = launched_report(arguments.launcher, command);
  if (report.signal != 0) return interrupted_by(report.signal);
  const auto known = opened_checkpoints(report.known, described);
  for (const auto& checkpoint : known) options.found.push_back(checkpoint.get());
  return engine::fit_command(options);
}

engine::FinishedFit fit_of_command_here(const FitArguments& arguments,
                                        engine::CommandFitOptions options) {
  const auto checkpoint =
      opened_checkpoint(arguments.resume, [&] { return engine::checkpointed_work(options); });
  options.checkpoint = checkpoint.get();
  engine::FinishedFit finished = parsed("fit", [&] { return engine::fit_command(options); });
  tell_lack(checkpoint.get());
  return finished;
}

}  // namespace

int fit_program(FitArguments arguments, const OptionParser& parser,
                const Environment& environment) {
  refuse_options_of_scenarios(parser);
  const engine::CommandFitOptions options = command_fit_of(arguments, parser, environment.program);
  const bool is_launched = arguments.launcher.is_used();
  OutputPaths paths({});
  if (!arguments.resume.empty() && !is_launched) {
    paths.add("--resume " + arguments.resume, arguments.resume);
  }
  ReportOutputs outputs = outputs_of(arguments, paths);
  const engine::FinishedFit finished =
      is_launched ? launched_fit_of_command(arguments, options, environment)
                  : fit_of_command_here(arguments, options);
  if (is_launched && finished.signal != 0) return finished.exit_code();
  return print_fit(arguments, outputs, finished);
}

}  // namespace ohm::cli

#include "harness/cli/verify_device_command.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/cuda_options.h"
#include "harness/cli/launcher_option.h"
#include "harness/cli/option_values.h"
#include "harness/cli/output_paths.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/resume_option.h"
#include "harness/cli/run_options.h"
#include "harness/cli/shard_option.h"
#include "harness/cli/terminal.h"
#include "harness/machine/cuda_devices.h"
#include "harness/run/input_files.h"
#include "harness/verify/device_verification.h"
#include "harness/verify/gpu_profile_file.h"
#include "reports/console/verification_text.h"
#include "reports/json/result_reader.h"
#include "reports/json/verification_json.h"
#include "reports/text/report_file.h"

namespace ohm::cli {

namespace {

struct VerifyArguments {
  engine::RunOptions run;
  std::string profile_path;
  std::vector<std::string> reports;
  std::string shard;
  std::string resume;
  LauncherOptions launcher;
  bool json = false;
};

/// Where the profile goes, opened before the work: a path that cannot be written is found at once.
std::optional<reports::ReportFile> profile_file(const std::string& path) {
  if (path.empty()) return std::nullopt;
  try {
    return reports::ReportFile(path);
  } catch (const std::runtime_error& error) {
    throw UsageError(error.what());
  }
}

void check(VerifyArguments& arguments, const Environment& environment) {
  engine::RunOptions& run = arguments.run;
  run.gpu_text = "cuda";
  require_files(run);
  check_launcher(arguments.launcher, arguments.resume, arguments.shard);
  check_card_types(arguments.launcher, /*is_on_cuda=*/true);
  run.shard = chosen_shard(arguments.shard);
  const bool is_part = !run.shard.is_whole() || arguments.launcher.is_used();
  if (is_part && !arguments.profile_path.empty()) {
    throw UsageError(
        "--write-profile needs all variants: run without --shard and --launcher, on the card to be "
        "profiled");
  }
  check_cuda_options(run, arguments.launcher.cards());
  check_run_options(run);
  check_parameters_declared(run, environment);
  if (arguments.json) arguments.reports.emplace_back("json=-");
}

/// All of it by a job array.
engine::FinishedVerification launched(const VerifyArguments& arguments,
                                      const Environment& environment) {
  LaunchedCommand command{"verify-device", environment.words, {}, arguments.resume, {}, {}};
  command.described = [&](const engine::Shard& shard) {
    return engine::verification_work(shard, arguments.run);
  };
  command.prepare = [] { return 0; };
  command.joins_card_types = true;
  const LaunchedReport report = launched_report(arguments.launcher, command);
  engine::FinishedVerification finished;
  finished.signal = report.signal;
  finished.result.exit_reason = ExitReason::interrupted;
  if (report.signal == 0) {
    finished.result = reports::read_verification(report.merged.front().json);
  }
  return finished;
}

engine::FinishedVerification verified_here(VerifyArguments& arguments,
                                           const Environment& environment) {
  engine::RunOptions& run = arguments.run;
  const auto checkpoint = opened_checkpoint(
      arguments.resume, [&] { return engine::verification_work(run.shard, run); });
  run.checkpoint = checkpoint.get();
  engine::FinishedVerification finished = engine::verify_device(run, environment.loader);
  tell_lack(checkpoint.get());
  return finished;
}

void write_profile(reports::ReportFile& profile, const engine::RunOptions& run,
                   const VerificationResult& result) {
  profile.commit(
      engine::gpu_profile_json(engine::find_cuda_devices(*run.cuda), result.cards.front()));
}

int verify(VerifyArguments arguments, const Environment& environment) {
  check(arguments, environment);
  const bool is_launched = arguments.launcher.is_used();
  OutputPaths paths(engine::input_files(arguments.run));
  paths.add("--write-profile", arguments.profile_path);
  if (!is_launched && !arguments.resume.empty()) {
    paths.add("--resume " + arguments.resume, arguments.resume);
  }
  ReportOutputs outputs = json_outputs(arguments.reports, paths);
  std::optional<reports::ReportFile> profile = profile_file(arguments.profile_path);
  const engine::FinishedVerification finished =
      is_launched ? launched(arguments, environment) : verified_here(arguments, environment);
  if (is_launched && finished.signal != 0) return finished.exit_code();
  const std::string errors =
      outputs.try_write([&](std::string_view /*format*/, bool /*on_stdout*/) {
        return reports::verification_json(finished.result);
      });
  if (!outputs.uses_stdout()) print_text(reports::verification_text(finished.result));
  if (profile && finished.signal == 0) write_profile(*profile, arguments.run, finished.result);
  if (!errors.empty()) throw UsageError(errors);
  return finished.exit_code();
}

}  // namespace

std::function<int()> setup_verify_device(const OptionParser& parser,
                                         const Environment& environment) {
  const auto arguments = std::make_shared<VerifyArguments>();
  add_selection_options(parser, arguments->run);
  add_run_options(parser, arguments->run, engine::RunCommand::verify_device);
  add_jobs_option(parser, arguments->run.jobs);
  add_shard_option(parser, arguments->shard, "variants");
  add_resume_option(parser, arguments->resume);
  add_launcher_options(parser, arguments->launcher);
  add_card_types_option(parser, arguments->launcher);
  add_cuda_footer(parser);
  parser
      .add_option("--write-profile", arguments->profile_path,
                  "Write a profile of the card as JSON, for a virtual GPU like it")
      .type_name("PATH")
      .check(not_empty());
  parser
      .add_option("--report", arguments->reports,
                  "Write a report: json=PATH, - for standard output; repeatable")
      .type_name("NAME=PATH")
      .one_value_each();
  parser.add_flag("--json", arguments->json, "The same as --report json=- (ohm.verification/1)");
  return [arguments, &environment] { return verify(*arguments, environment); };
}

}  // namespace ohm::cli

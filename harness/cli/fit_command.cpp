#include "harness/cli/fit_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/interpose/gpu_variable.h"
#include "harness/cli/cuda_options.h"
#include "harness/cli/gpu_option.h"
#include "harness/cli/option_values.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/run_options.h"
#include "harness/cli/style_options.h"
#include "harness/cli/terminal.h"
#include "harness/fit/command_fit.h"
#include "harness/fit/fit.h"
#include "reports/console/fit_text.h"
#include "reports/json/fit_json.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

struct FitArguments {
  engine::FitOptions fit;
  std::string varied;
  std::vector<std::string> gpus;
  StyleOptions style;
  bool ignores_limits = false;
  bool json = false;
};

constexpr std::string_view kAllGpus = "all";

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || wrong != std::errc() || rest != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

struct VariedRange {
  std::string name;
  std::optional<std::int64_t> least;
  std::optional<std::int64_t> most;
};

/// NAME or NAME=LEAST..MOST. Throws std::invalid_argument.
VariedRange parse_range(const std::string& text) {
  constexpr std::string_view kDots = "..";
  const std::size_t equals = text.find('=');
  VariedRange range{text.substr(0, equals), {}, {}};
  if (range.name.empty()) throw std::invalid_argument("name a parameter, as in batch=1..65536");
  if (equals == std::string::npos) return range;
  const std::string_view bounds = std::string_view(text).substr(equals + 1);
  const std::size_t dots = bounds.find(kDots);
  if (dots != std::string_view::npos) {
    range.least = whole_number(bounds.substr(0, dots));
    range.most = whole_number(bounds.substr(dots + kDots.size()));
  }
  if (!range.least || !range.most) {
    throw std::invalid_argument(
        fmt::format("\"{}\" is not NAME=LEAST..MOST in whole numbers, as in batch=1..65536", text));
  }
  if (*range.least > *range.most) {
    throw std::invalid_argument(
        fmt::format("{} is more than {}: the range is empty", *range.least, *range.most));
  }
  constexpr std::int64_t kExact = std::int64_t{1} << 53U;
  if (*range.least < -kExact || *range.most > kExact) {
    throw std::invalid_argument("values are between -2^53 and 2^53");
  }
  return range;
}

void take_range(FitArguments& arguments) {
  engine::FitOptions& fit = arguments.fit;
  const VariedRange range = parsed("--vary", [&] { return parse_range(arguments.varied); });
  fit.varied = range.name;
  if (range.name == kFitCapacity && range.least) {
    throw UsageError("--vary capacity takes no range: every GPU that could hold it is tried");
  }
  fit.least = range.least;
  fit.most = range.most;
}

void take_gpus(FitArguments& arguments) {
  for (const std::string& text : arguments.gpus) {
    if (text == kAllGpus) {
      for (const GpuProfile& profile : gpu_profiles()) {
        arguments.fit.gpus.push_back({profile, std::nullopt, {}});
      }
      continue;
    }
    if (asks_for_cuda(text)) {
      throw UsageError(
          "--gpu cuda: ohm fit is for virtual GPUs, for it tries more memory than a card has. ohm "
          "verify-device FILES --write-profile card.json writes a profile of this computer's card, "
          "for --gpu card.json");
    }
    arguments.fit.gpus.push_back(gpu_selection(text));
  }
}

void check(FitArguments& arguments) {
  engine::RunOptions& run = arguments.fit.run;
  if (run.files.size() != 1) {
    throw UsageError("name one scenario, as in ohm fit scenarios/batch_size.lua --vary batch");
  }
  if (arguments.varied.empty()) {
    throw UsageError("say what to vary: --vary batch=1..65536, or --vary capacity");
  }
  take_range(arguments);
  take_gpus(arguments);
  check_run_options(run);
  if (run.parameters.count(arguments.fit.varied) != 0) {
    throw UsageError(fmt::format("--set {}: this parameter is varied", arguments.fit.varied));
  }
  arguments.fit.considers_limits = !arguments.ignores_limits;
}

/// Options that a command after `--` knows nothing of are not passed over in silence.
void refuse_scenario_options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    constexpr std::array<std::string_view, 7> kOfBoth = {
        "--vary", "--gpu", "--timeout", "--json", "--color", "--verbose", "--help"};
    const bool is_of_both = std::find(kOfBoth.begin(), kOfBoth.end(), name) != kOfBoth.end();
    if (option->count() == 0 || is_of_both) continue;
    throw UsageError(fmt::format("{}: is for scenarios, and a command comes after --", name));
  }
}

engine::CommandFitOptions command_fit_of(FitArguments& arguments, const CLI::App& app,
                                         const std::vector<std::string>& program) {
  if (arguments.varied.empty()) {
    throw UsageError("say what to vary: --vary batch=1..512, or --vary capacity");
  }
  take_range(arguments);
  take_gpus(arguments);
  engine::CommandFitOptions fit;
  fit.words = program;
  fit.varied = arguments.fit.varied;
  fit.least = arguments.fit.least.value_or(fit.least);
  fit.most = arguments.fit.most.value_or(fit.most);
  fit.gpus = arguments.fit.gpus;
  // A scenario's default is not one for programs that load models.
  if (app.count("--timeout") > 0) fit.timeout_seconds = arguments.fit.run.timeout_seconds;
  if (fit.gpus.empty()) fit.gpus.push_back(gpu_selection(interpose::kDefaultGpu));
  for (const GpuSelection& gpu : fit.gpus) {
    if (!gpu.file.empty()) {
      throw UsageError(fmt::format("--gpu {}: commands run on the GPUs of ohm gpus", gpu.file));
    }
  }
  if (is_stderr_animated() || arguments.style.verbose) {
    fit.on_run = [](std::int64_t run, const std::string& what) {
      write_stderr(fmt::format("ohm: run {}: {}\n", run, what));
    };
  }
  return fit;
}

int print_fit(const FitArguments& arguments, const engine::FinishedFit& finished) {
  if (arguments.json) {
    write_stdout(reports::fit_json(finished.result));
  } else {
    print_text(reports::fit_text(finished.result, report_style(arguments.style)));
  }
  return finished.exit_code();
}

int fit_command(FitArguments arguments, const CLI::App& app,
                const std::vector<std::string>& program) {
  const engine::CommandFitOptions options = command_fit_of(arguments, app, program);
  return print_fit(arguments, parsed("fit", [&] { return engine::fit_command(options); }));
}

/// Values that the scenario does not allow were left out: that is said.
void say_what_was_left_out(const FitResult& result, const engine::FitOptions& asked) {
  const bool is_narrower =
      (asked.least && *asked.least != result.least) || (asked.most && *asked.most != result.most);
  if (result.error || !is_narrower) return;
  write_stderr(fmt::format("ohm: {} allows only {} from {} to {}\n",
                           reports::printable(result.file), result.varied, result.least,
                           result.most));
}

int fit(FitArguments arguments, const Environment& environment) {
  check(arguments);
  check_parameters_declared(arguments.fit.run, environment);
  ProgressLine progress(is_stderr_animated());
  arguments.fit.on_progress = [&progress](std::size_t finished, std::size_t total) {
    progress.show(finished, total);
  };
  const engine::FinishedFit finished = engine::fit(arguments.fit, environment.loader);
  const FitResult& result = finished.result;
  progress.erase();
  say_what_was_left_out(result, arguments.fit);
  const int code = print_fit(arguments, finished);
  if (result.error) {
    print_error(result.error->message);
    print_hint(result.error->hint);
  }
  if (result.exit_reason == ExitReason::nothing_selected) {
    print_error("nothing is selected; ohm list prints what there is to select");
  }
  return code;
}

void add_question(CLI::App& app, FitArguments& arguments) {
  engine::RunOptions& run = arguments.fit.run;
  app.add_option("FILE", run.files, "A scenario file")->type_name("");
  app.add_option("--vary", arguments.varied,
                 "Parameter to maximize, in whole numbers; capacity: find the smallest GPU instead")
      ->type_name("NAME[=LEAST..MOST]");
  app.add_option("--gpu,--gpus", arguments.gpus,
                 "Use these GPUs instead (ohm gpus lists them), or all of them; repeatable")
      ->type_name(std::string(engine::kGpuValueName))
      ->allow_extra_args(false);
  app.add_option("--case", run.selection.cases,
                 "Only this variant, or all of this role (default: all but checks); repeatable")
      ->type_name("NAME|ROLE")
      ->allow_extra_args(false);
  app.add_flag("--no-limits", arguments.ignores_limits,
               "Ignore the scenario's limits: all that does not run out of memory fits");
}

void add_the_rest(CLI::App& app, FitArguments& arguments) {
  engine::RunOptions& run = arguments.fit.run;
  add_run_options(app, run, engine::RunCommand::fit);
  add_jobs_option(app, run.jobs);
  app.add_flag("--json", arguments.json, "Print JSON (ohm.fit/1)");
  add_color_option(app, arguments.style);
  add_verbose_option(app, arguments.style, "Print details of every variant on every GPU");
}

}  // namespace

std::function<int()> setup_fit(CLI::App& app, const Environment& environment) {
  const auto arguments = std::make_shared<FitArguments>();
  add_question(app, *arguments);
  add_the_rest(app, *arguments);
  return [arguments, &app, &environment] {
    if (environment.program.empty()) return fit(*arguments, environment);
    refuse_scenario_options(app);
    return fit_command(*arguments, app, environment.program);
  };
}

}  // namespace ohm::cli

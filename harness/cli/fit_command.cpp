#include "harness/cli/fit_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
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
#include "harness/fit/recorded_fit.h"
#include "reports/console/fit_text.h"
#include "reports/json/fit_json.h"
#include "reports/json/result_input.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

struct FitArguments {
  engine::FitOptions fit;
  std::string varied;
  std::vector<std::string> limits;
  std::vector<std::string> gpus;
  StyleOptions style;
  bool ignores_limits = false;
  bool json = false;
};

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

/// NAME=A,B of recordings, a value for each. Throws std::invalid_argument.
std::pair<std::string, std::vector<std::int64_t>> parse_recorded_values(const std::string& text,
                                                                        std::size_t files) {
  const std::size_t equals = text.find('=');
  std::vector<std::int64_t> values;
  std::string_view rest = equals == std::string::npos ? "" : std::string_view(text).substr(equals);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::optional<std::int64_t> value = whole_number(rest.substr(0, comma));
    if (!value || *value < 1) break;
    values.push_back(*value);
    rest.remove_prefix(comma);
  }
  std::vector<std::int64_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const bool has_twins = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (equals == 0 || !rest.empty() || values.size() != files || has_twins) {
    throw std::invalid_argument(
        fmt::format("\"{}\" is not NAME=VALUE,VALUE with a whole number above 0 for each of the {} "
                    "recordings, no two the same, as in batch=8,16",
                    text, files));
  }
  return {text.substr(0, equals), std::move(values)};
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
    if (asks_for_cuda(text)) {
      throw UsageError(
          "--gpu cuda: ohm fit is for virtual GPUs, for it tries more memory than a card has. ohm "
          "verify-device FILES --write-profile card.json writes a profile of this computer's card, "
          "for --gpu card.json");
    }
    const std::vector<GpuSelection> selected = gpu_selections(text);
    arguments.fit.gpus.insert(arguments.fit.gpus.end(), selected.begin(), selected.end());
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

/// Options that a command after `--`, or a recording, knows nothing of are not passed over in
/// silence.
void refuse_other_options(const CLI::App& app, std::span<const std::string_view> known,
                          std::string_view reason) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (option->count() == 0 || is_known) continue;
    throw UsageError(fmt::format("{}: {}", name, reason));
  }
}

void refuse_scenario_options(const CLI::App& app) {
  constexpr std::array<std::string_view, 7> kOfCommands = {
      "--vary", "--gpu", "--timeout", "--json", "--color", "--verbose", "--help"};
  refuse_other_options(app, kOfCommands, "is for scenarios, and a command comes after --");
}

void refuse_unrecorded_options(const CLI::App& app) {
  constexpr std::array<std::string_view, 10> kOfRecordings = {
      "FILE",    "--vary",       "--gpu",  "--limit", "--rules",
      "--color", "--alloc-conf", "--json", "--help",  "--verbose"};
  refuse_other_options(app, kOfRecordings, "is for scenarios, and these are recordings");
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

/// The cards of the table, where none was asked for: what was recorded is of no one card.
int fit_recorded(FitArguments arguments, const CLI::App& app) {
  refuse_unrecorded_options(app);
  const engine::RunOptions& run = arguments.fit.run;
  if (run.files.size() < 2) {
    throw UsageError(
        "one recording does not tell what grows: give two or more, as in ohm fit a.pickle b.pickle "
        "--vary batch=8,16");
  }
  if (arguments.gpus.empty()) arguments.gpus.emplace_back("all");
  take_gpus(arguments);
  engine::RecordedFitOptions fit;
  fit.files = run.files;
  std::tie(fit.varied, fit.values) =
      parsed("--vary", [&] { return parse_recorded_values(arguments.varied, run.files.size()); });
  // What was recorded need not be the most.
  const auto largest = std::max_element(fit.values.begin(), fit.values.end());
  constexpr std::int64_t kHalf = std::numeric_limits<std::int64_t>::max() / 2;
  fit.most = std::max(fit.most, 2 * std::min(*largest, kHalf));
  fit.gpus = arguments.fit.gpus;
  fit.limits = arguments.limits;
  fit.rules = run.rules;
  fit.alloc_conf = run.alloc_conf;
  const FitResult result = parsed("fit", [&] { return engine::fit_recordings(fit); });
  return print_fit(arguments, {result});
}

bool are_recordings(const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    return file.ends_with(".pickle") || file.ends_with(".pkl") || reports::is_pickle(file);
  });
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
  if (!arguments.limits.empty()) {
    throw UsageError("--limit is for recordings: a scenario has its own limits");
  }
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
  app.add_option("FILE", run.files, "A scenario file, or two and more recordings of one program")
      ->type_name("");
  app.add_option("--vary", arguments.varied,
                 "Parameter to maximize, in whole numbers; capacity: find the smallest GPU "
                 "instead. Of recordings the value of each, as in batch=8,16")
      ->type_name("NAME[=LEAST..MOST]");
  app.add_option("--gpu,--gpus", arguments.gpus,
                 "Use these GPUs instead (ohm gpus lists them), or all of them; repeatable")
      ->type_name(std::string(engine::kGpuValueName))
      ->allow_extra_args(false);
  app.add_option("--limit", arguments.limits,
                 "Of recordings: also the largest value that keeps this limit, as in "
                 "'peak_reserved_bytes < 20 GiB'; repeatable")
      ->type_name("LIMIT")
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
    if (environment.program.empty()) {
      return are_recordings(arguments->fit.run.files) ? fit_recorded(*arguments, app)
                                                      : fit(*arguments, environment);
    }
    refuse_scenario_options(app);
    return fit_command(*arguments, app, environment.program);
  };
}

}  // namespace ohm::cli

#include "harness/fit/command_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "allocator_shim/base/rule_set.h"
#include "harness/checkpoint/program_fingerprint.h"
#include "harness/exec/command_inputs.h"
#include "harness/fit/command_trial.h"
#include "harness/fit/fit_messages.h"
#include "harness/fit/fit_workload.h"
#include "harness/fit/measured_error.h"
#include "harness/fit/smallest_gpu.h"
#include "harness/fit/varied_command.h"
#include "harness/process/shell_quote.h"

namespace ohm::engine {

namespace {

/// As the preloaded library reads it.
std::string gpu_text(const GpuSelection& gpu, std::size_t capacity_bytes) {
  std::string text = fmt::format("{},capacity={}", gpu.profile.name, capacity_bytes);
  if (gpu.count) text += fmt::format(",count={}", *gpu.count);
  return text;
}

/// The allocator's rules that a version of PyTorch is nearest to: a guide for the search.
const RuleSet& rules_of(std::string_view torch_version) {
  const auto number_after = [](std::string_view text, std::string_view prefix) {
    int number = 0;
    if (text.starts_with(prefix)) {
      std::from_chars(text.data() + prefix.size(), text.data() + text.size(), number);
    }
    return number;
  };
  const RuleSet* nearest = &rule_sets().front();
  for (const RuleSet& rules : rule_sets()) {
    const bool is_there_yet =
        number_after(rules.name, "pytorch-2.") <= number_after(torch_version, "2.");
    if (is_there_yet) nearest = &rules;
  }
  return *nearest;
}

/// Names of assumptions, as the processes tell them.
constexpr std::string_view kContextAssumption = "process_context";
constexpr std::string_view kSelectionAssumption = "assumed_selection";

std::string allocator_settings() {
  for (const char* name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) return value;
  }
  return "";
}

/// What the rows depend on, beside the command.
std::map<std::string, std::string> settings_of(const CommandFitOptions& options) {
  std::vector<std::string> gpus;
  for (const GpuSelection& gpu : options.gpus) {
    gpus.push_back(gpu_text(gpu, gpu.profile.capacity_bytes));
  }
  return {{"command", "fit"},
          {kFitDealt, kFitDealtByGpu},
          {"vary", options.varied},
          {"least", std::to_string(options.least)},
          {"most", std::to_string(options.most)},
          {"gpus", fmt::format("{}", fmt::join(gpus, "; "))},
          {"timeout", fmt::format("{}", options.timeout_seconds)},
          {"values", options.values.words()},
          {"environment_alloc_conf", allocator_settings()}};
}

class CommandFit final : private FitWorkload {
 public:
  explicit CommandFit(const CommandFitOptions& options) : options_(options) {
    if (options_.varied != kFitCapacity) varied_.emplace(options_.words, options_.varied);
  }

  FinishedFit run() {
    result_.name = std::filesystem::path(options_.words.front()).filename();
    result_.file = shell_command(options_.words);
    result_.is_command = true;
    result_.has_values = options_.values.are_computed();
    result_.varied = options_.varied;
    result_.considers_limits = false;
    if (varied_) {
      result_.least = options_.least;
      result_.most = options_.most;
    }
    if (!options_.shard.is_whole()) {
      ShardResult& shard = result_.shard.emplace();
      shard.number = static_cast<std::int64_t>(options_.shard.index) + 1;
      shard.count = static_cast<std::int64_t>(options_.shard.count);
      shard.settings = settings_of(options_);
      shard.inputs = command_inputs(options_.words);
    }
    int signal = 0;
    try {
      for (std::size_t i = 0; i < options_.gpus.size(); ++i) {
        if (options_.shard.has(i)) add_row(i);
      }
    } catch (const CommandInterrupted& interrupted) {
      signal = interrupted.signal();
      result_.exit_reason = ExitReason::interrupted;
    }
    return {std::move(result_), signal};
  }

 private:
  /// What a command asks for on a GPU of a kind that is so large that nothing is scarce.
  struct KnownRequests {
    std::string profile;
    std::map<std::int64_t, CommandTrial> trials;  ///< by value
    RequestForecast forecast;
    TrialBasis basis;
    std::int64_t runs = 0;
    std::optional<std::string> why_not;  ///< the command fails there
  };

  void add_row(std::size_t number) {
    const std::string piece = fmt::format("row/{}", number);
    if (const std::optional<std::string> known = known_row(options_, options_.checkpoint, piece)) {
      FitAnswer answer = decoded_fit_answer(*known);
      result_.name = std::move(answer.name);
      result_.summary = std::move(answer.summary);
      return take(std::move(answer.row));
    }
    FitRow row = found_row(options_.gpus[number]);
    if (options_.checkpoint != nullptr) {
      options_.checkpoint->add(piece, encoded(FitAnswer{row, {}, result_.name, result_.summary}));
    }
    take(std::move(row));
  }

  void take(FitRow row) {
    if (row.outcome == FitOutcome::failed) {
      result_.exit_reason = worse_of(result_.exit_reason, ExitReason::script_error);
    }
    result_.rows.push_back(std::move(row));
  }

  /// What other rows have tried is not known to it: it is the same in any shard.
  FitRow found_row(const GpuSelection& gpu) {
    FitRow row;
    row.profile = gpu.profile.name;
    row.gpu_count = gpu.count.value_or(1);
    gpu_ = &gpu;
    workspace_bytes_ = 0;
    runs_of_row_ = 0;
    is_known_to_run_ = false;
    basis_ = {};
    if (varied_) choose_known_requests();
    if (varied_ && known_->why_not) {
      row.outcome = FitOutcome::failed;
      row.error = *known_->why_not;
    } else {
      search_row(*this, question(), row);
    }
    row.runs = runs_of_row_;
    take_basis(row);
    row.variant = result_.name;
    return row;
  }

  RowQuestion question() const {
    RowQuestion question;
    question.is_of_capacity = !varied_;
    question.least = options_.least;
    question.most = options_.most;
    question.capacity_bytes = static_cast<std::int64_t>(gpu_->profile.capacity_bytes);
    question.context_bytes = static_cast<std::int64_t>(gpu_->profile.context_bytes);
    return question;
  }

  // ---- runs -----------------------------------------------------------------------------------

  CommandTrial try_at(std::int64_t value, const GpuSelection& gpu, std::size_t capacity_bytes,
                      const std::string& what) {
    ++runs_;
    ++runs_of_row_;
    if (options_.on_run) options_.on_run(runs_, what);
    CommandQuestion question;
    question.words = varied_ ? varied_->words_at(value) : options_.words;
    if (varied_ && !varied_->variable().empty()) {
      question.environment.emplace_back(varied_->variable(), std::to_string(value));
    }
    question.gpus = gpu_text(gpu, capacity_bytes);
    question.timeout_seconds = options_.timeout_seconds;
    question.value = value;
    question.values = options_.values;
    CommandTrial trial = try_command(runner_, question);
    // Where memory ends decides only what did not fit.
    if (!trial.probe.point) std::erase(trial.basis.modelled, kContextAssumption);
    basis_.add(trial.basis);
    if (!trial.program.empty()) result_.name = trial.program;
    if (!trial.torch_version.empty()) {
      torch_version_ = trial.torch_version;
      result_.summary = "PyTorch " + trial.torch_version;
      rules_ = rules_of(trial.torch_version);
    }
    if (trial.requests) forecast_.learn(value, std::move(*trial.requests), trial.was_scarce);
    return trial;
  }

  void take_basis(FitRow& row) const {
    row.modelled = basis_.modelled;
    std::sort(row.modelled.begin(), row.modelled.end());
    row.unknown_values = basis_.unknown_values;
    const bool is_assumed = std::find(row.modelled.begin(), row.modelled.end(),
                                      kSelectionAssumption) != row.modelled.end();
    if (is_assumed) row.assumed_selection = options_.values.assumed_selection;
    if (row.margin && row.unknown_values.empty()) {
      row.margin->error = measured_error(*gpu_, torch_version_, row.modelled);
    }
  }

  // ---- what the search asks for ---------------------------------------------------------------

  /// What a larger GPU of this kind served without giving segments back fits as it is.
  Probe at_value(std::int64_t value) override {
    const GpuProfile& profile = gpu_->profile;
    const auto available = static_cast<std::int64_t>(profile.capacity_bytes) -
                           static_cast<std::int64_t>(profile.context_bytes);
    const auto roomy = known_->trials.find(value);
    const bool is_known = roomy != known_->trials.end() && known_->profile == profile.name &&
                          !roomy->second.was_scarce &&
                          roomy->second.probe.point->peak_reserved_bytes <= available;
    const CommandTrial trial =
        is_known ? roomy->second
                 : try_at(value, *gpu_, profile.capacity_bytes,
                          fmt::format("{} = {} on {}", options_.varied, value, profile.name));
    if (trial.probe.point) {
      workspace_bytes_ = trial.workspace_bytes;
      is_known_to_run_ = true;
    } else if (trial.probe.stop->kind == FitStopKind::error) {
      check_that_it_runs();
    }
    return trial.probe;
  }

  Probe at_capacity(std::int64_t bytes) override {
    return try_at(kOnlyValue, *gpu_, static_cast<std::size_t>(bytes),
                  fmt::format("on {} bytes", bytes))
        .probe;
  }

  std::optional<FitPoint> on_large_gpu(std::int64_t value) override {
    const CommandTrial roomy =
        try_at(value, *gpu_, kLargeCapacity, fmt::format("on a large {}", gpu_->profile.name));
    if (!roomy.probe.point) throw RowError(roomy.probe.stop->reason);
    workspace_bytes_ = roomy.workspace_bytes;
    return roomy.probe.point;
  }

  std::optional<bool> forecast(std::int64_t value, std::int64_t available_bytes) const override {
    if (available_bytes <= 0) return false;
    return forecast_.fits(
        value, {static_cast<std::size_t>(available_bytes), allocator_settings(), rules_});
  }
  bool forecasts_capacity() const override { return true; }
  bool has_cheap_runs() const override { return false; }
  std::int64_t workspace_bytes(std::int64_t /*value*/) const override { return workspace_bytes_; }

  std::vector<FitPoint> known_elsewhere() const override {
    std::vector<FitPoint> points;
    for (const auto& [value, trial] : known_->trials) points.push_back(*trial.probe.point);
    return points;
  }
  std::vector<std::int64_t> known_here() const override {
    std::vector<std::int64_t> values;
    if (known_->profile != gpu_->profile.name) return values;
    for (const auto& [value, trial] : known_->trials) values.push_back(value);
    return values;
  }

  // ---- what is known of a number of the command before ------------------------------------------

  /// Those of the first of the GPUs; where the command does not run on that one, of the row's own.
  void choose_known_requests() {
    const GpuSelection& first = options_.gpus.front();
    known_ = &requests_on(first);
    if (known_->why_not) known_ = &requests_on(*gpu_);
    runs_of_row_ = gpu_ == &first || known_ != &requests_on(first) ? known_->runs : 0;
    basis_ = known_->basis;
    forecast_ = known_->forecast;
  }

  /// Two values where nothing is scarce tell how requests grow. Not 1 where it can be avoided:
  /// programs treat a batch of one in ways of their own.
  const KnownRequests& requests_on(const GpuSelection& gpu) {
    constexpr std::int64_t kFirst = 4;
    const auto [found, is_new] = known_requests_.try_emplace(gpu_text(gpu, kLargeCapacity));
    KnownRequests& known = found->second;
    if (!is_new) return known;
    known.profile = gpu.profile.name;
    RequestForecast of_row = std::exchange(forecast_, {});
    TrialBasis basis_of_row = std::exchange(basis_, {});
    const std::int64_t first = std::clamp(kFirst, options_.least, options_.most);
    for (const std::int64_t value : {first, std::min(options_.most, 2 * first)}) {
      if (known.why_not || known.trials.contains(value)) continue;
      const CommandTrial trial =
          try_at(value, gpu, kLargeCapacity,
                 fmt::format("{} = {} on a large {}", options_.varied, value, gpu.profile.name));
      ++known.runs;
      if (trial.probe.point) {
        known.trials[value] = trial;
      } else {
        known.why_not = trial.probe.stop->reason;
      }
    }
    known.forecast = std::exchange(forecast_, std::move(of_row));
    known.basis = std::exchange(basis_, std::move(basis_of_row));
    return known;
  }

  /// A value that fails does not fit. Where none has fitted on this kind of GPU, it may be the GPU
  /// that the command does not run on: no value would tell more.
  void check_that_it_runs() {
    if (is_known_to_run_) return;
    is_known_to_run_ = true;
    const std::int64_t runs_before = runs_of_row_;
    const KnownRequests& known = requests_on(*gpu_);
    runs_of_row_ = runs_before + (known_ == &known ? 0 : known.runs);
    if (known.why_not) throw RowError(*known.why_not);
  }

  static constexpr std::int64_t kOnlyValue = 0;

  const CommandFitOptions& options_;
  const CommandRunner runner_;
  std::optional<VariedCommand> varied_;
  FitResult result_;
  const GpuSelection* gpu_ = nullptr;  ///< of this row
  RequestForecast forecast_;           ///< by the runs of this row, and those of known_
  TrialBasis basis_;                   ///< likewise
  std::map<std::string, KnownRequests> known_requests_;  ///< by kind of GPU, as gpu_text() has it
  const KnownRequests* known_ = nullptr;                 ///< of this row
  bool is_known_to_run_ = false;                         ///< the command, on the GPU of this row
  std::string torch_version_;                            ///< of the last run that told it
  RuleSet rules_ = default_rule_set();
  std::int64_t workspace_bytes_ = 0;  ///< of the last run that fitted
  std::int64_t runs_ = 0;
  std::int64_t runs_of_row_ = 0;
};

}  // namespace

CheckpointedWork checkpointed_work(const CommandFitOptions& options) {
  CheckpointedWork work{program_fingerprint(), settings_of(options), {}};
  work.settings["shard"] = fmt::format("{}/{}", options.shard.index + 1, options.shard.count);
  for (const ShardInput& input : command_inputs(options.words))
    work.files.emplace_back(input.file, input.hash);
  return work;
}

FinishedFit fit_command(const CommandFitOptions& options) { return CommandFit(options).run(); }

}  // namespace ohm::engine

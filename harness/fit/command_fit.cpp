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

class CommandFit {
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
  /// The command fails for another reason than memory: there is nothing to search.
  class RowError : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

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
    if (const std::optional<std::string> known = find_known(piece)) {
      CommandRow row = decoded_command_row(*known);
      result_.name = std::move(row.name);
      result_.summary = std::move(row.summary);
      return take(std::move(row.row));
    }
    FitRow row = found_row(options_.gpus[number]);
    if (options_.checkpoint != nullptr) {
      options_.checkpoint->add(piece, encoded(CommandRow{row, result_.name, result_.summary}));
    }
    take(std::move(row));
  }

  std::optional<std::string> find_known(const std::string& piece) const {
    std::optional<std::string> record;
    if (options_.checkpoint != nullptr) record = options_.checkpoint->find(piece);
    for (const Checkpoint* const found : options_.found) {
      if (!record) record = found->find(piece);
    }
    return record;
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
    workspace_bytes_ = 0;
    runs_of_row_ = 0;
    is_known_to_run_ = false;
    basis_ = {};
    if (varied_) {
      choose_known_requests(gpu);
      basis_ = known_->basis;
    }
    try {
      varied_ ? find_value(gpu, row) : find_capacity(gpu, row);
    } catch (const RowError& error) {
      row.outcome = FitOutcome::failed;
      row.error = error.what();
    }
    row.runs = runs_of_row_;
    take_basis(row);
    row.variant = result_.name;
    return row;
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
  }

  std::optional<bool> forecast(std::int64_t value, std::int64_t available_bytes) const {
    if (available_bytes <= 0) return false;
    return forecast_.fits(
        value, {static_cast<std::size_t>(available_bytes), allocator_settings(), rules_});
  }

  static std::int64_t available(const GpuProfile& profile) {
    return static_cast<std::int64_t>(profile.capacity_bytes) -
           static_cast<std::int64_t>(profile.context_bytes);
  }

  // ---- a number of the command ----------------------------------------------------------------

  void find_value(const GpuSelection& gpu, FitRow& row) {
    if (known_->why_not) throw RowError(*known_->why_not);
    forecast_ = known_->forecast;
    const std::int64_t room = available(gpu.profile);
    Probes probes([&](std::int64_t value) { return probe_at(value, gpu); });
    const FitRange range = {options_.least, options_.most,
                            room,           known_points(),
                            std::nullopt,   [&](std::int64_t v) { return forecast(v, room); }};
    const std::optional<std::int64_t> found = largest_that_fits(probes, range, FitRule::on_the_gpu);
    const bool is_largest = found == range.most;
    row.outcome =
        !found ? FitOutcome::none_fits : (is_largest ? FitOutcome::all_fit : FitOutcome::found);
    if (!is_largest) row.stop = probes.at(found ? *found + 1 : range.least).stop;
    if (!found) return;
    row.best = probes.at(*found).point;
    // What was run to learn from is known, on this kind of GPU.
    for (const auto& [value, trial] : known_->trials) {
      if (value < *found && known_->profile == gpu.profile.name) probes.at(value);
    }
    row.line = line_through(probes, *found);
    for (const auto& [value, probe] : probes.all()) {
      if (probe.point) row.points.push_back(*probe.point);
    }
    fill_margin(gpu, static_cast<std::int64_t>(gpu.profile.capacity_bytes), row);
  }

  /// Those of the first of the GPUs; where the command does not run on that one, of the row's own.
  void choose_known_requests(const GpuSelection& gpu) {
    const GpuSelection& first = options_.gpus.front();
    known_ = &requests_on(first);
    if (known_->why_not) known_ = &requests_on(gpu);
    runs_of_row_ = &gpu == &first || known_ != &requests_on(first) ? known_->runs : 0;
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
  void check_that_it_runs(const GpuSelection& gpu) {
    if (is_known_to_run_) return;
    is_known_to_run_ = true;
    const std::int64_t runs_before = runs_of_row_;
    const KnownRequests& known = requests_on(gpu);
    runs_of_row_ = runs_before + (known_ == &known ? 0 : known.runs);
    if (known.why_not) throw RowError(*known.why_not);
  }

  std::vector<FitPoint> known_points() const {
    std::vector<FitPoint> points;
    for (const auto& [value, trial] : known_->trials) points.push_back(*trial.probe.point);
    return points;
  }

  /// What a larger GPU of this kind served without giving segments back fits as it is.
  Probe probe_at(std::int64_t value, const GpuSelection& gpu) {
    const auto roomy = known_->trials.find(value);
    const bool is_known = roomy != known_->trials.end() && known_->profile == gpu.profile.name &&
                          !roomy->second.was_scarce &&
                          roomy->second.probe.point->peak_reserved_bytes <= available(gpu.profile);
    const CommandTrial trial =
        is_known ? roomy->second
                 : try_at(value, gpu, gpu.profile.capacity_bytes,
                          fmt::format("{} = {} on {}", options_.varied, value, gpu.profile.name));
    if (trial.probe.point) {
      workspace_bytes_ = trial.workspace_bytes;
      is_known_to_run_ = true;
    } else if (trial.probe.stop->kind == FitStopKind::error) {
      check_that_it_runs(gpu);
    }
    return trial.probe;
  }

  // ---- the GPU --------------------------------------------------------------------------------

  /// Between the peak of what is allocated, which no smaller GPU can hold, and the peak of what is
  /// reserved where nothing is scarce, which every larger one can.
  void find_capacity(const GpuSelection& gpu, FitRow& row) {
    constexpr std::int64_t kOnlyValue = 0;
    const auto context = static_cast<std::int64_t>(gpu.profile.context_bytes);
    const CommandTrial roomy =
        try_at(kOnlyValue, gpu, kLargeCapacity, fmt::format("on a large {}", gpu.profile.name));
    if (!roomy.probe.point) throw RowError(roomy.probe.stop->reason);
    workspace_bytes_ = roomy.workspace_bytes;
    const FitPoint& peaks = *roomy.probe.point;
    const std::int64_t least = std::max<std::int64_t>(peaks.peak_allocated_bytes / kGranule, 1);
    const std::int64_t most = (peaks.peak_reserved_bytes + kGranule - 1) / kGranule;
    const auto capacity_without = [&](std::int64_t left_out) {
      return context + (most - left_out) * kGranule;
    };
    // The search is for the largest: it counts the granules that are left out.
    Probes probes([&](std::int64_t left_out) {
      const auto capacity = static_cast<std::size_t>(capacity_without(left_out));
      Probe probe = try_at(kOnlyValue, gpu, capacity, fmt::format("on {} bytes", capacity)).probe;
      if (probe.point) probe.point->value = left_out;
      return probe;
    });
    const FitRange range = {0, most - least, 0, {}, std::nullopt, [&](std::int64_t left_out) {
                              return forecast(kOnlyValue, capacity_without(left_out) - context);
                            }};
    const std::optional<std::int64_t> found = largest_that_fits(probes, range, FitRule::on_the_gpu);
    row.outcome = found ? FitOutcome::found : FitOutcome::none_fits;
    if (!found) {
      row.stop = probes.at(0).stop;
      return;
    }
    row.best = probes.at(*found).point;
    row.best->value = capacity_without(*found);
    if (*found < range.most) row.stop = probes.at(*found + 1).stop;
    fill_margin(gpu, row.best->value, row);
    name_smallest_gpu(row.best->value - context, row);
  }

  void fill_margin(const GpuSelection& gpu, std::int64_t capacity, FitRow& row) const {
    FitMargin margin;
    margin.capacity_bytes = capacity;
    margin.context_bytes = static_cast<std::int64_t>(gpu.profile.context_bytes);
    margin.workspace_bytes = workspace_bytes_;
    margin.left_bytes = capacity - margin.context_bytes - row.best->peak_reserved_bytes;
    if (basis_.unknown_values.empty()) {
      margin.error = measured_error(gpu, torch_version_, basis_.modelled);
    }
    row.margin = margin;
  }

  const CommandFitOptions& options_;
  const CommandRunner runner_;
  std::optional<VariedCommand> varied_;
  FitResult result_;
  RequestForecast forecast_;  ///< by the runs of this row, and those of known_
  TrialBasis basis_;          ///< likewise
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

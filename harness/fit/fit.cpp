#include "harness/fit/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/fit/fit_messages.h"
#include "harness/fit/fit_row.h"
#include "harness/judge/scenario_validation.h"
#include "harness/process/worker_pool.h"
#include "harness/run/shard_work.h"
#include "harness/run/variant_machine.h"
#include "harness/run/variant_process.h"
#include "harness/scenario/script_errors.h"
#include "harness/scenario/script_sources.h"

namespace ohm::engine {

namespace {

/// A check asks something else than what fits.
std::vector<std::string> variants_to_fit(const ScenarioDescription& scenario,
                                         const Selection& selection) {
  std::vector<std::string> names = selected_variants(scenario, selection);
  if (!selection.cases.empty() || !selection.filter.empty()) return names;
  const auto is_check = [&](const std::string& name) {
    return find_variant(scenario, name)->role == Role::check;
  };
  names.erase(std::remove_if(names.begin(), names.end(), is_check), names.end());
  return names;
}

const ScenarioParameter* find_parameter(const ScenarioDescription& scenario,
                                        const std::string& name) {
  const auto found = std::find_if(scenario.parameters.begin(), scenario.parameters.end(),
                                  [&](const auto& known) { return known.name == name; });
  return found == scenario.parameters.end() ? nullptr : &*found;
}

/// What a scenario that does not declare it could have been asked for.
ErrorResult unknown_parameter(const ScenarioDescription& scenario, const std::string& name) {
  std::vector<std::string> names = {kFitCapacity};
  for (const ScenarioParameter& parameter : scenario.parameters) names.push_back(parameter.name);
  return {fmt::format("{} declares no parameter \"{}\"{}; --vary takes {}", scenario.file, name,
                      did_you_mean(name, names), fmt::join(names, ", ")),
          {},
          0,
          {},
          names.size() > 1 ? "" : "ohm.params {batch = 32} in the scenario declares one"};
}

/// What the rows depend on, beside what all commands that run scenarios do.
std::map<std::string, std::string> settings_of(const FitOptions& options) {
  const auto bound = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : "";
  };
  std::vector<std::string> gpus;
  for (const GpuSelection& gpu : options.gpus) {
    gpus.push_back(
        fmt::format("{} x {}, {}", gpu.count.value_or(0), gpu.profile.name, gpu_setting(gpu)));
  }
  return {{"command", "fit"},
          {"vary", options.varied},
          {"least", bound(options.least)},
          {"most", bound(options.most)},
          {"gpus", fmt::format("{}", fmt::join(gpus, "; "))},
          {"no_limits", options.considers_limits ? "false" : "true"}};
}

/// How often progress is reported.
constexpr double kWakeSeconds = 0.2;

class Fit {
 public:
  Fit(const FitOptions& options, const ScenarioLoader& loader)
      : options_(options),
        loader_(loader),
        pool_({std::max(1, options.run.jobs), options.run.timeout_seconds,
               options.on_progress ? kWakeSeconds : 0}) {}

  FinishedFit run() {
    result_.file = options_.run.files.front();
    result_.varied = options_.varied;
    result_.considers_limits = options_.considers_limits;
    result_.shard = shard_result(options_.shard, options_.run);
    if (result_.shard) result_.shard->settings.merge(settings_of(options_));
    try {
      request_ = load_request(options_.run, result_.file, read_script_sources(result_.file));
      pool_.submit(
          0, [this] { return encoded(load_scenario(loader_, request_)); },
          [this](const WorkResult& loaded) { take_scenario(loaded); });
      pool_.run([this] {
        if (options_.on_progress && !result_.rows.empty()) {
          options_.on_progress(finished_, result_.rows.size());
        }
        return true;
      });
    } catch (const ScriptError& error) {
      fail(error_result(error), ExitReason::script_error);
    }
    const int signal = InterruptGuard::signal();
    if (signal != 0) result_.exit_reason = ExitReason::interrupted;
    return {std::move(result_), signal};
  }

 private:
  void fail(ErrorResult error, ExitReason reason) {
    result_.error = std::move(error);
    result_.exit_reason = worse_of(result_.exit_reason, reason);
  }

  void take_scenario(const WorkResult& loaded) {
    if (loaded.end == WorkEnd::interrupted) return;
    if (loaded.end != WorkEnd::message) {
      ErrorResult error;
      error.message = fmt::format("loading {} {}", result_.file,
                                  why_without_message(loaded, options_.run.timeout_seconds));
      return fail(std::move(error), reason_of(loaded.end));
    }
    LoadedScenario scenario = decoded_scenario(loaded.message);
    if (scenario.error) return fail(std::move(*scenario.error), ExitReason::script_error);
    try {
      scenario_ = validated(std::move(scenario.description));
    } catch (const ScriptError& error) {
      return fail(error_result(error), ExitReason::script_error);
    }
    result_.name = scenario_.name;
    result_.summary = scenario_.summary;
    if (options_.varied != kFitCapacity) {
      const ScenarioParameter* const parameter = find_parameter(scenario_, options_.varied);
      if (parameter == nullptr) {
        return fail(unknown_parameter(scenario_, options_.varied), ExitReason::usage);
      }
      if (!take_range(*parameter)) return;
    }
    submit_rows();
  }

  /// The part of the range that was asked for which the parameter can have; false when that is
  /// none.
  bool take_range(const ScenarioParameter& parameter) {
    constexpr std::int64_t kDefaultMost = 65536;
    const double least = std::ceil(parameter.least.value_or(1));
    const double most = std::floor(
        parameter.most.value_or(std::max<double>(kDefaultMost, parameter.default_value)));
    result_.least = options_.least.value_or(std::llround(least));
    result_.most = options_.most.value_or(std::llround(most));
    const bool is_too_small = parameter.least && static_cast<double>(result_.most) < least;
    const bool is_too_large = parameter.most && static_cast<double>(result_.least) > most;
    if (is_too_small || is_too_large) {
      fail({fmt::format("{}: {} is {} {:g}", result_.file, parameter.name,
                        is_too_small ? "at least" : "at most", is_too_small ? least : most),
            {},
            0,
            {},
            {}},
           ExitReason::usage);
      return false;
    }
    if (parameter.least) result_.least = std::max<std::int64_t>(result_.least, std::llround(least));
    if (parameter.most) result_.most = std::min<std::int64_t>(result_.most, std::llround(most));
    return true;
  }

  void submit_rows() {
    std::vector<const GpuSelection*> gpus = {nullptr};
    if (!options_.gpus.empty()) gpus.clear();
    for (const GpuSelection& gpu : options_.gpus) gpus.push_back(&gpu);
    const std::vector<std::string> names = variants_to_fit(scenario_, options_.run.selection);
    for (std::size_t number = 0; number < names.size(); ++number) {
      if (!options_.shard.has(number)) continue;
      const VariantDescription& variant = *find_variant(scenario_, names[number]);
      std::vector<std::size_t> rows;
      for (const GpuSelection* const gpu : gpus) {
        pieces_.push_back(fmt::format("{}/{}", variant.name, rows.size()));
        rows.push_back(add_row(variant, gpu));
      }
      submit_first_of(rows);
    }
    if (names.empty()) result_.exit_reason = ExitReason::nothing_selected;
  }

  /// `selected` is nullptr for the scenario's own.
  std::size_t add_row(const VariantDescription& variant, const GpuSelection* selected) {
    RunOptions run = options_.run;
    run.size_only = true;
    if (selected != nullptr) run.gpu = *selected;
    const MachineOptions machine = machine_for(scenario_, variant, run);
    const GpuSpec& gpu = machine.gpu;
    FitRow row;
    row.variant = variant.name;
    row.role = variant.role;
    row.profile = gpu.profile;
    row.gpu_count = gpu.count;
    result_.rows.push_back(row);
    FitQuestion question;
    question.load = request_;
    question.variant = variant.name;
    question.varied = options_.varied;
    question.least = result_.least;
    question.most = result_.most;
    question.gpu = gpu;
    question.profile = machine.gpu_profile();
    question.fault = variant.fault;
    question.considers_limits = options_.considers_limits;
    questions_.push_back(std::move(question));
    return result_.rows.size() - 1;
  }

  /// What the largest GPU says about a variant guides the search on the others.
  void submit_first_of(std::vector<std::size_t> rows) {
    const auto capacity_of = [&](std::size_t row) {
      const FitQuestion& question = questions_[row];
      return question.gpu.capacity_bytes.value_or(question.profile.capacity_bytes);
    };
    const auto largest = std::max_element(
        rows.begin(), rows.end(),
        [&](std::size_t a, std::size_t b) { return capacity_of(a) < capacity_of(b); });
    const std::size_t first = *largest;
    rows.erase(largest);
    submit_row(first, [this, first, rows = std::move(rows)](const RequestForecast& forecast) {
      for (const std::size_t other : rows) {
        const FitRow& known = result_.rows[first];
        questions_[other].known_elsewhere = known.points;
        questions_[other].forecast = forecast;
        if (known.best_within_limits) {
          questions_[other].within_limits_elsewhere = known.best_within_limits->value;
        }
        submit_row(other, [](const RequestForecast&) {});
      }
    });
  }

  using Then = std::function<void(const RequestForecast& forecast)>;

  void submit_row(std::size_t index, Then then) {
    const auto take = [this, index, then = std::move(then)](const WorkResult& done) {
      const RequestForecast forecast = take_row(index, done);
      ++finished_;
      if (done.end != WorkEnd::interrupted) then(forecast);
    };
    if (const std::optional<std::string> known =
            known_row(options_, options_.run.checkpoint, pieces_[index])) {
      return take({WorkEnd::message, *known, {}, {}});
    }
    pool_.submit(
        1, [this, index] { return encoded(fit_row(loader_, questions_[index])); },
        [this, index, take](const WorkResult& done) {
          const bool is_kept = done.end == WorkEnd::message && options_.run.checkpoint != nullptr;
          if (is_kept) options_.run.checkpoint->add(pieces_[index], done.message);
          take(done);
        });
  }

  RequestForecast take_row(std::size_t index, const WorkResult& done) {
    FitRow& row = result_.rows[index];
    if (done.end != WorkEnd::message) {
      row.error = why_without_message(done, options_.run.timeout_seconds);
      result_.exit_reason = worse_of(result_.exit_reason, reason_of(done.end));
      return {};
    }
    FitAnswer answer = decoded_fit_answer(done.message);
    FitRow& found = answer.row;
    found.variant = row.variant;
    found.role = row.role;
    found.profile = row.profile;
    found.gpu_count = row.gpu_count;
    row = std::move(found);
    if (row.outcome == FitOutcome::failed) {
      result_.exit_reason = worse_of(result_.exit_reason, ExitReason::script_error);
    }
    return std::move(answer.forecast);
  }

  const FitOptions& options_;
  const ScenarioLoader& loader_;
  WorkerPool pool_;
  LoadRequest request_;
  ScenarioDescription scenario_;
  std::vector<FitQuestion> questions_;  ///< one for each row
  std::vector<std::string> pieces_;     ///< as which a checkpoint knows each row
  FitResult result_;
  std::size_t finished_ = 0;  ///< of its rows
};

}  // namespace

CheckpointedWork checkpointed_work(const FitOptions& options) {
  CheckpointedWork work = checkpointed_work(options.shard, options.run);
  for (const auto& [name, value] : settings_of(options)) work.settings[name] = value;
  return work;
}

std::optional<std::string> known_row(const FitRules& rules, const Checkpoint* checkpoint,
                                     const std::string& piece) {
  std::optional<std::string> record;
  if (checkpoint != nullptr) record = checkpoint->find(piece);
  for (const Checkpoint* const found : rules.found) {
    if (!record) record = found->find(piece);
  }
  return record;
}

int FinishedFit::exit_code() const { return process_code(result.exit_reason, signal); }

FinishedFit fit(const FitOptions& options, const ScenarioLoader& loader) {
  return Fit(options, loader).run();
}

}  // namespace ohm::engine

#include "harness/fit/fit_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "harness/fit/fit_search.h"
#include "harness/fit/smallest_gpu.h"
#include "harness/judge/judge.h"
#include "harness/judge/scenario_validation.h"
#include "harness/run/variant_process.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"

namespace ohm::engine {

namespace {

/// The script cannot be run at all: no search.
class RowError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string oom_reason(const MeasuredVariant& run) {
  return run.oom ? reports::oom_sentence(*run.oom)
                 : "an out-of-memory error that the program catches";
}

std::int64_t largest(const MeasuredVariant& run, std::int64_t DeviceResult::*figure) {
  std::int64_t most = 0;
  for (const DeviceResult& device : run.devices) most = std::max(most, device.*figure);
  return most;
}

/// Runs the variant, and those that its limits compare it with, at one value.
class FitTrial {
 public:
  FitTrial(const ScenarioLoader& loader, const FitQuestion& question)
      : loader_(loader), question_(question), forecast_(question.forecast) {}

  Probe at_parameter(std::int64_t value) {
    LoadRequest load = question_.load;
    load.parameters[question_.varied] = static_cast<double>(value);
    return run(value, load, question_.gpu);
  }
  Probe at_capacity(std::int64_t bytes) {
    GpuSpec gpu = question_.gpu;
    gpu.capacity_bytes = static_cast<std::size_t>(bytes);
    return run(bytes, question_.load, gpu);
  }
  /// What the variant takes where nothing is too large, less the context; nullopt where even a
  /// large GPU is too small.
  std::optional<FitPoint> on_large_gpu(std::int64_t value, const LoadRequest& load) {
    GpuSpec gpu = question_.gpu;
    gpu.capacity_bytes = kLargeCapacity;
    const MeasuredVariant run = run_one(question_.variant, load, gpu);
    if (run.outcome != Outcome::completed) return std::nullopt;
    return point_of(value, run);
  }

  /// Of the last run of the variant itself that fitted, by value.
  const std::map<std::int64_t, MeasuredVariant>& fitting() const { return fitting_; }
  const std::set<std::string>& unchecked() const { return unchecked_; }
  std::int64_t runs() const { return runs_; }
  const RequestForecast& forecast() const { return forecast_; }

 private:
  static FitPoint point_of(std::int64_t value, const MeasuredVariant& run) {
    return {value, largest(run, &DeviceResult::peak_allocated_bytes),
            largest(run, &DeviceResult::peak_reserved_bytes)};
  }

  MeasuredVariant run_one(const std::string& name, const LoadRequest& load, const GpuSpec& gpu,
                          const std::function<void(const Machine&)>& look_at = nullptr) {
    ++runs_;
    MachineOptions machine;
    machine.gpu = gpu;
    machine.profile = question_.profile;
    machine.seed = load.seed;
    if (!question_.fault.empty()) machine.fault_plans.push_back(question_.fault);
    VariantFiles files;
    files.script_writes = false;
    return run_variant(loader_, load, name, machine, files, Recording::figures, nullptr, look_at);
  }

  /// Faults come when they come: no forecast knows of them.
  MeasuredVariant run_and_learn(std::int64_t value, const LoadRequest& load, const GpuSpec& gpu) {
    if (!question_.fault.empty()) return run_one(question_.variant, load, gpu);
    RequestList requests;
    MeasuredVariant run =
        run_one(question_.variant, load, gpu,
                [&requests](const Machine& machine) { requests = request_list(machine.events()); });
    if (run.outcome == Outcome::completed && largest(run, &DeviceResult::num_ooms) == 0) {
      const bool was_scarce = largest(run, &DeviceResult::num_alloc_retries) > 0;
      forecast_.learn(value, std::move(requests), was_scarce);
    }
    return run;
  }

  Probe run(std::int64_t value, const LoadRequest& load, const GpuSpec& gpu) {
    Probe probe;
    MeasuredVariant run;
    try {
      run = run_and_learn(value, load, gpu);
    } catch (const std::invalid_argument& no_machine) {
      // A context that does not fit, say.
      probe.stop = FitStop{value, FitStopKind::out_of_memory, no_machine.what(), {}};
      return probe;
    }
    if (run.outcome == Outcome::error) {
      probe.stop = FitStop{value, FitStopKind::error, run.error ? run.error->message : "", {}};
    } else if (run.outcome == Outcome::oom || largest(run, &DeviceResult::num_ooms) > 0) {
      probe.stop = FitStop{value, FitStopKind::out_of_memory, oom_reason(run), {}};
    }
    if (probe.stop) return probe;
    if (question_.considers_limits) probe.broken = broken_limit(value, load, gpu, run);
    probe.point = point_of(value, run);
    fitting_[value] = std::move(run);
    return probe;
  }

  /// Limits are functions of the parameters, so they are read again at every value.
  std::optional<FitStop> broken_limit(std::int64_t value, const LoadRequest& load,
                                      const GpuSpec& gpu, const MeasuredVariant& run) {
    LoadedScenario loaded = load_scenario(loader_, load);
    if (loaded.error) return FitStop{value, FitStopKind::error, loaded.error->message, {}};
    const ScenarioDescription scenario = validated(std::move(loaded.description));
    const VariantDescription* const variant = find_variant(scenario, question_.variant);
    if (variant == nullptr) throw RowError("no variant of this name exists at this value");
    std::map<std::string, MeasuredVariant> others;
    const auto lookup = [&](const std::string& name) -> MeasurementSource {
      const std::string other = resolved_name(*variant, name);
      if (others.count(other) == 0) others[other] = run_one(other, load, gpu);
      return {has_figures(others[other].outcome) ? &others[other] : nullptr, nullptr};
    };
    for (const Limit& limit : limits_of(scenario, *variant)) {
      const EvaluatedLimit evaluated = evaluate(limit, {&run, nullptr}, lookup);
      if (!evaluated.result.holds) {
        unchecked_.insert(limit.text);
      } else if (!*evaluated.result.holds) {
        return FitStop{value, FitStopKind::limit, reports::limit_sentence(evaluated.result),
                       evaluated.result};
      }
    }
    return std::nullopt;
  }

  const ScenarioLoader& loader_;
  const FitQuestion& question_;
  std::map<std::int64_t, MeasuredVariant> fitting_;
  std::set<std::string> unchecked_;
  RequestForecast forecast_;
  std::int64_t runs_ = 0;
};

/// A script that fails everywhere is an error of its own, not a value that does not fit.
void refuse_script_errors(const Probe& probe) {
  if (probe.stop && probe.stop->kind == FitStopKind::error) throw RowError(probe.stop->reason);
}

class RowSearch {
 public:
  RowSearch(const ScenarioLoader& loader, const FitQuestion& question)
      : question_(question), trial_(loader, question) {
    const GpuProfile& profile = question.profile;
    capacity_ =
        static_cast<std::int64_t>(question.gpu.capacity_bytes.value_or(profile.capacity_bytes));
    context_ = static_cast<std::int64_t>(profile.context_bytes);
  }

  FitAnswer run() {
    try {
      if (question_.varied == kFitCapacity) {
        find_capacity();
      } else {
        find_value();
      }
    } catch (const std::runtime_error& error) {
      row_.outcome = FitOutcome::failed;
      row_.error = error.what();
    }
    row_.unchecked.assign(trial_.unchecked().begin(), trial_.unchecked().end());
    row_.runs = trial_.runs();
    return {std::move(row_), trial_.forecast()};
  }

 private:
  // ---- a parameter --------------------------------------------------------------------------

  void find_value() {
    Probes probes([this](std::int64_t value) { return trial_.at_parameter(value); });
    const FitRange range = {
        question_.least,      question_.most,
        capacity_ - context_, question_.known_elsewhere,
        std::nullopt,         [this](std::int64_t value) { return forecast(value); }};
    if (!forecast(range.most)) refuse_script_errors(probes.at(range.least));
    const std::optional<std::int64_t> found = safely_fits(probes, range);
    if (!found) return report_nothing(probes, range);
    find_within_limits(probes, range, *found);
    row_.outcome = *found == range.most ? FitOutcome::all_fit : FitOutcome::found;
    row_.best = probes.at(*found).point;
    if (*found < range.most) row_.stop = probes.at(*found + 1).stop;
    row_.line = line_through(probes, *found);
    fill_margin(*found, capacity_);
    for (const auto& [value, probe] : probes.all()) {
      if (probe.point) row_.points.push_back(*probe.point);
      if (value > *found && probe.point) row_.fits_beyond.push_back(value);
    }
  }

  std::optional<bool> forecast(std::int64_t value) const {
    const GpuSpec& gpu = question_.gpu;
    if (capacity_ <= context_) return false;
    return trial_.forecast().fits(
        value, {static_cast<std::size_t>(capacity_ - context_), gpu.alloc_conf.value_or(""),
                rule_set_or_default(gpu.rules)});
  }

  void find_within_limits(Probes& probes, FitRange range, std::int64_t on_the_gpu) {
    if (!question_.considers_limits) return;
    range.most = on_the_gpu;
    range.guess = question_.within_limits_elsewhere;
    const auto found = largest_that_fits(probes, range, FitRule::within_limits);
    if (found) row_.best_within_limits = probes.at(*found).point;
    const std::int64_t next = found ? *found + 1 : range.least;
    if (next <= on_the_gpu) row_.limit_stop = probes.at(next).broken;
  }

  void report_nothing(Probes& probes, const FitRange& range) {
    refuse_script_errors(probes.at(range.least));
    row_.outcome = FitOutcome::none_fits;
    row_.stop = probes.at(range.least).stop;
    LoadRequest load = question_.load;
    load.parameters[question_.varied] = static_cast<double>(range.least);
    if (const std::optional<FitPoint> point = trial_.on_large_gpu(range.least, load)) {
      row_.needed_bytes = point->peak_reserved_bytes + context_;
    }
    for (const std::int64_t value : {range.most, range.least + (range.most - range.least) / 2}) {
      if (range.forecast_of(value) != false) probes.at(value);
    }
    for (const auto& [value, probe] : probes.all()) {
      if (probe.point) row_.fits_beyond.push_back(value);
    }
  }

  // ---- the GPU -------------------------------------------------------------------------------

  /// Between the peak of what is allocated, which no smaller GPU can hold, and the peak of what
  /// is reserved where nothing is scarce, which every larger one can.
  void find_capacity() {
    const std::optional<FitPoint> free = trial_.on_large_gpu(0, question_.load);
    if (!free) {
      const Probe probe = trial_.at_capacity(static_cast<std::int64_t>(kLargeCapacity));
      refuse_script_errors(probe);
      row_.outcome = FitOutcome::none_fits;
      row_.stop = probe.stop;
      return;
    }
    const std::int64_t least = free->peak_allocated_bytes / kGranule;
    const std::int64_t most = (free->peak_reserved_bytes + kGranule - 1) / kGranule;
    // The search is for the largest: it counts the granules that are left out.
    Probes probes([this, most](std::int64_t left_out) {
      Probe probe = trial_.at_capacity(context_ + (most - left_out) * kGranule);
      if (probe.point) probe.point->value = left_out;
      return probe;
    });
    const FitRange range = {0, most - std::max<std::int64_t>(least, 1), 0, {}, std::nullopt, {}};
    const FitRule rule = question_.considers_limits ? FitRule::within_limits : FitRule::on_the_gpu;
    const std::optional<std::int64_t> found = largest_that_fits(probes, range, rule);
    if (!found) {
      row_.outcome = FitOutcome::none_fits;
      row_.stop = probes.at(0).broken;
      return;
    }
    report_capacity(probes, range, *found, most);
  }

  void report_capacity(Probes& probes, const FitRange& range, std::int64_t found,
                       std::int64_t most) {
    constexpr std::int64_t kMostTried = 16;
    const std::int64_t rest = range.most - found;
    const std::int64_t stride = std::max<std::int64_t>(1, rest / kMostTried);
    for (std::int64_t left_out = found + 1; left_out <= range.most; left_out += stride) {
      probes.at(left_out);
    }
    const auto capacity_of = [&](std::int64_t left_out) {
      return context_ + (most - left_out) * kGranule;
    };
    const std::int64_t smallest = found;
    for (const auto& [left_out, probe] : probes.all()) {
      if (probe.point && left_out > found) row_.fits_beyond.push_back(capacity_of(left_out));
      if (probe.stop && left_out < found) row_.fails_within.push_back(capacity_of(left_out));
    }
    row_.outcome = FitOutcome::found;
    row_.best = probes.at(smallest).point;
    row_.best->value = capacity_of(smallest);
    if (smallest < range.most) row_.stop = probes.at(smallest + 1).stop;
    if (smallest < range.most && !row_.stop) row_.stop = probes.at(smallest + 1).broken;
    fill_margin(row_.best->value, row_.best->value);
    name_smallest_gpu(row_.best->value - context_, row_);
  }

  void fill_margin(std::int64_t value, std::int64_t capacity) {
    const MeasuredVariant& run = trial_.fitting().at(value);
    FitMargin margin;
    margin.capacity_bytes = capacity;
    margin.context_bytes = context_;
    constexpr auto kWorkspace = static_cast<std::size_t>(Category::workspace);
    std::set<std::string> modelled;
    for (const DeviceResult& device : run.devices) {
      margin.workspace_bytes =
          std::max(margin.workspace_bytes, device.peak_by_category[kWorkspace]);
      modelled.insert(device.modelled.begin(), device.modelled.end());
    }
    row_.modelled.assign(modelled.begin(), modelled.end());
    margin.left_bytes = capacity - context_ - row_.best->peak_reserved_bytes;
    row_.margin = margin;
  }

  const FitQuestion& question_;
  FitTrial trial_;
  std::int64_t capacity_ = 0;
  std::int64_t context_ = 0;
  FitRow row_;
};

}  // namespace

FitAnswer fit_row(const ScenarioLoader& loader, const FitQuestion& question) {
  return RowSearch(loader, question).run();
}

}  // namespace ohm::engine

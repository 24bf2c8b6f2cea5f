#include "harness/fit/fit_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "harness/fit/fit_workload.h"
#include "harness/fit/smallest_gpu.h"
#include "harness/judge/judge.h"
#include "harness/judge/scenario_validation.h"
#include "harness/run/variant_process.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"

namespace ohm::engine {

namespace {

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
class VariantFit final : public FitWorkload {
 public:
  VariantFit(const ScenarioLoader& loader, const FitQuestion& question)
      : loader_(loader), question_(question), forecast_(question.forecast) {}

  Probe at_value(std::int64_t value) override {
    return run(value, load_with(value), question_.gpu);
  }
  Probe at_capacity(std::int64_t bytes) override {
    return run(bytes, question_.load, gpu_with(static_cast<std::size_t>(bytes)));
  }
  std::optional<FitPoint> on_large_gpu(std::int64_t value) override {
    const MeasuredVariant run =
        run_one(question_.variant, load_with(value), gpu_with(kLargeCapacity));
    if (run.outcome != Outcome::completed) return std::nullopt;
    return point_of(value, run);
  }
  std::optional<bool> forecast(std::int64_t value, std::int64_t available_bytes) const override {
    if (available_bytes <= 0) return false;
    const GpuSpec& gpu = question_.gpu;
    return forecast_.fits(value, {static_cast<std::size_t>(available_bytes),
                                  gpu.alloc_conf.value_or(""), rule_set_or_default(gpu.rules)});
  }
  bool forecasts_capacity() const override { return false; }
  bool has_cheap_runs() const override { return true; }
  std::vector<FitPoint> known_elsewhere() const override { return question_.known_elsewhere; }
  std::int64_t workspace_bytes(std::int64_t value) const override {
    constexpr auto kWorkspace = static_cast<std::size_t>(Category::workspace);
    std::int64_t bytes = 0;
    for (const DeviceResult& device : fitting_.at(value).devices) {
      bytes = std::max(bytes, device.peak_by_category[kWorkspace]);
    }
    return bytes;
  }

  /// What the script tells of itself, after the search.
  FitAnswer answer(FitRow row) const {
    row.unchecked.assign(unchecked_.begin(), unchecked_.end());
    row.runs = runs_;
    if (row.margin) row.modelled = modelled_in(fitting_.at(row.best->value));
    return {std::move(row), forecast_, {}, {}};
  }

 private:
  static std::vector<std::string> modelled_in(const MeasuredVariant& run) {
    std::set<std::string> modelled;
    for (const DeviceResult& device : run.devices) {
      modelled.insert(device.modelled.begin(), device.modelled.end());
    }
    return {modelled.begin(), modelled.end()};
  }

  LoadRequest load_with(std::int64_t value) const {
    LoadRequest load = question_.load;
    if (question_.varied != kFitCapacity) {
      load.parameters[question_.varied] = static_cast<double>(value);
    }
    return load;
  }
  GpuSpec gpu_with(std::size_t capacity_bytes) const {
    GpuSpec gpu = question_.gpu;
    gpu.capacity_bytes = capacity_bytes;
    return gpu;
  }

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
  std::map<std::int64_t, MeasuredVariant> fitting_;  ///< runs of the variant itself, by value
  std::set<std::string> unchecked_;
  RequestForecast forecast_;
  std::int64_t runs_ = 0;
};

}  // namespace

FitAnswer fit_row(const ScenarioLoader& loader, const FitQuestion& question) {
  VariantFit variant(loader, question);
  RowQuestion row_question;
  row_question.is_of_capacity = question.varied == kFitCapacity;
  row_question.least = question.least;
  row_question.most = question.most;
  row_question.capacity_bytes = static_cast<std::int64_t>(
      question.gpu.capacity_bytes.value_or(question.profile.capacity_bytes));
  row_question.context_bytes = static_cast<std::int64_t>(question.profile.context_bytes);
  row_question.considers_limits = question.considers_limits;
  row_question.within_limits_elsewhere = question.within_limits_elsewhere;
  FitRow row;
  try {
    search_row(variant, row_question, row);
  } catch (const std::runtime_error& error) {
    row.outcome = FitOutcome::failed;
    row.error = error.what();
  }
  return variant.answer(std::move(row));
}

}  // namespace ohm::engine

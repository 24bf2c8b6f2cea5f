#include "harness/gate/recorded_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/gate/baseline_check.h"
#include "reports/history/recorded_steps.h"
#include "reports/json/result_input.h"
#include "reports/text/measured_text.h"

namespace ohm::engine {

namespace {

void check_answerable(const Limit& limit, RecordedCounters counters) {
  const InSnapshot in_snapshot = limit.measurement->in_snapshot;
  const bool is_of_host = counters == RecordedCounters::host;
  const bool is_unknown =
      in_snapshot == InSnapshot::absent || (in_snapshot == InSnapshot::host) != is_of_host ||
      (in_snapshot == InSnapshot::counter && counters == RecordedCounters::absent);
  if (is_unknown) {
    throw std::invalid_argument(fmt::format("limit \"{}\": {} does not record {}", limit.text,
                                            is_of_host ? "--memory host" : "a snapshot",
                                            limit.measurement->name));
  }
  for (const BoundTerm& term : limit.bound) {
    if (term.variant.empty()) continue;
    throw std::invalid_argument(
        fmt::format("limit \"{}\": a snapshot has no variant \"{}\" to compare with", limit.text,
                    term.variant));
  }
}

MeasuredVariant measured(const reports::RecordedRun& recorded) {
  const VariantResult& variant = recorded.result.scenarios.front().variants.front();
  MeasuredVariant measured;
  measured.outcome = Outcome::completed;
  measured.steps = variant.steps;
  measured.devices = variant.devices;
  if (variant.host) measured.host = *variant.host;
  measured.allocated_at_marks = recorded.allocated_at_marks;
  return measured;
}

void fail(VariantResult& variant, FailureType type, const std::string& reason) {
  if (variant.verdict == Verdict::failed || variant.verdict == Verdict::error) {
    variant.reason += "; " + reason;
    return;
  }
  variant.verdict = Verdict::failed;
  variant.failure_type = type;
  variant.reason = reason;
}

bool is_baseline_file(InputFile& file, const std::string& path) {
  constexpr std::size_t kLeastBytes = 5;
  const std::string_view start = file.beginning(kLeastBytes);
  // What is too short for anything is said in the words of baselines.
  return start.size() < kLeastBytes || (!start.starts_with('{') && !reports::is_pickle(file, path));
}

/// Of a result by scenario: each has the one variant that a recording has.
std::map<std::string, Baseline> baselines_in(InputFile& file, const std::string& path) {
  std::map<std::string, Baseline> baselines;
  if (is_baseline_file(file, path)) {
    baselines[""] = read_baseline(file, path);
    return baselines;
  }
  const RunResult other = reports::read_result_or_snapshot(file, path);
  for (const ScenarioResult& scenario : other.scenarios) {
    if (scenario.variants.size() != 1) {
      throw BaselineError(fmt::format(
          "{}: does not have exactly one variant, as the result of a snapshot has", path));
    }
    baselines[scenario.name] = engine::baseline_of(scenario, 0);
  }
  if (baselines.empty()) throw BaselineError(fmt::format("{}: a result of nothing", path));
  return baselines;
}

std::map<std::string, Baseline> baselines_at(const std::string& path) {
  try {
    InputFile file(path);
    return baselines_in(file, path);
  } catch (const std::system_error& error) {
    throw BaselineError(fmt::format("cannot read {}: {}", path, error.code().message()));
  }
}

constexpr const char* kNoBreakdown = "what made up the peak is not in the history";

/// "peak_gradient_bytes" and the others.
bool is_of_a_category(const Measurement& measurement) {
  return std::any_of(kCategoryNames.begin(), kCategoryNames.end(), [&](std::string_view category) {
    return measurement.name == fmt::format("peak_{}_bytes", category);
  });
}

}  // namespace

RecordedGate::RecordedGate(const std::vector<std::string>& limits, RecordedCounters counters,
                           std::string baseline, double tolerance_percent)
    : baseline_path_(std::move(baseline)), tolerance_percent_(tolerance_percent) {
  for (const std::string& text : limits) {
    limits_.push_back(parse_limit(text));
    check_answerable(limits_.back(), counters);
  }
  if (!baseline_path_.empty()) baselines_ = baselines_at(baseline_path_);
}

void RecordedGate::judge(reports::RecordedRun& recorded, bool is_only) const {
  ScenarioResult& scenario = recorded.result.scenarios.front();
  VariantResult& variant = scenario.variants.front();
  const bool is_judged = !limits_.empty() || !baseline_path_.empty();
  if (is_judged && variant.verdict == Verdict::recorded) variant.verdict = Verdict::passed;
  judge_limits(recorded, variant);
  if (!baseline_path_.empty()) judge_baseline(scenario, is_only);
  scenario.verdict = variant.verdict;
  if (variant.verdict == Verdict::failed) recorded.result.exit_reason = ExitReason::failed;
  if (variant.verdict == Verdict::error) recorded.result.exit_reason = ExitReason::script_error;
}

void RecordedGate::judge_limits(const reports::RecordedRun& recorded,
                                VariantResult& variant) const {
  const MeasuredVariant figures = measured(recorded);
  for (const Limit& limit : limits_) {
    if (!recorded.has_breakdown && is_of_a_category(*limit.measurement)) {
      variant.verdict = Verdict::error;
      variant.reason = fmt::format("limit \"{}\": {}", limit.text, kNoBreakdown);
      continue;
    }
    LimitResult result = evaluate(limit, {&figures, nullptr}, [](const std::string&) {
                           return MeasurementSource{};
                         }).result;
    const bool is_growth = limit.measurement->in_snapshot == InSnapshot::slope;
    if (is_growth && !result.measured) {
      result.note = fmt::format("not measured: the snapshot shows {} steps; {}", figures.steps,
                                reports::kHowToMarkSteps);
      variant.verdict = Verdict::error;
      variant.reason = reports::limit_sentence(result);
    } else if (result.holds != true) {
      fail(variant, is_growth ? FailureType::leak_slope : FailureType::limit_exceeded,
           reports::limit_sentence(result));
    }
    variant.limits.push_back(std::move(result));
  }
  if (variant.verdict == Verdict::passed && !limits_.empty()) {
    variant.reason =
        limits_.size() == 1 ? "the limit holds" : fmt::format("all {} limits hold", limits_.size());
  }
}

const Baseline* RecordedGate::baseline_of(const std::string& scenario, bool is_only) const {
  if (is_only && baselines_.size() == 1) return &baselines_.begin()->second;
  const auto known = baselines_.find(scenario);
  return known == baselines_.end() ? nullptr : &known->second;
}

void RecordedGate::judge_baseline(ScenarioResult& scenario, bool is_only) const {
  VariantResult& variant = scenario.variants.front();
  const Baseline* const baseline = baseline_of(scenario.name, is_only);
  if (baseline == nullptr) {
    fail(variant, FailureType::baseline_regression,
         fmt::format("{} has no figures of {}", baseline_path_, scenario.name));
    return;
  }
  for (const BaselineCheck& check : check_baseline(*baseline, scenario, 0)) {
    using State = BaselineCheck::State;
    const bool is_worse = check.state == State::regressed &&
                          (tolerance_percent_ == 0 || exceeds(check.diff, tolerance_percent_));
    if (is_worse || check.state == State::incomparable || check.state == State::missing) {
      fail(variant, FailureType::baseline_regression,
           fmt::format("against {}: {}", baseline_path_, check.reason));
    }
  }
}

}  // namespace ohm::engine

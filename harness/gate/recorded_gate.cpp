#include "harness/gate/recorded_gate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "harness/gate/gate_cause.h"
#include "reports/history/recorded_steps.h"
#include "reports/text/measured_text.h"
#include "reports/text/unknown_values_text.h"

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

bool is_bad(const VariantResult& variant) {
  return variant.verdict == Verdict::failed || variant.verdict == Verdict::error;
}

void fail(VariantResult& variant, FailureType type, const std::string& reason) {
  if (is_bad(variant)) {
    variant.reason += "; " + reason;
    return;
  }
  variant.verdict = Verdict::failed;
  variant.failure_type = type;
  variant.reason = reason;
}

/// What was said of the figures before follows.
void set_error(VariantResult& variant, const std::string& reason) {
  const std::string before = is_bad(variant) ? "; " + variant.reason : "";
  variant.verdict = Verdict::error;
  variant.failure_type = FailureType::none;
  variant.reason = reason + before;
}

/// The figures may be those of another path of the program: whatever they say is no verdict.
void refuse(VariantResult& variant, const std::string& why) {
  set_error(variant, "not judged: " + why);
}

void refuse_unknown_values(VariantResult& variant) {
  refuse(variant, fmt::format("{}; --allow-unknown-values judges the figures anyway",
                              reports::unknown_value_lines(variant.unknown_values).front()));
}

void refuse_modelled(VariantResult& variant) {
  std::set<std::string> names;
  for (const DeviceResult& device : variant.devices) {
    names.insert(device.modelled.begin(), device.modelled.end());
  }
  if (names.empty()) return;
  refuse(variant, fmt::format("the figures rest on what is modelled: {}; without "
                              "--refuse-modelled they are judged",
                              fmt::join(names, ", ")));
}

std::vector<std::string> texts_of(const std::vector<Limit>& limits) {
  std::vector<std::string> texts;
  for (const Limit& limit : limits) texts.push_back(limit.text);
  return texts;
}

constexpr const char* kNoBreakdown = "the history does not reach back to the peak";

/// "peak_gradient_bytes" and the others.
bool is_of_a_category(const Measurement& measurement) {
  return std::any_of(kCategoryNames.begin(), kCategoryNames.end(), [&](std::string_view category) {
    return measurement.name == fmt::format("peak_{}_bytes", category);
  });
}

}  // namespace

RecordedGate::RecordedGate(const std::vector<std::string>& limits, RecordedCounters counters,
                           const RecordedBaselineOptions& baseline)
    : baseline_(baseline) {
  for (const std::string& text : limits) {
    limits_.push_back(parse_limit(text));
    check_answerable(limits_.back(), counters);
  }
}

void RecordedGate::judge(reports::RecordedRun& recorded, bool is_only) const {
  ScenarioResult& scenario = recorded.result.scenarios.front();
  VariantResult& variant = scenario.variants.front();
  const bool is_judged = !limits_.empty() || baseline_.is_there();
  if (is_judged && variant.verdict == Verdict::recorded) variant.verdict = Verdict::passed;
  // A baseline of a recording has no limits: it is compared before the variant has some.
  RecordedBaseline::Outcome compared;
  if (baseline_.is_there()) compared = baseline_.judge(scenario, is_only, texts_of(limits_));
  judge_limits(recorded, variant);
  if (compared.fails) {
    fail(variant, FailureType::baseline_regression, compared.reason);
    if (!variant.cause) {
      variant.cause = cause_of_increase(compared.figure, compared.diff, recorded);
    }
  } else if (!compared.reason.empty() && variant.verdict == Verdict::passed) {
    variant.reason = compared.reason;
  }
  const bool is_refused = is_judged && !baseline_.allows_unknown_values();
  if (is_refused && !variant.unknown_values.empty()) refuse_unknown_values(variant);
  if (is_judged && baseline_.refuses_modelled()) refuse_modelled(variant);
  scenario.verdict = variant.verdict;
  if (variant.verdict == Verdict::failed) recorded.result.exit_reason = ExitReason::failed;
  if (variant.verdict == Verdict::error) recorded.result.exit_reason = ExitReason::script_error;
}

void RecordedGate::judge_limits(const reports::RecordedRun& recorded,
                                VariantResult& variant) const {
  const MeasuredVariant figures = measured(recorded);
  for (const Limit& limit : limits_) {
    if (!recorded.has_breakdown && is_of_a_category(*limit.measurement)) {
      set_error(variant, fmt::format("limit \"{}\": {}", limit.text, kNoBreakdown));
      continue;
    }
    if (recorded.is_cut && limit.measurement->name == std::string_view("steps")) {
      set_error(variant, fmt::format("limit \"{}\": the oldest events were not kept", limit.text));
      continue;
    }
    LimitResult result = evaluate(limit, {&figures, nullptr}, [](const std::string&) {
                           return MeasurementSource{};
                         }).result;
    const bool is_growth = limit.measurement->in_snapshot == InSnapshot::slope;
    if (is_growth && !result.measured) {
      result.note = fmt::format("not measured: the snapshot shows {} steps; {}", figures.steps,
                                reports::kHowToMarkSteps);
      set_error(variant, reports::limit_sentence(result));
    } else if (result.holds != true) {
      fail(variant, is_growth ? FailureType::leak_slope : FailureType::limit_exceeded,
           reports::limit_sentence(result));
      if (!variant.cause) variant.cause = cause_of_limit(limit, recorded);
    }
    variant.limits.push_back(std::move(result));
  }
  if (variant.verdict == Verdict::passed && !limits_.empty()) {
    variant.reason =
        limits_.size() == 1 ? "the limit holds" : fmt::format("all {} limits hold", limits_.size());
  }
}

}  // namespace ohm::engine

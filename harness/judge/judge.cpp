#include "harness/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/judge/equivalence.h"
#include "harness/judge/scenario_validation.h"
#include "harness/judge/verdict.h"
#include "reports/text/measured_text.h"

namespace ohm::engine {

namespace {

/// Whether this variant's verdict depends on the values of another.
bool compares_values(const ScenarioDescription& scenario, const VariantDescription& variant) {
  if (variant.role == Role::mitigation || variant.role == Role::partial ||
      variant.role == Role::non_fix) {
    return true;
  }
  const std::vector<Limit> limits = limits_of(scenario, variant);
  return std::any_of(limits.begin(), limits.end(),
                     [](const Limit& limit) { return limit.measurement->needs_reference; });
}

const MeasuredVariant* find(const std::map<std::string, MeasuredVariant>& variants,
                            const std::string& name) {
  const auto found = variants.find(name);
  return found == variants.end() ? nullptr : &found->second;
}

/// The run whose values count: the one on large GPUs where there is one, else the ordinary one.
const MeasuredVariant* best_run(const MeasuredScenario& measured, const std::string& name) {
  const MeasuredVariant* large = find(measured.references, name);
  return large != nullptr ? large : find(measured.variants, name);
}

const MeasuredVariant* completed_reference(const MeasuredScenario& measured,
                                           const VariantDescription& variant) {
  const MeasuredVariant* run = best_run(measured, reference_of(measured.description, variant));
  return run != nullptr && run->outcome == Outcome::completed ? run : nullptr;
}

MeasurementSource source_of(const MeasuredScenario& measured, const std::string& name) {
  const VariantDescription* variant = find_variant(measured.description, name);
  if (variant == nullptr) return {};
  // Figures come from where the scenario put the variant; a reference has no such place.
  const MeasuredVariant* run = find(measured.variants, name);
  if (run == nullptr) run = find(measured.references, name);
  const bool has_figures =
      run != nullptr && (run->outcome == Outcome::completed || run->outcome == Outcome::oom);
  if (!has_figures) return {};
  return {run, completed_reference(measured, *variant)};
}

std::vector<JudgedLimit> judged_limits(const MeasuredScenario& measured,
                                       const VariantDescription& variant,
                                       const MeasuredVariant& run) {
  const auto lookup = [&](const std::string& name) {
    return source_of(measured, resolved_name(variant, name));
  };
  const MeasurementSource own = {&run, completed_reference(measured, variant)};
  const MeasurementSource problem = source_of(measured, variant.of);
  std::vector<JudgedLimit> judged;
  for (Limit& limit : limits_of(measured.description, variant)) {
    JudgedLimit one{limit, {}, {}};
    one.evaluated = evaluate(limit, own, lookup);
    if (problem.variant != nullptr) one.on_problem = evaluate(limit, problem, lookup);
    judged.push_back(std::move(one));
  }
  return judged;
}

std::string why_no_reference(const MeasuredScenario& measured, const std::string& name) {
  if (name.empty()) return "there is no reference to compare its values with";
  const MeasuredVariant* run = best_run(measured, name);
  const std::string_view outcome = name_of(run == nullptr ? Outcome::not_run : run->outcome);
  return fmt::format(
      "its reference {} did not complete ({}); name another one: reference = \"...\"", name,
      outcome);
}

void compare(const MeasuredScenario& measured, Evidence& evidence) {
  const VariantDescription& variant = evidence.description;
  const bool compared = compares_values(measured.description, variant) &&
                        evidence.measured.outcome == Outcome::completed;
  if (!compared) return;
  const MeasuredVariant* reference = completed_reference(measured, variant);
  if (reference == nullptr) {
    if (evidence.measured.values.empty()) return;
    evidence.no_reference = why_no_reference(measured, reference_of(measured.description, variant));
    return;
  }
  evidence.comparison =
      variant.trades.empty()
          ? compare_values(evidence.measured.values, reference->values, variant.compare_as)
          : compare_trade(evidence.measured, *reference, variant.must_agree, variant.compare_as);
}

/// The fields that are copies of what was described and measured.
VariantResult copied(const VariantDescription& variant, const MeasuredVariant& measured) {
  VariantResult result;
  result.name = variant.name;
  result.role = variant.role;
  result.line = variant.line;
  result.of = variant.of;
  result.trades = variant.trades;
  result.outcome = measured.outcome;
  result.steps = measured.steps;
  result.devices = measured.devices;
  result.host = measured.host;
  result.error = measured.error;
  result.history = measured.history;
  result.retention = measured.retention;
  result.output = measured.output;
  result.unused_faults = measured.unused_faults;
  if (measured.outcome == Outcome::oom) result.oom = measured.oom;
  return result;
}

/// It reported what it did; a process that was killed did not.
bool has_end_of_its_own(const MeasuredVariant& run) {
  return run.outcome == Outcome::completed || run.outcome == Outcome::oom ||
         run.outcome == Outcome::error;
}

const MeasuredVariant& not_run() {
  static const MeasuredVariant kNotRun;
  return kNotRun;
}

}  // namespace

std::string reference_of(const ScenarioDescription& scenario, const VariantDescription& variant) {
  if (!variant.reference.empty()) return variant.reference;
  if (!scenario.reference.empty()) return scenario.reference;
  return variant.role == Role::problem ? variant.name : variant.of;
}

std::vector<std::string> needed_by(const ScenarioDescription& scenario,
                                   const VariantDescription& variant) {
  std::set<std::string> names;
  if (compares_values(scenario, variant)) names.insert(reference_of(scenario, variant));
  if (variant.role == Role::partial) names.insert(variant.of);
  for (const Limit& limit : limits_of(scenario, variant)) {
    for (const BoundTerm& term : limit.bound) {
      if (!term.variant.empty()) names.insert(resolved_name(variant, term.variant));
    }
  }
  names.erase(variant.name);
  names.erase("");
  return {names.begin(), names.end()};
}

std::vector<std::string> missing_references(const MeasuredScenario& measured,
                                            const std::vector<std::string>& selected) {
  std::set<std::string> missing;
  for (const std::string& name : selected) {
    const VariantDescription* variant = find_variant(measured.description, name);
    const MeasuredVariant* run = find(measured.variants, name);
    const bool compared = compares_values(measured.description, *variant) && run != nullptr &&
                          run->outcome == Outcome::completed;
    if (!compared) continue;
    const std::string reference = reference_of(measured.description, *variant);
    const MeasuredVariant* ordinary = find(measured.variants, reference);
    const bool ran_out = ordinary != nullptr && ordinary->outcome == Outcome::oom;
    if (ran_out && find(measured.references, reference) == nullptr) missing.insert(reference);
  }
  return {missing.begin(), missing.end()};
}

namespace {

/// Of a run that was interrupted: whether something that it is compared with was not run.
bool lacks_others(const MeasuredScenario& measured, const VariantDescription& variant) {
  const std::vector<std::string> others = needed_by(measured.description, variant);
  return !missing_references(measured, {variant.name}).empty() ||
         std::any_of(others.begin(), others.end(), [&](const std::string& name) {
           const MeasuredVariant* run = best_run(measured, name);
           return run == nullptr || run->outcome == Outcome::not_run;
         });
}

}  // namespace

VariantResult judge(const MeasuredScenario& measured, const VariantDescription& variant) {
  const MeasuredVariant* run = find(measured.variants, variant.name);
  if (run == nullptr) run = &not_run();
  Evidence evidence{variant, *run, source_of(measured, variant.of).variant, {}, {}, {}};
  VariantResult result = copied(variant, *run);
  if (has_end_of_its_own(*run)) {
    evidence.limits = judged_limits(measured, variant, *run);
    compare(measured, evidence);
  }
  for (const JudgedLimit& limit : evidence.limits) result.limits.push_back(limit.evaluated.result);
  result.equivalence = evidence.comparison.state;
  result.difference = evidence.comparison.difference;
  if (compares_values(measured.description, variant)) {
    result.reference = reference_of(measured.description, variant);
  }
  Judgement judgement = judgement_of(evidence);
  if (judgement.verdict == Verdict::error && run->outcome == Outcome::completed &&
      lacks_others(measured, variant)) {
    judgement = {Verdict::skipped, {}, "the run ended before what it is compared with", {}};
  }
  result.verdict = judgement.verdict;
  result.failure_type = judgement.failure_type;
  result.reason = std::move(judgement.reason);
  result.recovered_share = judgement.recovered_share;
  return result;
}

VariantResult reference_result(const MeasuredScenario& measured, const std::string& name) {
  const MeasuredVariant& run = measured.references.at(name);
  VariantResult result = copied(*find_variant(measured.description, name), run);
  const std::int64_t capacity = run.devices.empty() ? 0 : run.devices.front().capacity_bytes;
  const std::string where =
      fmt::format("on {} × {}", run.devices.size(), reports::short_bytes(capacity));
  result.reason = run.outcome == Outcome::completed
                      ? "gives the values, " + where
                      : fmt::format("gives no values: {} {}", name_of(run.outcome), where);
  return result;
}

}  // namespace ohm::engine

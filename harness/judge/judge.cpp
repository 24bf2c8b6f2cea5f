#include "harness/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/judge/equivalence.h"
#include "harness/judge/scenario_validation.h"
#include "harness/judge/value_digest.h"
#include "harness/judge/verdict.h"
#include "harness/scenario/script_errors.h"
#include "reports/text/measured_text.h"

namespace ohm::engine {

namespace {

/// Whether this variant's verdict depends on the values of another.
bool compares_values(const ScenarioDescription& scenario, const VariantDescription& variant) {
  if (variant.role == Role::mitigation || variant.role == Role::partial ||
      variant.role == Role::non_fix) {
    return true;
  }
  if (variant.role == Role::problem && reference_of(scenario, variant) != variant.name) return true;
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
  if (run == nullptr || !has_figures(run->outcome)) return {};
  return {run, completed_reference(measured, *variant)};
}

EvaluatedLimit evaluated_on(const MeasuredScenario& measured, const Limit& limit,
                            const VariantDescription& variant, const MeasurementSource& source) {
  return evaluate(limit, source, [&](const std::string& name) {
    return source_of(measured, resolved_name(variant, name));
  });
}

std::vector<JudgedLimit> judged_limits(const MeasuredScenario& measured,
                                       const VariantDescription& variant,
                                       const MeasuredVariant& run) {
  const MeasurementSource own = {&run, completed_reference(measured, variant)};
  const MeasurementSource problem = source_of(measured, variant.of);
  std::vector<JudgedLimit> judged;
  for (Limit& limit : limits_of(measured.description, variant)) {
    JudgedLimit one{limit, evaluated_on(measured, limit, variant, own), {}};
    if (problem.variant != nullptr) {
      one.on_problem = evaluated_on(measured, limit, variant, problem);
    }
    judged.push_back(std::move(one));
  }
  return judged;
}

// ---- limits that nothing breaks -----------------------------------------------------------------

/// Whether a limit holds on this run of a problem; nullopt where there is no figure to tell by.
std::optional<bool> holds_on_run(const MeasuredScenario& measured, const Limit& limit,
                                 const VariantDescription& problem, const MeasuredVariant* run) {
  if (run == nullptr) return std::nullopt;
  const MeasurementSource source = {run, completed_reference(measured, problem)};
  return evaluated_on(measured, limit, problem, source).result.holds;
}

/// Whether a problem holds this limit, as far as it was measured: one that ran out of memory shows
/// on the larger GPU what it would have taken.
bool holds_on(const MeasuredScenario& measured, const std::string& text,
              const VariantDescription& problem) {
  const Limit limit = parse_limit(text);
  const MeasuredVariant* own = source_of(measured, problem.name).variant;
  const std::optional<bool> holds = holds_on_run(measured, limit, problem, own);
  if (own == nullptr || own->outcome != Outcome::oom) return holds.value_or(false);
  const std::optional<bool> on_larger_gpu =
      holds_on_run(measured, limit, problem, find(measured.references, problem.name));
  if (!holds && !on_larger_gpu) return false;
  return holds.value_or(true) && on_larger_gpu.value_or(true);
}

std::string vacuous_text(const std::string& limit, std::string_view where) {
  return fmt::format(
      "limit \"{}\": {}, so nothing shows that it can be broken; tighten it, or give it to the "
      "variants that have to hold it",
      limit, where);
}

/// Of a problem that does what it has to: the limit that neither it nor another problem to which
/// the limit applies breaks, as a sentence; empty: there is none. One of the scenario's is told of
/// the first problem alone.
std::string vacuous_limit(const MeasuredScenario& measured, const VariantDescription& problem) {
  if (!measured.as_described) return {};
  for (const std::string& limit : problem.limits) {
    if (holds_on(measured, limit, problem))
      return vacuous_text(limit, "its problem does not break it");
  }
  std::vector<const VariantDescription*> problems;
  for (const VariantDescription& variant : measured.description.variants) {
    if (variant.role == Role::problem) problems.push_back(&variant);
  }
  if (problems.front()->name != problem.name) return {};
  for (const std::string& limit : measured.description.limits) {
    const bool is_vacuous =
        std::all_of(problems.begin(), problems.end(),
                    [&](const VariantDescription* one) { return holds_on(measured, limit, *one); });
    if (is_vacuous) return vacuous_text(limit, "no problem breaks it");
  }
  return {};
}

std::string why_no_reference(const MeasuredScenario& measured, const std::string& name) {
  if (name.empty()) return "there is no reference to compare its values with";
  const MeasuredVariant* run = best_run(measured, name);
  const std::string_view outcome = name_of(run == nullptr ? Outcome::not_run : run->outcome);
  return fmt::format(
      "its reference {} did not complete ({}); name another one: reference = \"...\"", name,
      outcome);
}

/// Where it runs out of memory it is run again on a larger GPU: to see whether it is memory that it
/// lacks, and for its values.
bool may_run_out_of_memory(const VariantDescription& variant) {
  return variant.role == Role::problem || variant.role == Role::partial ||
         variant.role == Role::non_fix;
}

Comparison comparison_of(const VariantDescription& variant, const Evidence& evidence) {
  const ReturnedValues& values = returned_values(evidence);
  const ReturnedValues& expected = evidence.reference->values;
  if (!variant.must_differ.empty()) {
    return compare_wrong_values(values, expected, variant.must_differ, variant.compare_as);
  }
  if (variant.trades.empty()) return compare_values(values, expected, variant.compare_as);
  return compare_trade(*completed_run(evidence), *evidence.reference, variant.must_agree,
                       variant.compare_as);
}

/// The first name of a value that the variant's table has and nothing returns, as a sentence;
/// empty: there is none.
std::string misspelt_value(const MeasuredScenario& measured, const VariantDescription& variant,
                           const ReturnedValues& values, const ReturnedValues& expected) {
  std::string unknown = unknown_value("must_agree", variant.must_agree, values, expected);
  if (unknown.empty()) {
    unknown = unknown_value("must_differ", variant.must_differ, values, expected);
  }
  if (unknown.empty()) return {};
  return script_error_at(measured.description.file, variant.line, unknown, {}).what();
}

void compare(const MeasuredScenario& measured, Evidence& evidence) {
  const VariantDescription& variant = evidence.description;
  if (!compares_values(measured.description, variant) || completed_run(evidence) == nullptr) return;
  evidence.reference = completed_reference(measured, variant);
  if (evidence.reference == nullptr) {
    if (returned_values(evidence).empty()) return;
    evidence.no_reference = why_no_reference(measured, reference_of(measured.description, variant));
    return;
  }
  const ReturnedValues& values = returned_values(evidence);
  const ReturnedValues& expected = evidence.reference->values;
  evidence.missing_value = missing_value(values, expected);
  if (evidence.missing_value.empty()) {
    evidence.missing_value = misspelt_value(measured, variant, values, expected);
  }
  // A problem's numbers are wrong by its limits alone.
  if (variant.role != Role::problem) evidence.comparison = comparison_of(variant, evidence);
}

/// "as float16; must agree: steps, finite"
std::string comparison_rules(const VariantDescription& variant) {
  std::vector<std::string> rules;
  if (!variant.compare_as.empty()) rules.push_back("as " + variant.compare_as);
  const auto add = [&rules](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) rules.push_back(fmt::format("{}: {}", what, fmt::join(names, ", ")));
  };
  add("must agree", variant.must_agree);
  add("must break", variant.must_break);
  add("must differ", variant.must_differ);
  return fmt::format("{}", fmt::join(rules, "; "));
}

/// The fields that are copies of what was described and measured.
VariantResult copied(const VariantDescription& variant, const MeasuredVariant& measured) {
  VariantResult result;
  result.name = variant.name;
  result.role = variant.role;
  result.line = variant.line;
  result.of = variant.of;
  result.trades = variant.trades;
  result.comparison = comparison_rules(variant);
  result.outcome = measured.outcome;
  result.steps = measured.steps;
  result.devices = measured.devices;
  result.host = measured.host;
  result.error = measured.error;
  result.history = measured.history;
  result.retention = measured.retention;
  result.output = measured.output;
  result.values = digests_of(measured.values);
  result.unused_faults = measured.unused_faults;
  if (measured.outcome == Outcome::oom) result.oom = measured.oom;
  return result;
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

bool gives_values(const ScenarioDescription& scenario, const std::vector<std::string>& selected,
                  const std::string& name) {
  return std::any_of(selected.begin(), selected.end(), [&](const std::string& one) {
    const VariantDescription& variant = *find_variant(scenario, one);
    return compares_values(scenario, variant) && reference_of(scenario, variant) == name;
  });
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
    if (run == nullptr) continue;
    const bool ran_out = run->outcome == Outcome::oom && may_run_out_of_memory(*variant);
    if (ran_out && find(measured.references, name) == nullptr) missing.insert(name);
    const bool compared = compares_values(measured.description, *variant) &&
                          (run->outcome == Outcome::completed || ran_out);
    if (!compared) continue;
    const std::string reference = reference_of(measured.description, *variant);
    const MeasuredVariant* ordinary = find(measured.variants, reference);
    const bool has_no_values = ordinary != nullptr && ordinary->outcome == Outcome::oom;
    if (has_no_values && find(measured.references, reference) == nullptr) missing.insert(reference);
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
  Evidence evidence{variant, *run};
  evidence.problem = source_of(measured, variant.of).variant;
  evidence.on_larger_gpu = find(measured.references, variant.name);
  VariantResult result = copied(variant, *run);
  if (has_end_of_its_own(run->outcome)) {
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
  if (judgement.verdict == Verdict::passed && variant.role == Role::problem) {
    if (std::string vacuous = vacuous_limit(measured, variant); !vacuous.empty()) {
      judgement = {Verdict::error, {}, std::move(vacuous), {}};
    }
  }
  if (judgement.verdict == Verdict::error && has_figures(run->outcome) &&
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

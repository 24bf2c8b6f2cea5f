#include "harness/gate/baseline_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/gate/machine_text.h"
#include "harness/judge/value_digest.h"
#include "reports/console/result_diff_text.h"
#include "reports/text/measured_text.h"

namespace ohm::engine {

std::string peak_attribution(const reports::VariantDiff& diff) {
  std::string out;
  for (const reports::DeviceDiff& device : diff.devices) {
    for (const reports::HolderChange& change : device.holders) {
      if (change.change() == 0) continue;
      out += fmt::format("{}{}", out.empty() ? "" : "; ", reports::holder_sentence(change));
      if (out.size() > 300) return out + "; …";
    }
  }
  return out;
}

std::string limits_change(const VariantResult& before, const std::vector<std::string>& limits) {
  std::vector<std::string> were;
  for (const LimitResult& limit : before.limits) were.push_back(limit.limit);
  if (were == limits) return "";
  const auto quoted = [](const std::vector<std::string>& texts) {
    return texts.empty() ? std::string("none") : fmt::format("\"{}\"", fmt::join(texts, "\", \""));
  };
  return fmt::format("the limits changed: they were {} when the baseline was made, and are {} now",
                     quoted(were), quoted(limits));
}

namespace {

std::string change_reason(const reports::VariantDiff& diff) {
  std::vector<std::string> parts = diff.notes;
  const auto add = [&parts](const reports::FigureChange& change, const std::string& of) {
    parts.push_back(fmt::format("{}{} {}{}", of, change.figure, change.change() > 0 ? "+" : "",
                                reports::grouped(change.change())));
  };
  for (const reports::FigureChange& change : diff.figures) add(change, "");
  for (const reports::DeviceDiff& device : diff.devices) {
    for (const reports::FigureChange& change : device.figures) add(change, device.device + " ");
  }
  std::string out = fmt::format("{}", fmt::join(parts, ", "));
  const std::string lines = peak_attribution(diff);
  return lines.empty() ? out : fmt::format("{}; at the peak: {}", out, lines);
}

std::vector<std::string> texts_of(const std::vector<LimitResult>& limits) {
  std::vector<std::string> texts;
  for (const LimitResult& limit : limits) texts.push_back(limit.limit);
  return texts;
}

std::string comparison_text(const VariantResult& variant) {
  return variant.comparison.empty() ? "of all values as they are" : variant.comparison;
}

/// "loss: norm 2 instead of 1": what makes a variant another, beside its limits.
std::vector<std::string> other_evidence(const VariantResult& before, const VariantResult& after) {
  std::vector<std::string> notes;
  if (before.comparison != after.comparison) {
    notes.push_back(fmt::format("the comparison was {}, is {}", comparison_text(before),
                                comparison_text(after)));
  }
  const auto named = [](const std::vector<ValueResult>& values, const std::string& name) {
    return std::find_if(values.begin(), values.end(),
                        [&](const ValueResult& value) { return value.name == name; });
  };
  for (const ValueResult& value : before.values) {
    const auto other = named(after.values, value.name);
    const std::string difference =
        other == after.values.end() ? "not returned" : digest_difference(value, *other);
    if (!difference.empty()) notes.push_back(fmt::format("{}: {}", value.name, difference));
  }
  for (const ValueResult& value : after.values) {
    if (named(before.values, value.name) != before.values.end()) continue;
    notes.push_back(value.name + ": was not returned");
  }
  return notes;
}

void take_machine(DeviceResult& device, const DeviceResult& from) {
  device.profile = from.profile;
  device.capacity_bytes = from.capacity_bytes;
  device.values = from.values;
  device.rules = from.rules;
  device.alloc_conf = from.alloc_conf;
}

/// Another limit fails as another figure does: either has to be approved.
void take_limits(const VariantResult& before, const VariantResult& after, BaselineCheck& check) {
  check.limits_changed = limits_change(before, texts_of(after.limits));
  if (check.limits_changed.empty()) return;
  if (check.state == BaselineCheck::State::equal) {
    check.reason = check.limits_changed + "; the figures are as they were";
  } else {
    check.reason += "; " + check.limits_changed;
  }
  check.state = BaselineCheck::State::regressed;
}

BaselineCheck check_variant(const BaselineVariant& baseline, const VariantResult& variant,
                            const ScenarioResult& scenario, const std::string& machine) {
  BaselineCheck check;
  check.variant = variant.name;
  if (baseline.machine != machine) {
    check.state = BaselineCheck::State::incomparable;
    check.reason = "another machine: " + machine_difference(baseline.machine, machine);
    return check;
  }
  // What a baseline does not have cannot differ: verdicts, steps of the peak; the machine is equal.
  VariantResult before = baseline.figures;
  VariantResult after = variant;
  before.verdict = after.verdict;
  for (DeviceResult& device : before.devices) {
    for (const DeviceResult& same : after.devices) {
      if (same.device == device.device) take_machine(device, same);
    }
  }
  for (VariantResult* one : {&before, &after}) {
    one->history.reset();
    for (DeviceResult& device : one->devices) {
      if (device.peak) device.peak->step = 1;
    }
  }
  check.diff = reports::diff_variants(before, after, scenario, scenario);
  for (std::string& note : other_evidence(before, after)) {
    check.diff.notes.push_back(std::move(note));
  }
  check.state = compared_state(check.diff);
  if (check.state != BaselineCheck::State::equal) check.reason = change_reason(check.diff);
  take_limits(before, after, check);
  return check;
}

}  // namespace

BaselineCheck::State compared_state(const reports::VariantDiff& diff) {
  using State = BaselineCheck::State;
  if (!diff.notes.empty()) return State::regressed;
  State state = State::equal;
  for (const reports::FigureChange& change : diff.figures) {
    // Fewer steps are another course; fewer bytes are not.
    if (change.unit != Unit::bytes || change.change() > 0) return State::regressed;
    state = State::improved;
  }
  for (const reports::DeviceDiff& device : diff.devices) {
    for (const reports::FigureChange& change : device.figures) {
      if (change.change() > 0) return State::regressed;
      state = State::improved;
    }
  }
  return state;
}

std::vector<BaselineCheck> gone_variants(const Baseline& baseline,
                                         const std::vector<std::string>& names) {
  std::vector<BaselineCheck> checks;
  for (const auto& [name, variant] : baseline.variants) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    BaselineCheck gone;
    gone.state = BaselineCheck::State::gone;
    gone.variant = name;
    gone.reason = "this variant of the baseline is not in the scenario";
    checks.push_back(std::move(gone));
  }
  return checks;
}

std::vector<BaselineCheck> check_baseline(const Baseline& baseline, const ScenarioResult& scenario,
                                          std::uint64_t seed) {
  std::vector<BaselineCheck> checks;
  for (const VariantResult& variant : scenario.variants) {
    if (!has_end_of_its_own(variant.outcome)) continue;
    const auto known = baseline.variants.find(variant.name);
    if (known == baseline.variants.end()) {
      BaselineCheck missing;
      missing.state = BaselineCheck::State::missing;
      missing.variant = variant.name;
      missing.reason = "the baseline does not have this variant";
      checks.push_back(std::move(missing));
      continue;
    }
    checks.push_back(check_variant(known->second, variant, scenario, machine_text(variant, seed)));
  }
  return checks;
}

}  // namespace ohm::engine

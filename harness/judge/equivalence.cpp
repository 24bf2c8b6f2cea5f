#include "harness/judge/equivalence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "allocator_shim/base/nearest_name.h"

namespace ohm::engine {

namespace {

const ReturnedValue* find(const ReturnedValues& values, std::string_view name) {
  for (const auto& [known, value] : values) {
    if (known == name) return &value;
  }
  return nullptr;
}

/// One name in both: missing on one side is a difference.
Comparison compare_named(const ReturnedValues& values, const ReturnedValues& reference,
                         const std::string& name, std::string_view compare_as) {
  const ReturnedValue* value = find(values, name);
  const ReturnedValue* expected = find(reference, name);
  if (value == nullptr) return different(name + ": not returned");
  if (expected == nullptr) return different(name + ": not returned by the reference");
  return compare_value(name, *value, *expected, compare_as);
}

std::vector<std::string> names_in_either(const ReturnedValues& a, const ReturnedValues& b) {
  std::vector<std::string> names;
  for (const ReturnedValues* values : {&a, &b}) {
    for (const auto& [name, value] : *values) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// The worst of all: a difference, else something unchecked, else `when_all_agree`.
template <class Names, class Compare>
Comparison combined(const Names& names, Equivalence when_all_agree, Compare&& compare) {
  Comparison result{when_all_agree, {}};
  for (const std::string& name : names) {
    Comparison one = compare(name);
    if (one.state == Equivalence::different) return one;
    if (one.state == Equivalence::not_checked) {
      result = {Equivalence::not_checked, "values are not computed on size-only devices"};
    }
  }
  return result;
}

// ---- what must_agree may name besides returned values ------------------------------------------

bool has_nan(const ReturnedValue& value) {
  return std::any_of(value.values.begin(), value.values.end(),
                     [](double element) { return std::isnan(element); });
}

bool has_only_zeros(const ReturnedValue& value) {
  return std::all_of(value.values.begin(), value.values.end(),
                     [](double element) { return element == 0; });
}

/// Zeros are what is there when nothing was computed.
Comparison agree_finite(const MeasuredVariant& variant, const MeasuredVariant& reference) {
  Comparison result{Equivalence::same, {}};
  for (const auto& [name, value] : variant.values) {
    if (!value.has_values) {
      result.state = Equivalence::not_checked;
      continue;
    }
    const auto is_finite = [](double element) { return std::isfinite(element); };
    if (!std::all_of(value.values.begin(), value.values.end(), is_finite)) {
      return different(name + ": not finite");
    }
    const ReturnedValue* expected = find(reference.values, name);
    if (!is_string(value) && expected != nullptr && expected->has_values && has_only_zeros(value) &&
        !has_only_zeros(*expected)) {
      return different(name + (value.values.empty() ? ": no elements" : ": only zeros"));
    }
  }
  return result;
}

Comparison agree_shapes(const MeasuredVariant& variant, const MeasuredVariant& reference) {
  for (const std::string& name : names_in_either(variant.values, reference.values)) {
    const ReturnedValue* a = find(variant.values, name);
    const ReturnedValue* b = find(reference.values, name);
    if (a == nullptr || b == nullptr) return different(name + ": not returned by both");
    if (a->shape == b->shape) continue;
    return different(
        fmt::format("{}: shape {} instead of {}", name, shape_text(*a), shape_text(*b)));
  }
  return {Equivalence::same, {}};
}

/// A loop that only counts its turns shows no work.
Comparison agree_steps(const MeasuredVariant& variant, const MeasuredVariant& reference) {
  if (reference.steps == 0) return different("steps: the reference never calls ohm.step()");
  if (takes_memory(reference) && !takes_memory(variant)) {
    return different("steps: it takes no memory in any of them");
  }
  if (variant.steps == reference.steps) return {Equivalence::same, {}};
  return different(fmt::format("{} steps instead of {}", variant.steps, reference.steps));
}

struct Agreement {
  std::string_view name;
  bool shows_work;
  bool is_of_values;
  Comparison (*compare)(const MeasuredVariant& variant, const MeasuredVariant& reference);
};

constexpr std::array<Agreement, 3> kAgreements = {{{"finite", false, true, agree_finite},
                                                   {"shapes", false, false, agree_shapes},
                                                   {"steps", true, false, agree_steps}}};

const Agreement* find_agreement(std::string_view name) {
  const auto* const known = std::find_if(kAgreements.begin(), kAgreements.end(),
                                         [&](const Agreement& one) { return one.name == name; });
  return known == kAgreements.end() ? nullptr : known;
}

}  // namespace

Comparison compare_values(const ReturnedValues& values, const ReturnedValues& reference,
                          std::string_view compare_as) {
  const std::vector<std::string> names = names_in_either(values, reference);
  if (names.empty()) return {Equivalence::not_checked, "neither returns a value"};
  return combined(names, Equivalence::same, [&](const std::string& name) {
    return compare_named(values, reference, name, compare_as);
  });
}

Comparison compare_trade(const MeasuredVariant& variant, const MeasuredVariant& reference,
                         const std::vector<std::string>& must_agree, std::string_view compare_as) {
  return combined(must_agree, Equivalence::trade, [&](const std::string& name) {
    const bool returned = find(variant.values, name) != nullptr ||  //
                          find(reference.values, name) != nullptr;
    const Agreement* const agreement = find_agreement(name);
    if (returned || agreement == nullptr) {
      return compare_named(variant.values, reference.values, name, compare_as);
    }
    return agreement->compare(variant, reference);
  });
}

Comparison compare_wrong_values(const ReturnedValues& values, const ReturnedValues& reference,
                                const std::vector<std::string>& must_differ,
                                std::string_view compare_as) {
  Comparison result;
  for (const std::string& name : names_in_either(values, reference)) {
    const bool is_wrong =
        std::find(must_differ.begin(), must_differ.end(), name) != must_differ.end();
    Comparison one = compare_named(values, reference, name, compare_as);
    if (one.state == Equivalence::not_checked) return one;
    const bool differs = one.state == Equivalence::different;
    const ReturnedValue* expected = find(reference, name);
    if (is_wrong && differs && expected != nullptr && has_nan(*expected)) {
      return {Equivalence::same,
              name + ": the reference's is NaN: nothing shows that this is wrong"};
    }
    if (differs && !is_wrong) {
      return {Equivalence::same, one.difference + ", which must_differ does not name"};
    }
    if (!differs && is_wrong) return {Equivalence::same, "it helps: " + name + " is the same"};
    if (result.state != Equivalence::different && is_wrong) result = std::move(one);
  }
  if (result.state == Equivalence::different) return result;
  return {Equivalence::same, fmt::format("{}: not returned", must_differ.front())};
}

bool shows_work(std::string_view agreement) {
  const Agreement* const known = find_agreement(agreement);
  return known == nullptr || known->shows_work;
}

bool is_of_values(std::string_view agreement) {
  const Agreement* const known = find_agreement(agreement);
  return known == nullptr || known->is_of_values;
}

bool takes_device_memory(const MeasuredVariant& variant) {
  return std::any_of(variant.devices.begin(), variant.devices.end(), [](const DeviceResult& each) {
    return each.peak_allocated_bytes > 0 || each.num_device_alloc > 0;
  });
}

bool takes_memory(const MeasuredVariant& variant) {
  return variant.host.peak_allocated_bytes > 0 || takes_device_memory(variant);
}

std::vector<std::string> agreement_names() {
  std::vector<std::string> names;
  names.reserve(kAgreements.size());
  for (const Agreement& agreement : kAgreements) names.emplace_back(agreement.name);
  return names;
}

std::string unknown_value(std::string_view field, const std::vector<std::string>& names,
                          const ReturnedValues& values, const ReturnedValues& reference) {
  std::vector<std::string> known = names_in_either(values, reference);
  for (const Agreement& agreement : kAgreements) known.emplace_back(agreement.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fmt::format("{} names \"{}\", which neither it nor its reference returns{}", field, name,
                       did_you_mean(name, known));
  }
  return {};
}

std::string missing_value(const ReturnedValues& values, const ReturnedValues& reference) {
  for (const std::string& name : names_in_either(values, reference)) {
    const ReturnedValue* value = find(values, name);
    const ReturnedValue* expected = find(reference, name);
    if (value == nullptr) return name + ": not returned";
    if (expected == nullptr) return name + ": not returned by the reference";
    if ((is_string(*value)) == (is_string(*expected))) continue;
    return other_type(name, *value, *expected);
  }
  return {};
}

RelativeError largest_relative_error(const ReturnedValues& values,
                                     const ReturnedValues& reference) {
  if (values.empty()) return {std::nullopt, "it returns nothing"};
  if (std::string missing = missing_value(values, reference); !missing.empty()) {
    return {std::nullopt, std::move(missing)};
  }
  RelativeError largest;
  for (const auto& [name, value] : values) {
    const ReturnedValue& expected = *find(reference, name);
    if (!same_shape(value, expected)) {
      return {std::nullopt, fmt::format("{}: shape {} instead of {}", name, shape_text(value),
                                        shape_text(expected))};
    }
    if (is_string(value)) continue;
    if (!value.has_values || !expected.has_values) return {};
    const double error = relative_error(value, expected);
    largest.value = std::max(largest.value.value_or(0), error);
  }
  if (!largest.value) return {std::nullopt, "it returns only strings"};
  return largest;
}

}  // namespace ohm::engine

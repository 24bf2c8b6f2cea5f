#include "harness/judge/equivalence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "allocator_shim/base/cut_text.h"
#include "allocator_shim/base/nearest_name.h"
#include "runtime/base/dtype.h"

namespace ohm::engine {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct DtypeRow {
  std::string_view name;
  Tolerance tolerance;
  bool exact = false;  ///< integers, booleans and strings are equal or not
};

constexpr DtypeRow exact(std::string_view name) { return {name, {}, true}; }

// A relative tolerance is some hundred units in the last place of float64 and float32, some ten of
// the others: sums of thousands of terms in another order pass, the next coarser dtype used by
// mistake does not.
constexpr std::array<DtypeRow, 11> kComparedTypes = {{
    exact(name_of(ScriptType::string)),
    exact(name_of(ScriptType::boolean)),
    exact(name_of(ScriptType::integer)),
    exact(name_of(DType::boolean)),
    exact(name_of(DType::uint8)),
    exact(name_of(DType::int32)),
    exact(name_of(DType::int64)),
    {name_of(DType::float64), {1e-9, 1e-14}},
    {name_of(DType::float32), {1e-4, 4e-6}},
    {name_of(DType::float16), {1e-2, 4e-3}},
    {name_of(DType::bfloat16), {5e-2, 3e-2}},
}};

constexpr bool has_row(std::string_view name) {
  return std::any_of(kComparedTypes.begin(), kComparedTypes.end(),
                     [&](const DtypeRow& row) { return row.name == name; });
}
static_assert(std::all_of(kDTypes.begin(), kDTypes.end(),
                          [](const DTypeInfo& dtype) { return has_row(dtype.name); }),
              "every dtype has a tolerance");

// A script's own number says nothing of its precision: it came from item(), or from arithmetic on
// such numbers. Alone it counts as PyTorch's default dtype.
constexpr std::string_view kNumber = name_of(ScriptType::number);
constexpr std::string_view kInteger = name_of(ScriptType::integer);
constexpr std::string_view kString = name_of(ScriptType::string);
constexpr std::string_view kDefaultDtype = name_of(DType::float32);

std::size_t type_index(std::string_view name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < kComparedTypes.size(); ++i) {
    if (kComparedTypes[i].name == name) return i;
    known.emplace_back(kComparedTypes[i].name);
  }
  throw std::invalid_argument(
      fmt::format("unknown dtype \"{}\"{}", name, did_you_mean(name, known)));
}

/// The row that says how near these two have to be: the reference's dtype decides.
const DtypeRow& deciding_row(const ReturnedValue& reference, std::string_view compare_as) {
  const std::string_view dtype = reference.dtype == kNumber ? kDefaultDtype : reference.dtype;
  const DtypeRow& row = kComparedTypes[type_index(dtype)];
  const bool replaced = !compare_as.empty() && !row.exact;
  return replaced ? kComparedTypes[type_index(compare_as)] : row;
}

std::string shape_text(const ReturnedValue& value) {
  return fmt::format("[{}]", fmt::join(value.shape, ", "));
}

/// A script's number stands for a tensor of one element, whatever that tensor's shape.
bool same_shape(const ReturnedValue& a, const ReturnedValue& b) {
  if (a.shape == b.shape) return true;
  const auto is_scalar = [](const ReturnedValue& value) {
    return std::all_of(value.shape.begin(), value.shape.end(), [](auto n) { return n == 1; });
  };
  const bool has_script_number = a.dtype == kNumber || a.dtype == kInteger ||  //
                                 b.dtype == kNumber || b.dtype == kInteger;
  return has_script_number && is_scalar(a) && is_scalar(b);
}

double largest_magnitude(const ReturnedValue& value) {
  double largest = 0;
  for (const double element : value.values) {
    if (std::isfinite(element)) largest = std::max(largest, std::abs(element));
  }
  return largest;
}

/// How far two elements are apart; infinite when one is not finite and the other not the same.
double distance(double a, double b) {
  if (a == b) return 0;
  const double apart = std::abs(a - b);
  return std::isfinite(apart) ? apart : kInfinity;
}

/// How far an element may be from the reference's; `rounding` is of the whole value.
double allowed_distance(const Tolerance& tolerance, double rounding, double expected) {
  return (std::isfinite(expected) ? tolerance.relative * std::abs(expected) : 0) + rounding;
}

struct WrongElement {
  std::size_t index = 0;
  double allowed = 0;
  double excess = 0;  ///< of its distance over what is allowed
};

/// The element that is farthest beyond what the tolerance allows; nullopt when none is beyond it.
std::optional<WrongElement> most_wrong_element(const ReturnedValue& value,
                                               const ReturnedValue& reference,
                                               const Tolerance& tolerance) {
  const double rounding = tolerance.rounding * largest_magnitude(reference);
  std::optional<WrongElement> worst;
  for (std::size_t i = 0; i < value.values.size(); ++i) {
    const double apart = distance(value.values[i], reference.values[i]);
    const double allowed = allowed_distance(tolerance, rounding, reference.values[i]);
    if (apart <= allowed || (worst && apart - allowed <= worst->excess)) continue;
    worst = WrongElement{i, allowed, apart - allowed};
  }
  return worst;
}

double largest_distance(const ReturnedValue& value, const ReturnedValue& reference) {
  double largest = 0;
  for (std::size_t i = 0; i < value.values.size(); ++i) {
    largest = std::max(largest, distance(value.values[i], reference.values[i]));
  }
  return largest;
}

Comparison different(std::string difference) {
  return {Equivalence::different, std::move(difference)};
}

std::string element_text(const ReturnedValue& value, std::size_t index) {
  return value.values.size() == 1 ? "" : fmt::format(" (element {})", index);
}

/// Whether an element, of whatever dtype, is an integer of 64 bits.
bool is_integer_at(const ReturnedValue& value, std::size_t index) {
  if (!value.integers.empty()) return true;
  const double element = value.values[index];
  return std::trunc(element) == element && element >= -0x1p63 && element < 0x1p63;
}

/// Integers of which doubles do not tell all.
Comparison compare_integers(const std::string& name, const ReturnedValue& value,
                            const ReturnedValue& reference) {
  for (std::size_t i = 0; i < value.values.size(); ++i) {
    if (!is_integer_at(value, i) || !is_integer_at(reference, i)) {
      return different(fmt::format("{}: {:.17g} instead of {:.17g}{}", name, value.values[i],
                                   reference.values[i], element_text(value, i)));
    }
    if (integer_at(value, i) == integer_at(reference, i)) continue;
    return different(fmt::format("{}: {} instead of {}{}", name, integer_at(value, i),
                                 integer_at(reference, i), element_text(value, i)));
  }
  return {Equivalence::same, {}};
}

Comparison compare_elements(const std::string& name, const ReturnedValue& value,
                            const ReturnedValue& reference, const DtypeRow& row) {
  const std::optional<WrongElement> wrong = most_wrong_element(value, reference, row.tolerance);
  if (!wrong) return {Equivalence::same, {}};
  return different(fmt::format("{}: {:.7g} instead of {:.7g}{}; {} allows {:.2g}", name,
                               value.values[wrong->index], reference.values[wrong->index],
                               element_text(value, wrong->index), row.name, wrong->allowed));
}

Comparison compare_value(const std::string& name, const ReturnedValue& value,
                         const ReturnedValue& reference, std::string_view compare_as) {
  const bool both_text = value.dtype == kString && reference.dtype == kString;
  if (both_text && value.text == reference.text) return {Equivalence::same, {}};
  if (both_text) {
    constexpr std::size_t kMostShown = 200;
    return different(fmt::format(R"({}: "{}" instead of "{}")", name,
                                 cut_text(value.text, kMostShown),
                                 cut_text(reference.text, kMostShown)));
  }
  if (value.dtype == kString || reference.dtype == kString) {
    return different(fmt::format("{}: a {} instead of a {}", name, value.dtype, reference.dtype));
  }
  if (!same_shape(value, reference)) {
    return different(
        fmt::format("{}: shape {} instead of {}", name, shape_text(value), shape_text(reference)));
  }
  if (!value.has_values || !reference.has_values) return {Equivalence::not_checked, {}};
  if (is_exact(reference) && (!value.integers.empty() || !reference.integers.empty())) {
    return compare_integers(name, value, reference);
  }
  return compare_elements(name, value, reference, deciding_row(reference, compare_as));
}

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
    if (value.dtype != kString && expected != nullptr && expected->has_values &&
        has_only_zeros(value) && !has_only_zeros(*expected)) {
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

Comparison agree_steps(const MeasuredVariant& variant, const MeasuredVariant& reference) {
  if (reference.steps == 0) return different("steps: the reference never calls ohm.step()");
  if (variant.steps == reference.steps) return {Equivalence::same, {}};
  return different(fmt::format("{} steps instead of {}", variant.steps, reference.steps));
}

struct Agreement {
  std::string_view name;
  bool shows_work;
  Comparison (*compare)(const MeasuredVariant& variant, const MeasuredVariant& reference);
};

constexpr std::array<Agreement, 3> kAgreements = {{{"finite", false, agree_finite},
                                                   {"shapes", false, agree_shapes},
                                                   {"steps", true, agree_steps}}};

}  // namespace

bool is_exact(const ReturnedValue& value) {
  return value.dtype != kNumber && kComparedTypes[type_index(value.dtype)].exact;
}

std::int64_t integer_at(const ReturnedValue& value, std::size_t index) {
  return value.integers.empty() ? static_cast<std::int64_t>(value.values[index])
                                : value.integers[index];
}

Tolerance tolerance_of_value(std::string_view dtype) {
  return tolerance_of(dtype == kNumber ? kDefaultDtype : dtype);
}

Tolerance tolerance_of(std::string_view dtype) {
  return kComparedTypes[type_index(dtype)].tolerance;
}

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
    const auto* const agreement =
        std::find_if(kAgreements.begin(), kAgreements.end(),
                     [&](const Agreement& known) { return known.name == name; });
    if (returned || agreement == kAgreements.end()) {
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
  const auto* const known =
      std::find_if(kAgreements.begin(), kAgreements.end(),
                   [&](const Agreement& one) { return one.name == agreement; });
  return known == kAgreements.end() || known->shows_work;
}

std::vector<std::string> agreement_names() {
  std::vector<std::string> names;
  names.reserve(kAgreements.size());
  for (const Agreement& agreement : kAgreements) names.emplace_back(agreement.name);
  return names;
}

std::string missing_value(const ReturnedValues& values, const ReturnedValues& reference) {
  for (const std::string& name : names_in_either(values, reference)) {
    const ReturnedValue* value = find(values, name);
    const ReturnedValue* expected = find(reference, name);
    if (value == nullptr) return name + ": not returned";
    if (expected == nullptr) return name + ": not returned by the reference";
    if ((value->dtype == kString) == (expected->dtype == kString)) continue;
    return fmt::format("{}: a {} instead of a {}", name, value->dtype, expected->dtype);
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
    if (value.dtype == kString) continue;
    if (!value.has_values || !expected.has_values) return {};
    const double apart = largest_distance(value, expected);
    const double scale = largest_magnitude(expected);
    const double error = apart == 0 ? 0 : scale == 0 ? kInfinity : apart / scale;
    largest.value = std::max(largest.value.value_or(0), error);
  }
  if (!largest.value) return {std::nullopt, "it returns only strings"};
  return largest;
}

}  // namespace ohm::engine

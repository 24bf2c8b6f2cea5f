#include "harness/judge/value_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "allocator_shim/base/cut_text.h"
#include "harness/judge/tolerance.h"

namespace ohm::engine {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

/// Processors give NaN different signs, which no text shows.
double shown(double element) { return std::isnan(element) ? std::abs(element) : element; }

std::string with_article(std::string_view dtype) {
  return fmt::format("{} {}", dtype.starts_with('i') ? "an" : "a", dtype);
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
      return different(fmt::format("{}: {:.17g} instead of {:.17g}{}", name, shown(value.values[i]),
                                   shown(reference.values[i]), element_text(value, i)));
    }
    if (integer_at(value, i) == integer_at(reference, i)) continue;
    return different(fmt::format("{}: {} instead of {}{}", name, integer_at(value, i),
                                 integer_at(reference, i), element_text(value, i)));
  }
  return {Equivalence::same, {}};
}

Comparison compare_elements(const std::string& name, const ReturnedValue& value,
                            const ReturnedValue& reference, std::string_view dtype) {
  const std::optional<WrongElement> wrong =
      most_wrong_element(value, reference, tolerance_of(dtype));
  if (!wrong) return {Equivalence::same, {}};
  return different(fmt::format("{}: {:.7g} instead of {:.7g}{}; {} allows {:.2g}", name,
                               shown(value.values[wrong->index]),
                               shown(reference.values[wrong->index]),
                               element_text(value, wrong->index), dtype, wrong->allowed));
}

}  // namespace

Comparison different(std::string difference) {
  return {Equivalence::different, std::move(difference)};
}

bool is_string(const ReturnedValue& value) { return value.dtype == name_of(ScriptType::string); }

std::string other_type(const std::string& name, const ReturnedValue& value,
                       const ReturnedValue& reference) {
  return fmt::format("{}: {} instead of {}", name, with_article(value.dtype),
                     with_article(reference.dtype));
}

std::string shape_text(const ReturnedValue& value) {
  return fmt::format("[{}]", fmt::join(value.shape, ", "));
}

bool same_shape(const ReturnedValue& a, const ReturnedValue& b) {
  if (a.shape == b.shape) return true;
  const auto is_scalar = [](const ReturnedValue& value) {
    return std::all_of(value.shape.begin(), value.shape.end(), [](auto n) { return n == 1; });
  };
  const auto is_script_number = [](const ReturnedValue& value) {
    return value.dtype == name_of(ScriptType::number) ||
           value.dtype == name_of(ScriptType::integer);
  };
  return (is_script_number(a) || is_script_number(b)) && is_scalar(a) && is_scalar(b);
}

Comparison compare_value(const std::string& name, const ReturnedValue& value,
                         const ReturnedValue& reference, std::string_view compare_as) {
  const bool both_text = is_string(value) && is_string(reference);
  if (both_text && value.text == reference.text) return {Equivalence::same, {}};
  if (both_text) {
    constexpr std::size_t kMostShown = 200;
    return different(fmt::format(R"({}: "{}" instead of "{}")", name,
                                 cut_text(value.text, kMostShown),
                                 cut_text(reference.text, kMostShown)));
  }
  if (is_string(value) || is_string(reference)) {
    return different(other_type(name, value, reference));
  }
  if (!same_shape(value, reference)) {
    return different(
        fmt::format("{}: shape {} instead of {}", name, shape_text(value), shape_text(reference)));
  }
  if (!value.has_values || !reference.has_values) return {Equivalence::not_checked, {}};
  if (is_exact(reference) && (!value.integers.empty() || !reference.integers.empty())) {
    return compare_integers(name, value, reference);
  }
  return compare_elements(name, value, reference, deciding_dtype(reference, compare_as));
}

double relative_error(const ReturnedValue& value, const ReturnedValue& reference) {
  const double apart = largest_distance(value, reference);
  const double scale = largest_magnitude(reference);
  return apart == 0 ? 0 : scale == 0 ? kInfinity : apart / scale;
}

}  // namespace ohm::engine

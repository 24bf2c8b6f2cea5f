// A limit: a bound on a measurement, as a scenario writes it.
//
//   limit      = measurement [ "[" "cuda:" digits "]" ] comparison bound
//   comparison = "<" | "<=" | "==" | "!=" | ">=" | ">"
//   bound      = product { ("+" | "-") product }
//   product    = factor { "*" factor }, of which at most one is a variant
//   factor     = number [ unit ] | variant
//
// as in `growth_bytes_per_step == 0`, `peak_allocated_bytes[cuda:1] < 24 MiB`,
// `peak_reserved_bytes <= 0.6 * problem + 2 MiB`. A variant stands for its own measurement of the
// same kind; `problem` is the problem that the judged variant belongs to.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/measurement.h"

namespace ohm::engine {

/// The word for the problem in the variant's `of`.
inline constexpr std::string_view kProblemWord = "problem";

enum class Comparator : std::uint8_t { less, less_equal, equal, not_equal, greater_equal, greater };

/// One product of a bound: a number, or that many times a variant's measurement.
struct BoundTerm {
  double factor = 1;
  std::string variant;  ///< empty: the number alone
};

struct Limit {
  std::string text;  ///< as written
  const Measurement* measurement = nullptr;
  std::optional<int> gpu;  ///< of `[cuda:N]`
  Comparator comparator = Comparator::less;
  std::vector<BoundTerm> bound;  ///< summed

  /// Whether the bound names this variant (or `problem`).
  bool refers_to(std::string_view variant) const;
};

/// Throws std::invalid_argument: what is wrong, quoting the limit.
Limit parse_limit(std::string_view text);

/// Finds the variant that a bound names; an empty source when it was not measured.
using SourceLookup = std::function<MeasurementSource(const std::string& variant)>;

/// Measures and compares. `holds` is absent when that is impossible; `note` then says why, and
/// `needs_values` whether it is because the devices are size-only.
struct EvaluatedLimit {
  LimitResult result;
  bool needs_values = false;
};
EvaluatedLimit evaluate(const Limit& limit, const MeasurementSource& source,
                        const SourceLookup& lookup);

/// How far a figure is on the good side: positive inside, negative outside. For `==` and `!=` it
/// is minus the distance, so that nearer is better.
double slack(Comparator comparator, double measured, double bound);

}  // namespace ohm::engine

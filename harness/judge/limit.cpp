#include "harness/judge/limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ohm::engine {

namespace {

bool compare(Comparator comparator, double measured, double bound) {
  switch (comparator) {
    case Comparator::less:
      return measured < bound;
    case Comparator::less_equal:
      return measured <= bound;
    case Comparator::equal:
      return measured == bound;
    case Comparator::not_equal:
      return measured != bound;
    case Comparator::greater_equal:
      return measured >= bound;
    case Comparator::greater:
      break;
  }
  return measured > bound;
}

/// The sum of the bound's terms; the first one that cannot be told decides.
Measured measured_bound(const Limit& limit, const SourceLookup& lookup) {
  double sum = 0;
  for (const BoundTerm& term : limit.bound) {
    if (term.variant.empty()) {
      sum += term.factor;
      continue;
    }
    const MeasurementSource source = lookup(term.variant);
    if (source.variant == nullptr) {
      return {std::nullopt, false, fmt::format("{} was not measured", term.variant)};
    }
    Measured other = limit.measurement->measure(source, limit.gpu);
    if (!other.value) {
      other.why_not = fmt::format("of {}: {}", term.variant, other.why_not);
      return other;
    }
    sum += term.factor * *other.value;
  }
  return {sum, false, {}};
}

}  // namespace

bool Limit::refers_to(std::string_view variant) const {
  return std::any_of(bound.begin(), bound.end(),
                     [&](const BoundTerm& term) { return term.variant == variant; });
}

EvaluatedLimit evaluate(const Limit& limit, const MeasurementSource& source,
                        const SourceLookup& lookup) {
  const Measured measured = limit.measurement->measure(source, limit.gpu);
  const Measured bound = measured_bound(limit, lookup);
  EvaluatedLimit evaluated;
  evaluated.result.limit = limit.text;
  evaluated.result.unit = limit.measurement->unit;
  evaluated.result.measured = measured.value;
  evaluated.result.bound = bound.value;
  evaluated.result.note = measured.value ? bound.why_not : measured.why_not;
  evaluated.needs_values = measured.needs_values || bound.needs_values;
  if (measured.value && bound.value) {
    evaluated.result.holds = compare(limit.comparator, *measured.value, *bound.value);
  }
  return evaluated;
}

double slack(Comparator comparator, double measured, double bound) {
  switch (comparator) {
    case Comparator::less:
    case Comparator::less_equal:
      return bound - measured;
    case Comparator::greater:
    case Comparator::greater_equal:
      return measured - bound;
    case Comparator::equal:
    case Comparator::not_equal:
      break;
  }
  return -std::abs(measured - bound);
}

}  // namespace ohm::engine

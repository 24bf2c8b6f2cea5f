#include "harness/judge/tighter_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "harness/judge/limit.h"

namespace ohm::engine {

namespace {

bool has_to_hold(const VariantResult& variant) {
  return variant.role == Role::mitigation || variant.role == Role::control ||
         variant.role == Role::check;
}

bool is_upper(Comparator comparator) {
  return comparator == Comparator::less || comparator == Comparator::less_equal;
}
bool is_lower(Comparator comparator) {
  return comparator == Comparator::greater || comparator == Comparator::greater_equal;
}

/// A limit, and who leaves the least room under it.
struct Room {
  Limit limit;
  const VariantResult* variant = nullptr;
  double tightest = 0;  ///< in multiples of the bound's term
  bool is_told = true;
};

/// What the bound's one term would have to be multiplied by.
std::optional<double> tightest_factor(const Limit& limit, const LimitResult& result) {
  const double factor = limit.bound.front().factor;
  if (!result.measured || !result.bound || !result.holds.value_or(false)) return std::nullopt;
  if (limit.bound.front().variant.empty()) return *result.measured;
  if (*result.bound == 0) return std::nullopt;
  const double other = *result.bound / factor;
  double tightest = *result.measured / other;
  // Rounded so that it holds.
  if (is_upper(limit.comparator) && tightest * other < *result.measured) {
    tightest = std::nextafter(tightest, std::numeric_limits<double>::infinity());
  }
  if (is_lower(limit.comparator) && tightest * other > *result.measured) {
    tightest = std::nextafter(tightest, -std::numeric_limits<double>::infinity());
  }
  return tightest;
}

void narrow(Room& room, const VariantResult& variant, const LimitResult& result) {
  const std::optional<double> factor = tightest_factor(room.limit, result);
  if (!factor) {
    room.is_told = false;
    return;
  }
  const bool is_tighter =
      is_upper(room.limit.comparator) ? *factor > room.tightest : *factor < room.tightest;
  if (room.variant != nullptr && !is_tighter) return;
  room.variant = &variant;
  room.tightest = *factor;
}

/// The limits of a scenario, each once.
std::vector<Room> rooms_of(const ScenarioResult& scenario) {
  std::vector<Room> rooms;
  for (const VariantResult& variant : scenario.variants) {
    for (const LimitResult& result : variant.limits) {
      auto room = std::find_if(rooms.begin(), rooms.end(),
                               [&](const Room& known) { return known.limit.text == result.limit; });
      if (room == rooms.end()) {
        Limit limit = parse_limit(result.limit);
        const bool has_bound = is_upper(limit.comparator) || is_lower(limit.comparator);
        if (!has_bound || limit.bound.size() != 1) continue;
        room = rooms.insert(rooms.end(), Room{std::move(limit)});
      }
      if (has_to_hold(variant)) narrow(*room, variant, result);
    }
  }
  return rooms;
}

std::string tightest_text(const Room& room) {
  const Limit& limit = room.limit;
  const std::string& variant = limit.bound.front().variant;
  const std::string index = limit.gpu ? fmt::format("[cuda:{}]", *limit.gpu) : "";
  const bool is_integer = std::trunc(room.tightest) == room.tightest;
  const std::string figure =
      is_integer ? fmt::format("{:.0f}", room.tightest) : fmt::format("{}", room.tightest);
  return fmt::format("{}{} {} {}{}", limit.measurement->name, index,
                     is_upper(limit.comparator) ? "<=" : ">=", figure,
                     variant.empty() ? "" : " * " + variant);
}

}  // namespace

std::vector<TighterLimit> tighter_limits(const ScenarioResult& scenario) {
  std::vector<TighterLimit> tighter;
  for (const Room& room : rooms_of(scenario)) {
    if (!room.is_told) continue;
    if (room.variant == nullptr) {
      tighter.push_back({room.limit.text, "", ""});
    } else if (room.tightest != room.limit.bound.front().factor) {
      tighter.push_back({room.limit.text, tightest_text(room), room.variant->name});
    }
  }
  return tighter;
}

}  // namespace ohm::engine

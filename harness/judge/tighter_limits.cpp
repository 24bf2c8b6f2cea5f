#include "harness/judge/tighter_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
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
  std::string why_not;  ///< why it cannot be told, by that variant; empty: it can
};

/// Why this figure does not tell how tight a limit can be; empty: it does.
std::string why_untold(const Limit& limit, const LimitResult& result) {
  if (!result.measured || !result.bound) {
    return result.note.empty() ? "it needs values, which are not computed" : result.note;
  }
  if (!result.holds.value_or(false)) return "it breaks it";
  if (limit.bound.size() > 1 && *result.measured != *result.bound) {
    return "its bound has several terms";
  }
  const bool is_of_nothing = !limit.bound.front().variant.empty() && *result.bound == 0;
  return is_of_nothing ? "its bound is a multiple of 0" : "";
}

/// What the bound's one term would have to be multiplied by. Pre-condition: it is told.
double tightest_factor(const Limit& limit, const LimitResult& result) {
  const double factor = limit.bound.front().factor;
  if (limit.bound.size() > 1) return factor;  // it measures just what the bound allows
  if (limit.bound.front().variant.empty()) return *result.measured;
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
  if (!room.why_not.empty()) return;
  room.why_not = why_untold(room.limit, result);
  if (!room.why_not.empty()) {
    room.variant = &variant;
    return;
  }
  const double factor = tightest_factor(room.limit, result);
  const bool is_tighter =
      is_upper(room.limit.comparator) ? factor > room.tightest : factor < room.tightest;
  if (room.variant != nullptr && !is_tighter) return;
  room.variant = &variant;
  room.tightest = factor;
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
        if (!has_bound) continue;
        room = rooms.insert(rooms.end(), Room{std::move(limit), nullptr, 0, {}});
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
    if (room.variant == nullptr) {
      tighter.push_back({room.limit.text, "", "", "no variant has to hold it"});
    } else if (!room.why_not.empty()) {
      tighter.push_back({room.limit.text, "", room.variant->name, room.why_not});
    } else if (room.tightest != room.limit.bound.front().factor) {
      tighter.push_back({room.limit.text, tightest_text(room), room.variant->name, ""});
    }
  }
  return tighter;
}

}  // namespace ohm::engine

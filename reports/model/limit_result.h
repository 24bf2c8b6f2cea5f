// A limit, measured.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reports/model/fields.h"

namespace ohm {

/// How a limit is to be printed and compared.
enum class Unit : std::uint8_t { bytes, count, ratio };

inline constexpr std::array<std::string_view, 3> kUnitNames = {"bytes", "count", "ratio"};

constexpr std::string_view name_of(Unit unit) { return kUnitNames[static_cast<std::size_t>(unit)]; }
constexpr std::size_t word_count(Unit /*of*/) { return kUnitNames.size(); }

struct LimitResult {
  std::string limit;               ///< as written: "growth_bytes_per_step == 0"
  Unit unit = Unit::bytes;         ///< of `measured` and `bound`
  std::optional<double> measured;  ///< integers up to 2^53 are exact; absent: see `note`
  std::optional<double> bound;     ///< what it was compared with, after resolving variants
  std::optional<bool> holds;       ///< absent: could not be told
  std::string note;                ///< why there is no measurement; empty otherwise

  static constexpr const char* kSchemaName = "limit";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = LimitResult;
    visit("limit", &T::limit);
    visit("unit", &T::unit);
    visit("measured", &T::measured);
    visit("bound", &T::bound);
    visit("holds", &T::holds, "Null: could not be told, see note.");
    visit("note", &T::note, Presence::optional);
  }
};

}  // namespace ohm

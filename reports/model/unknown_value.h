// Reads of values that no kernel computed: the program's sizes and branches may differ from those
// on a real GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "reports/model/fields.h"

namespace ohm {

/// What a read decides.
enum class UnknownUse : std::uint8_t { shape, branch, value };

inline constexpr std::array<std::string_view, 3> kUnknownUseNames = {"shape", "branch", "value"};

constexpr std::string_view name_of(UnknownUse use) {
  return kUnknownUseNames[static_cast<std::size_t>(use)];
}
constexpr std::size_t word_count(UnknownUse /*of*/) { return kUnknownUseNames.size(); }

/// The reads of one line of the program.
struct UnknownValueResult {
  UnknownUse kind = UnknownUse::shape;
  std::string file;
  int line = 0;
  std::string detail;      ///< "0 of 16,777,216 rows selected"; may be empty
  std::int64_t count = 1;  ///< of reads
  std::int64_t order = 0;  ///< of the last of them, among all reads of the process

  static constexpr const char* kSchemaName = "unknown_value";
  static constexpr const char* kSchemaDescription =
      "A line of the program that reads values which no kernel computed.";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = UnknownValueResult;
    visit("kind", &T::kind, "What the values decide.");
    visit("file", &T::file);
    visit("line", &T::line);
    visit("detail", &T::detail);
    visit("count", &T::count, "Number of reads.");
    visit("order", &T::order, "Ordinal of the last read among all reads of the process.");
  }
};

}  // namespace ohm

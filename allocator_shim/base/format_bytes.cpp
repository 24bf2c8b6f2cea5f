#include "allocator_shim/base/format_bytes.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <stdexcept>

#include "allocator_shim/base/bytes.h"

namespace ohm {
namespace {

struct ByteUnit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array<ByteUnit, 9> kUnits = {{{"B", 1},
                                             {"KB", 1'000},
                                             {"MB", 1'000'000},
                                             {"GB", 1'000'000'000},
                                             {"TB", 1'000'000'000'000},
                                             {"KiB", 1_KiB},
                                             {"MiB", 1_MiB},
                                             {"GiB", 1_GiB},
                                             {"TiB", 1_TiB}}};

double in_units_of(std::uint64_t bytes, std::uint64_t unit) {
  return static_cast<double>(bytes) / static_cast<double>(unit);
}

std::string with_thousands_separators(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw std::invalid_argument(fmt::format(
      "not a number of bytes: \"{}\" ({}; write for example 24GiB, 1.5 MiB or 500 KB)", text, why));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_while_digits(std::string_view& rest) {
  std::size_t count = 0;
  while (count < rest.size() && is_digit(rest[count])) ++count;
  const std::string_view digits = rest.substr(0, count);
  rest.remove_prefix(count);
  return digits;
}

std::string_view without_blanks_around(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::uint64_t unit_named(std::string_view name, std::string_view text) {
  for (const ByteUnit& unit : kUnits) {
    if (unit.name == name) return unit.bytes;
  }
  refuse(text, fmt::format("\"{}\" is not one of B, KB, MB, GB, TB, KiB, MiB, GiB, TiB", name));
}

std::uint64_t whole_part(std::string_view digits, std::uint64_t unit, std::string_view text) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  for (const char c : digits) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (number > (kMost / unit - digit) / 10) refuse(text, "too large");
    number = number * 10 + digit;
  }
  return number * unit;
}

/// floor(0.digits * unit), digit by digit from the last one, in integers.
std::uint64_t fraction_part(std::string_view digits, std::uint64_t unit) {
  // Digits beyond these cannot change a whole byte of the largest unit by more than rounding.
  constexpr std::size_t kDigits = 6;
  std::uint64_t numerator = 0;
  std::uint64_t denominator = 1;
  for (const char c : digits.substr(0, kDigits)) {
    numerator = numerator * 10 + static_cast<std::uint64_t>(c - '0');
    denominator *= 10;
  }
  return numerator * unit / denominator;
}

}  // namespace

std::string pytorch_bytes(std::uint64_t bytes) {
  if (bytes <= 1_KiB) return fmt::format("{} bytes", bytes);
  if (bytes <= 1_MiB) return fmt::format("{:.2f} KiB", in_units_of(bytes, 1_KiB));
  if (bytes <= 1_GiB) return fmt::format("{:.2f} MiB", in_units_of(bytes, 1_MiB));
  return fmt::format("{:.2f} GiB", in_units_of(bytes, 1_GiB));
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1_KiB) return fmt::format("{} B", bytes);
  if (bytes < 1_MiB) return fmt::format("{:.2f} KiB", in_units_of(bytes, 1_KiB));
  if (bytes < 1_GiB) return fmt::format("{:.2f} MiB", in_units_of(bytes, 1_MiB));
  if (bytes < 1_TiB) return fmt::format("{:.2f} GiB", in_units_of(bytes, 1_GiB));
  return fmt::format("{:.2f} TiB", in_units_of(bytes, 1_TiB));
}

std::string human_and_exact_bytes(std::uint64_t bytes) {
  if (bytes < 1_KiB) return fmt::format("{} bytes", bytes);
  return fmt::format("{} ({} bytes)", human_bytes(bytes), with_thousands_separators(bytes));
}

std::uint64_t parse_bytes(std::string_view text) {
  std::string_view rest = without_blanks_around(text);
  const std::string_view whole = take_while_digits(rest);
  if (whole.empty()) refuse(text, "a number has to come first");
  std::string_view fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction = take_while_digits(rest);
    if (fraction.empty()) refuse(text, "no digit after the point");
  }
  const std::string_view name = without_blanks_around(rest);
  if (name.empty() && !fraction.empty()) refuse(text, "a fraction needs a unit");
  const std::uint64_t unit = name.empty() ? 1 : unit_named(name, text);
  const std::uint64_t whole_bytes = whole_part(whole, unit, text);
  const std::uint64_t fraction_bytes = fraction_part(fraction, unit);
  if (whole_bytes + fraction_bytes < whole_bytes) refuse(text, "too large");
  return whole_bytes + fraction_bytes;
}

}  // namespace ohm

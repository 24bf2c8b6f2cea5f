#include "allocator_shim/fault/fault_point.h"

#include <fmt/format.h>

#include <charconv>

namespace ohm {

namespace {

constexpr std::string_view kPrefix = "ohm:";
constexpr int kFewestDigits = 4;
constexpr int kMostDigits = 16;
constexpr int kPrintedDigits = 8;

bool parse_whole(std::string_view text, int base, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<FaultPoint> parse_fault_point(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  FaultPoint point;
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos) {
    if (!parse_whole(text.substr(at + 1), 10, point.occurrence) || point.occurrence == 0) {
      return std::nullopt;
    }
    text = text.substr(0, at);
  }
  point.digits = static_cast<int>(text.size());
  const bool has_digits = point.digits >= kFewestDigits && point.digits <= kMostDigits;
  if (!has_digits || !parse_whole(text, 16, point.prefix)) return std::nullopt;
  return point;
}

std::string fault_point_text(std::uint64_t hash, std::uint64_t occurrence) {
  const std::uint64_t digits = hash >> static_cast<unsigned>(64 - 4 * kPrintedDigits);
  std::string text = fmt::format("{}{:08x}", kPrefix, digits);
  if (occurrence != 0) text += fmt::format("@{}", occurrence);
  return text;
}

}  // namespace ohm

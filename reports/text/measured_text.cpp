#include "reports/text/measured_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "allocator_shim/base/format_bytes.h"

namespace ohm::reports {

namespace {

/// Counts and bytes are integers unless something went wrong while measuring.
bool is_integer(double value) { return std::floor(value) == value && std::abs(value) < 0x1p53; }

std::uint64_t magnitude(double value) { return static_cast<std::uint64_t>(std::abs(value)); }

const char* sign(double value) { return value < 0 ? "-" : ""; }

}  // namespace

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string short_figure(double value, Unit unit) {
  if (unit == Unit::ratio || !is_integer(value)) return fmt::format("{:.4g}", value);
  if (unit == Unit::count) return grouped(static_cast<std::int64_t>(value));
  return sign(value) + human_bytes(magnitude(value));
}

std::string short_bytes(std::int64_t bytes) {
  return short_figure(static_cast<double>(bytes), Unit::bytes);
}

std::string bytes_text(double bytes) {
  if (bytes >= 0x1p64) return "more than 16 EiB";
  return human_bytes(bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0);
}

std::string exact_figure(double value, Unit unit) {
  if (unit == Unit::ratio || !is_integer(value)) return fmt::format("{:.6g}", value);
  if (unit == Unit::count) return grouped(static_cast<std::int64_t>(value));
  return sign(value) + human_and_exact_bytes(magnitude(value));
}

std::string limit_sentence(const LimitResult& limit) {
  if (!limit.measured) return fmt::format("{}: {}", limit.limit, limit.note);
  const std::string measured =
      fmt::format("{}: measured {}", limit.limit, exact_figure(*limit.measured, limit.unit));
  if (!limit.holds) return fmt::format("{}, {}", measured, limit.note);
  return measured + (*limit.holds ? ", holds" : ", breaks");
}

namespace {

/// What the devices of all variants say, each once, in the order in which it comes first.
template <class WordsOf>
std::vector<std::string> words_of_devices(const ScenarioResult& scenario, WordsOf&& words_of) {
  std::vector<std::string> all;
  for (const VariantResult& variant : scenario.variants) {
    for (const DeviceResult& device : variant.devices) {
      for (const std::string& words : words_of(device)) {
        if (std::find(all.begin(), all.end(), words) == all.end()) all.push_back(words);
      }
    }
  }
  return all;
}

}  // namespace

std::string card_text(const ScenarioResult& scenario) {
  const std::vector<std::string> cards = words_of_devices(scenario, [](const DeviceResult& device) {
    return device.card.empty() ? std::vector<std::string>() : std::vector{device.card};
  });
  return cards.empty() ? "" : fmt::format("on {}", fmt::join(cards, " and "));
}

std::string modelled_text(const ScenarioResult& scenario) {
  const std::vector<std::string> names =
      words_of_devices(scenario, [](const DeviceResult& device) { return device.modelled; });
  return names.empty() ? "" : fmt::format("modelled, not exact: {}", fmt::join(names, ", "));
}

}  // namespace ohm::reports

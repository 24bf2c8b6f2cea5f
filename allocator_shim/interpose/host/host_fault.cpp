#include "allocator_shim/interpose/host/host_fault.h"

#include <array>
#include <charconv>

namespace ohm::interpose::host {

namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Of "nth(7)" and "nth" it is "7"; false where the text is another call.
bool take_call(std::string_view text, std::string_view name, std::string_view& inside) {
  if (!text.starts_with(name)) return false;
  text.remove_prefix(name.size());
  text = trimmed(text);
  if (text.size() < 2 || !text.starts_with('(') || !text.ends_with(')')) return false;
  text.remove_prefix(1);
  text.remove_suffix(1);
  inside = trimmed(text);
  return true;
}

bool parse_count(std::string_view text, std::uint64_t& count) {
  text = trimmed(text);
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, count);
  return read.ec == std::errc() && read.ptr == end && count > 0;
}

bool parse_size(std::string_view text, std::uint64_t& bytes) {
  struct Unit {
    std::string_view name;
    unsigned shift;
  };
  constexpr std::array<Unit, 4> kUnits = {{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"B", 0}}};
  if (!text.starts_with(">=")) return false;
  text.remove_prefix(2);
  unsigned shift = 0;
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    text.remove_suffix(unit.name.size());
    shift = unit.shift;
    break;
  }
  if (!parse_count(text, bytes)) return false;
  bytes <<= shift;
  return true;
}

/// "ohm:3f9c22d1@2": of the requests from this point the second.
bool parse_point(std::string_view term, HostFault& fault) {
  constexpr std::string_view kPrefix = "ohm:";
  constexpr std::size_t kFewestDigits = 4;
  constexpr std::size_t kMostDigits = 16;
  if (!term.starts_with(kPrefix)) return false;
  term.remove_prefix(kPrefix.size());
  const std::size_t at = term.find('@');
  const std::string_view digits = term.substr(0, at);
  if (at == std::string_view::npos || digits.size() < kFewestDigits ||
      digits.size() > kMostDigits) {
    return false;
  }
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, fault.point_prefix, 16);
  term.remove_prefix(at + 1);
  fault.point_digits = static_cast<unsigned>(digits.size());
  fault.count = 1;
  return read.ec == std::errc() && read.ptr == end && parse_count(term, fault.first);
}

bool parse_schedule(std::string_view term, HostFault& fault) {
  std::string_view inside;
  if (take_call(term, "nth", inside)) {
    fault.count = 1;
    return parse_count(inside, fault.first);
  }
  if (take_call(term, "from", inside)) {
    fault.count = HostFault::kEndless;
    return parse_count(inside, fault.first);
  }
  if (take_call(term, "every", inside)) {
    fault.count = HostFault::kEndless;
    if (!parse_count(inside, fault.step)) return false;
    fault.first = fault.step;
    return true;
  }
  if (take_call(term, "burst", inside)) {
    const std::size_t comma = inside.find(',');
    if (comma == std::string_view::npos) return false;
    const std::string_view first = inside.substr(0, comma);
    inside.remove_prefix(comma + 1);
    return parse_count(first, fault.first) && parse_count(inside, fault.count);
  }
  if (take_call(term, "persistent", inside) && take_call(inside, "nth", inside)) {
    fault.count = HostFault::kEndless;
    return parse_count(inside, fault.first);
  }
  return false;
}

}  // namespace

bool parse_host_fault(std::string_view text, HostFault& fault) {
  fault = HostFault();
  text = trimmed(text);
  if (text.empty() || parse_point(text, fault)) return true;
  std::string_view point;
  if (take_call(text, "persistent", point) && parse_point(point, fault)) {
    fault.count = HostFault::kEndless;
    return true;
  }
  fault = HostFault();
  bool has_schedule = false;
  for (;;) {
    const std::size_t end = text.find('&');
    const std::string_view term = trimmed(text.substr(0, end));
    std::string_view inside;
    if (take_call(term, "size", inside)) {
      if (!parse_size(inside, fault.least_bytes)) return false;
    } else {
      if (has_schedule || !parse_schedule(term, fault)) return false;
      has_schedule = true;
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  // A condition alone is met once, as in every plan.
  if (!has_schedule) fault.count = 1;
  return true;
}

}  // namespace ohm::interpose::host

#include "allocator_shim/fault/policy_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "allocator_shim/base/format_bytes.h"

namespace ohm {

void PolicyArguments::refuse(std::string_view why) const {
  throw std::invalid_argument(fmt::format("[fault] {}: {}", term_, why));
}

std::string_view PolicyArguments::take_text(std::string_view what) {
  const std::size_t end = std::min(rest_.find(','), rest_.size());
  std::string_view text = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) refuse(fmt::format("{} is missing", what));
  return text;
}

std::uint64_t PolicyArguments::take_count(std::string_view what) {
  const std::string_view text = take_text(what);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count == 0) {
    refuse(fmt::format("{} must be a whole number, at least 1", what));
  }
  return count;
}

double PolicyArguments::take_probability(std::string_view what) {
  const std::string_view text = take_text(what);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!is_number || !(number >= 0 && number <= 1)) {
    refuse(fmt::format("{} must be a number from 0 to 1", what));
  }
  return number;
}

std::uint64_t PolicyArguments::take_named_number(std::string_view name, std::uint64_t otherwise) {
  if (is_at_end()) return otherwise;
  const std::string_view text = take_text(name);
  const std::size_t equals = text.find('=');
  std::uint64_t number = 0;
  const char* const begin = text.data() + std::min(equals + 1, text.size());
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (equals == std::string_view::npos || text.substr(0, equals) != name || !is_number) {
    refuse(fmt::format("only {}=N may follow, a whole number", name));
  }
  return number;
}

std::size_t PolicyArguments::bytes_in(std::string_view text) const {
  try {
    return parse_bytes(text);
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

void PolicyArguments::expect_end() const {
  if (!rest_.empty()) refuse(fmt::format("nothing may follow: \"{}\"", rest_));
}

}  // namespace ohm

#include "harness/cli/varied_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace ohm::cli {

namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || wrong != std::errc() || rest != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

VariedRange parse_varied_range(const std::string& text) {
  constexpr std::string_view kDots = "..";
  const std::size_t equals = text.find('=');
  VariedRange range{text.substr(0, equals), {}, {}};
  if (range.name.empty()) throw std::invalid_argument("name a parameter, as in batch=1..65536");
  if (equals == std::string::npos) return range;
  const std::string_view bounds = std::string_view(text).substr(equals + 1);
  const std::size_t dots = bounds.find(kDots);
  if (dots != std::string_view::npos) {
    range.least = whole_number(bounds.substr(0, dots));
    range.most = whole_number(bounds.substr(dots + kDots.size()));
  }
  if (!range.least || !range.most) {
    throw std::invalid_argument(
        fmt::format("\"{}\" is not NAME=LEAST..MOST in whole numbers, as in batch=1..65536", text));
  }
  if (*range.least > *range.most) {
    throw std::invalid_argument(
        fmt::format("{} is more than {}: the range is empty", *range.least, *range.most));
  }
  constexpr std::int64_t kExact = std::int64_t{1} << 53U;
  if (*range.least < -kExact || *range.most > kExact) {
    throw std::invalid_argument("values are between -2^53 and 2^53");
  }
  return range;
}

std::pair<std::string, std::vector<std::int64_t>> parse_recorded_values(const std::string& text,
                                                                        std::size_t files) {
  const std::size_t equals = text.find('=');
  std::vector<std::int64_t> values;
  std::string_view rest = equals == std::string::npos ? "" : std::string_view(text).substr(equals);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::optional<std::int64_t> value = whole_number(rest.substr(0, comma));
    if (!value || *value < 1) break;
    values.push_back(*value);
    rest.remove_prefix(comma);
  }
  std::vector<std::int64_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const bool has_twins = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (equals == 0 || !rest.empty() || values.size() != files || has_twins) {
    throw std::invalid_argument(
        fmt::format("\"{}\" is not NAME=VALUE,VALUE with a whole number above 0 for each of the {} "
                    "recordings, no two the same, as in batch=8,16",
                    text, files));
  }
  return {text.substr(0, equals), std::move(values)};
}

}  // namespace ohm::cli

#include "harness/sweep/sweep_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace ohm::engine {

std::string PointChoice::text() const {
  switch (kind) {
    case Kind::all:
      return "all";
    case Kind::unique:
      return "unique";
    case Kind::sample:
      break;
  }
  return fmt::format("sample={}", sample);
}

PointChoice parse_point_choice(std::string_view text) {
  using Kind = PointChoice::Kind;
  if (text == "all") return {Kind::all, 0};
  if (text == "unique") return {Kind::unique, 0};
  constexpr std::string_view kSample = "sample=";
  PointChoice choice{Kind::sample, 0};
  const std::size_t begin = std::min(kSample.size(), text.size());
  const auto [end, error] =
      std::from_chars(text.data() + begin, text.data() + text.size(), choice.sample);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!text.starts_with(kSample) || !is_number || choice.sample == 0) {
    throw std::invalid_argument(fmt::format("\"{}\" is not all, unique or sample=N", text));
  }
  return choice;
}

}  // namespace ohm::engine

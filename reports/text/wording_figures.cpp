#include "reports/text/wording_figures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace ohm::reports {

double number_of(const std::string& text) {
  std::string digits = text;
  digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_too_large = read.ec == std::errc::result_out_of_range;
  return is_too_large ? std::numeric_limits<double>::infinity() : value;
}

double unit_of(const std::string& unit) {
  if (unit.empty() || unit[0] == 'b') return 1;
  const bool is_binary = unit.size() > 1 && unit[1] == 'i';
  const double base = is_binary ? 1024 : 1000;
  const std::size_t power = std::string_view("KMGT").find(unit[0]) + 1;
  return std::pow(base, static_cast<double>(power));
}

double binary_unit_of(const std::string& unit) {
  return unit.size() < 2 ? 1 : unit_of(unit.substr(0, 1) + "iB");
}

std::optional<double> first_number(const std::cmatch& match) { return number_of(match.str(1)); }

std::optional<double> first_figure(const std::cmatch& match) {
  return number_of(match.str(1)) * unit_of(match.str(2));
}

}  // namespace ohm::reports

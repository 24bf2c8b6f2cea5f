// Figures in the wordings of other programs.
#pragma once

#include <optional>
#include <regex>
#include <string>

namespace ohm::reports {

/// Of digits with or without commas.
double number_of(const std::string& text);

/// "GiB", "MB", "bytes"
double unit_of(const std::string& unit);

/// Where "GB" are 2^30.
double binary_unit_of(const std::string& unit);

/// Of the first group: bytes.
std::optional<double> first_number(const std::cmatch& match);

/// Of the first group, in the unit of the second.
std::optional<double> first_figure(const std::cmatch& match);

}  // namespace ohm::reports

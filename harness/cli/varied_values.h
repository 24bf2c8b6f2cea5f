// The values of --vary, as they are typed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ohm::cli {

struct VariedRange {
  std::string name;
  std::optional<std::int64_t> least;
  std::optional<std::int64_t> most;
};

/// NAME or NAME=LEAST..MOST. Throws std::invalid_argument.
VariedRange parse_varied_range(const std::string& text);

/// NAME=A,B of as many recordings, a value for each. Throws std::invalid_argument.
std::pair<std::string, std::vector<std::int64_t>> parse_recorded_values(const std::string& text,
                                                                        std::size_t files);

}  // namespace ohm::cli

// A part of the work, for one machine of several.
#pragma once

#include <cstddef>
#include <string_view>

namespace ohm::engine {

struct Shard {
  std::size_t index = 0;  ///< from 0
  std::size_t count = 1;

  /// Whether this shard does the piece of work with this number.
  bool has(std::size_t number) const { return number % count == index; }
  bool is_whole() const { return count == 1; }
};

/// "2/5" is the second of five. Throws std::invalid_argument.
Shard parse_shard(std::string_view text);

}  // namespace ohm::engine

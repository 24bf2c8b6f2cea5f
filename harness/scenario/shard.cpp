#include "harness/scenario/shard.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace ohm::engine {

namespace {

bool parse_count(std::string_view text, std::size_t& count) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && count > 0;
}

}  // namespace

Shard parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  std::size_t number = 0;
  Shard shard;
  const bool is_shard = slash != std::string_view::npos &&
                        parse_count(text.substr(0, slash), number) &&
                        parse_count(text.substr(slash + 1), shard.count) && number <= shard.count;
  if (!is_shard) {
    throw std::invalid_argument(
        fmt::format("\"{}\" is not a shard, as in 2/5: the second of five", text));
  }
  shard.index = number - 1;
  return shard;
}

}  // namespace ohm::engine

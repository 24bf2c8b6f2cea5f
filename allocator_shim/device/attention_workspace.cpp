#include "allocator_shim/device/attention_workspace.h"

#include <algorithm>
#include <bit>

namespace ohm {
namespace {

std::uint64_t power_of_two_within(std::int64_t most) {
  return std::bit_floor(static_cast<std::uint64_t>(most));
}

// Two parts for each multiprocessor at most, none of fewer than 128 keys. 0: it is not split.
std::size_t parts_of(const AttentionShape& shape, int multiprocessors) {
  constexpr std::int64_t kFewKeys = 512;
  constexpr std::int64_t kKeysOfPart = 128;
  constexpr std::uint64_t kMost = 64;
  constexpr std::uint64_t kFewest = 4;
  if (shape.keys <= kFewKeys) return 0;
  const std::uint64_t parts =
      std::min({kMost, power_of_two_within(shape.keys / kKeysOfPart),
                power_of_two_within(std::int64_t{2} * multiprocessors / shape.value_heads)});
  return parts < kFewest ? 0 : parts;
}

std::size_t rounded_up(std::size_t bytes) {
  constexpr std::size_t kAlignment = 128;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::size_t attention_forward_workspace_bytes(const AttentionShape& shape, int multiprocessors) {
  if (shape.queries != 1) return kAttentionBackwardWorkspaceBytes;
  const std::size_t rows =
      parts_of(shape, multiprocessors) * static_cast<std::size_t>(shape.query_heads);
  if (rows == 0) return 0;
  const std::size_t results = rows * static_cast<std::size_t>(shape.value_width) * sizeof(float);
  const std::size_t logarithms = rounded_up(rows * sizeof(float));
  const std::size_t extrema = logarithms;
  constexpr std::size_t kCounters = 128;
  return rounded_up(results) + logarithms + extrema + kCounters;
}

}  // namespace ohm

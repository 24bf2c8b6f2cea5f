#include "reports/text/huffman_code.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace ohm::reports {

namespace {

constexpr int kMostBits = 15;

/// Depths of the leaves of a Huffman tree; ties go to what was made first.
std::vector<std::uint8_t> depths(const std::vector<std::uint64_t>& counts) {
  using Entry = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) open.emplace(counts[i], i);
  }
  std::vector<std::size_t> parents(counts.size());
  if (open.size() == 1) open.emplace(0, counts.size()), parents.push_back(0);
  while (open.size() > 1) {
    const auto [low, a] = open.top();
    open.pop();
    const auto [high, b] = open.top();
    open.pop();
    const std::size_t node = parents.size();
    parents.push_back(0);
    parents[a] = parents[b] = node;
    open.emplace(low + high, node);
  }
  // Parents come behind their children.
  std::vector<std::uint8_t> depth(parents.size());
  for (std::size_t i = parents.size() - (parents.empty() ? 0U : 1U); i-- > 0;) {
    if (i >= counts.size() || counts[i] > 0) {
      depth[i] = static_cast<std::uint8_t>(depth[parents[i]] + 1);
    }
  }
  depth.resize(counts.size());
  return depth;
}

std::uint16_t reversed(unsigned code, int bits) {
  unsigned out = 0;
  for (int i = 0; i < bits; ++i) out |= ((code >> i) & 1U) << (bits - 1 - i);
  return static_cast<std::uint16_t>(out);
}

}  // namespace

HuffmanCode huffman_code(std::span<const std::uint32_t> counts, int most_bits) {
  HuffmanCode code;
  std::vector<std::uint64_t> flattened(counts.begin(), counts.end());
  code.lengths = depths(flattened);
  // Counts that are closer together make a tree that is less deep.
  while (*std::max_element(code.lengths.begin(), code.lengths.end()) > most_bits) {
    for (std::uint64_t& count : flattened) count = (count + 1) / 2;
    code.lengths = depths(flattened);
  }
  std::array<unsigned, kMostBits + 2> next = {};
  for (const std::uint8_t length : code.lengths) {
    if (length > 0) ++next[length + 1U];
  }
  for (std::size_t bits = 2; bits < next.size(); ++bits) {
    next[bits] = (next[bits - 1] + next[bits]) << 1U;
  }
  code.codes.resize(code.lengths.size());
  for (std::size_t i = 0; i < code.lengths.size(); ++i) {
    const std::uint8_t length = code.lengths[i];
    if (length > 0) code.codes[i] = reversed(next[length]++, length);
  }
  return code;
}

}  // namespace ohm::reports

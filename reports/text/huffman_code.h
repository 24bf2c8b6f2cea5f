// A Huffman code of limited length, as DEFLATE writes it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ohm::reports {

/// Symbols are indices; what never occurs has length 0.
struct HuffmanCode {
  std::vector<std::uint8_t> lengths;
  std::vector<std::uint16_t> codes;  ///< the first bit to write is the lowest
};

/// For symbols that occur so often, none longer than `most_bits` (at most 15). The same code on
/// every machine. A single symbol gets one bit.
HuffmanCode huffman_code(std::span<const std::uint32_t> counts, int most_bits);

}  // namespace ohm::reports

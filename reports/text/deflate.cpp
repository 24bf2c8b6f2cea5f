#include "reports/text/deflate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "reports/text/huffman_code.h"

namespace ohm::reports {

namespace {

constexpr std::size_t kWindow = 32'768;
constexpr std::size_t kLeastMatch = 3;
constexpr std::size_t kMostMatch = 258;
constexpr std::size_t kHashes = 1U << 15U;
/// More find matches that are hardly longer.
constexpr int kMostTries = 48;
constexpr std::size_t kBlockTokens = 40'000;
constexpr std::size_t kEndOfBlock = 256;

/// Lengths and distances are a symbol, and so many bits more.
constexpr std::array<std::uint16_t, 29> kLengthBase = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                       15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                       67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<std::uint8_t, 29> kLengthBits = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<std::uint16_t, 30> kDistanceBase = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<std::uint8_t, 30> kDistanceBits = {0, 0, 0,  0,  1,  1,  2,  2,  3,  3,
                                                        4, 4, 5,  5,  6,  6,  7,  7,  8,  8,
                                                        9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
constexpr std::array<std::uint8_t, 19> kLengthOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                       11, 4,  12, 3, 13, 2, 14, 1, 15};

template <std::size_t Size>
std::size_t symbol_of(const std::array<std::uint16_t, Size>& bases, std::size_t value) {
  return static_cast<std::size_t>(std::upper_bound(bases.begin(), bases.end(), value) -
                                  bases.begin()) -
         1;
}

class BitWriter {
 public:
  void write(unsigned value, int bits) {
    pending_ |= std::uint64_t{value} << count_;
    count_ += static_cast<unsigned>(bits);
    for (; count_ >= 8; count_ -= 8, pending_ >>= 8U) out_ += static_cast<char>(pending_ & 0xffU);
  }
  void write(const HuffmanCode& code, std::size_t symbol) {
    write(code.codes[symbol], code.lengths[symbol]);
  }
  std::string finish() {
    if (count_ > 0) write(0, static_cast<int>(8 - count_));
    return std::move(out_);
  }

 private:
  std::string out_;
  std::uint64_t pending_ = 0;
  unsigned count_ = 0;
};

/// A byte (distance 0), or a repetition.
struct Token {
  std::uint16_t value;  ///< the byte, or the length
  std::uint16_t distance;
};

/// Finds what stood before.
class Matches {
 public:
  explicit Matches(std::string_view bytes)
      : bytes_(bytes), heads_(kHashes, kNone), previous_(kWindow, kNone) {}

  struct Match {
    std::size_t length = 0;
    std::size_t distance = 0;
  };

  Match longest(std::size_t at) const {
    Match best;
    if (at + kLeastMatch > bytes_.size()) return best;
    const std::size_t most = std::min(kMostMatch, bytes_.size() - at);
    std::size_t candidate = heads_[hash(at)];
    for (int tries = 0; tries < kMostTries && candidate != kNone && at - candidate <= kWindow - 1;
         ++tries) {
      std::size_t length = 0;
      while (length < most && bytes_[candidate + length] == bytes_[at + length]) ++length;
      if (length > best.length) best = {length, at - candidate};
      if (length == most) break;
      candidate = previous_[candidate % kWindow];
    }
    return best.length < kLeastMatch ? Match() : best;
  }

  void add(std::size_t at) {
    if (at + kLeastMatch > bytes_.size()) return;
    previous_[at % kWindow] = heads_[hash(at)];
    heads_[hash(at)] = at;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t hash(std::size_t at) const {
    const auto byte = [&](std::size_t i) {
      return std::size_t{static_cast<unsigned char>(bytes_[at + i])};
    };
    return (byte(0) << 10U ^ byte(1) << 5U ^ byte(2)) % kHashes;
  }

  std::string_view bytes_;
  std::vector<std::size_t> heads_;
  std::vector<std::size_t> previous_;
};

std::vector<Token> tokens_of(std::string_view bytes) {
  std::vector<Token> tokens;
  Matches matches(bytes);
  Matches::Match now = matches.longest(0);
  for (std::size_t at = 0; at < bytes.size();) {
    matches.add(at);
    const Matches::Match next = matches.longest(at + 1);
    if (now.length == 0 || next.length > now.length) {
      tokens.push_back({static_cast<unsigned char>(bytes[at]), 0});
      ++at;
      now = next;
      continue;
    }
    tokens.push_back(
        {static_cast<std::uint16_t>(now.length), static_cast<std::uint16_t>(now.distance)});
    for (std::size_t i = 1; i < now.length; ++i) matches.add(at + i);
    at += now.length;
    now = matches.longest(at);
  }
  return tokens;
}

/// Lengths of codes, with repetitions as symbols 16 to 18: the symbol and its further bits.
struct LengthSymbol {
  std::uint8_t symbol;
  std::uint8_t extra;
  std::uint8_t bits;
};

std::vector<LengthSymbol> length_symbols(const std::vector<std::uint8_t>& lengths) {
  std::vector<LengthSymbol> symbols;
  for (std::size_t at = 0; at < lengths.size();) {
    std::size_t run = 1;
    while (at + run < lengths.size() && lengths[at + run] == lengths[at]) ++run;
    if (lengths[at] == 0 && run >= 3) {
      run = std::min<std::size_t>(run, 138);
      const bool is_short = run <= 10;
      symbols.push_back({static_cast<std::uint8_t>(is_short ? 17 : 18),
                         static_cast<std::uint8_t>(run - (is_short ? 3 : 11)),
                         static_cast<std::uint8_t>(is_short ? 3 : 7)});
    } else if (run >= 4) {
      run = std::min<std::size_t>(run, 7);
      symbols.push_back({lengths[at], 0, 0});
      symbols.push_back({16, static_cast<std::uint8_t>(run - 4), 2});
    } else {
      run = 1;
      symbols.push_back({lengths[at], 0, 0});
    }
    at += run;
  }
  return symbols;
}

/// As long as the last that occurs, but at least so long.
void cut(std::vector<std::uint8_t>& lengths, std::size_t least) {
  while (lengths.size() > least && lengths.back() == 0) lengths.pop_back();
}

void write_codes(BitWriter& out, const HuffmanCode& literals, const HuffmanCode& distances) {
  std::vector<std::uint8_t> all = literals.lengths;
  std::vector<std::uint8_t> far = distances.lengths;
  cut(all, kEndOfBlock + 1);
  cut(far, 1);
  out.write(static_cast<unsigned>(all.size() - 257), 5);
  out.write(static_cast<unsigned>(far.size() - 1), 5);
  all.insert(all.end(), far.begin(), far.end());
  const std::vector<LengthSymbol> symbols = length_symbols(all);
  std::array<std::uint32_t, 19> counts = {};
  for (const LengthSymbol& one : symbols) ++counts[one.symbol];
  const HuffmanCode code = huffman_code(counts, 7);
  std::size_t sent = kLengthOrder.size();
  while (sent > 4 && code.lengths[kLengthOrder[sent - 1]] == 0) --sent;
  out.write(static_cast<unsigned>(sent - 4), 4);
  for (std::size_t i = 0; i < sent; ++i) out.write(code.lengths[kLengthOrder[i]], 3);
  for (const LengthSymbol& one : symbols) {
    out.write(code, one.symbol);
    out.write(one.extra, one.bits);
  }
}

void write_block(BitWriter& out, std::span<const Token> tokens, bool is_last) {
  std::array<std::uint32_t, 286> literal_counts = {};
  std::array<std::uint32_t, 30> distance_counts = {};
  literal_counts[kEndOfBlock] = 1;
  for (const Token& token : tokens) {
    if (token.distance == 0) {
      ++literal_counts[token.value];
    } else {
      ++literal_counts[257 + symbol_of(kLengthBase, token.value)];
      ++distance_counts[symbol_of(kDistanceBase, token.distance)];
    }
  }
  const HuffmanCode literals = huffman_code(literal_counts, 15);
  const HuffmanCode distances = huffman_code(distance_counts, 15);
  out.write(is_last ? 1U : 0U, 1);
  out.write(2, 2);  // codes of its own
  write_codes(out, literals, distances);
  for (const Token& token : tokens) {
    if (token.distance == 0) {
      out.write(literals, token.value);
      continue;
    }
    const std::size_t length = symbol_of(kLengthBase, token.value);
    out.write(literals, 257 + length);
    out.write(token.value - kLengthBase[length], kLengthBits[length]);
    const std::size_t distance = symbol_of(kDistanceBase, token.distance);
    out.write(distances, distance);
    out.write(token.distance - kDistanceBase[distance], kDistanceBits[distance]);
  }
  out.write(literals, kEndOfBlock);
}

}  // namespace

std::string deflated(std::string_view bytes) {
  const std::vector<Token> tokens = tokens_of(bytes);
  BitWriter out;
  std::size_t at = 0;
  do {
    const std::size_t end = std::min(tokens.size(), at + kBlockTokens);
    write_block(out, std::span(tokens).subspan(at, end - at), end == tokens.size());
    at = end;
  } while (at < tokens.size());
  return out.finish();
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      word = word << 8U | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= count ? kDigits[(word >> (18 - 6 * i)) & 63U] : '=';
    }
  }
  return out;
}

}  // namespace ohm::reports

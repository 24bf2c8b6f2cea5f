#include "reports/text/deflate.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/text/huffman_code.h"

namespace ohm::reports {
namespace {

/// Reads a stream bit by bit, as RFC 1951 says it.
class Inflater {
 public:
  explicit Inflater(const std::string& bytes) : bytes_(bytes) {}

  std::string all() {
    for (bool is_last = false; !is_last;) {
      is_last = take(1) == 1;
      if (take(2) != 2) throw std::runtime_error("a block without codes of its own");
      block();
    }
    return out_;
  }

 private:
  using Lengths = std::vector<unsigned>;

  unsigned take(unsigned bits) {
    unsigned value = 0;
    for (unsigned i = 0; i < bits; ++i, ++at_) {
      value |= (static_cast<unsigned char>(bytes_.at(at_ / 8)) >> (at_ % 8) & 1U) << i;
    }
    return value;
  }

  /// Codes of one length are in the order of their symbols, behind those that are shorter.
  unsigned symbol(const Lengths& lengths) {
    unsigned code = 0;
    unsigned first = 0;
    for (unsigned length = 1; length <= 15; ++length) {
      code = code << 1U | take(1);
      unsigned count = 0;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] != length) continue;
        if (code == first + count) return static_cast<unsigned>(i);
        ++count;
      }
      first = (first + count) << 1U;
    }
    throw std::runtime_error("no such code");
  }

  Lengths code_lengths(std::size_t wanted, const Lengths& code) {
    Lengths lengths;
    while (lengths.size() < wanted) {
      const unsigned one = symbol(code);
      if (one < 16) {
        lengths.push_back(one);
        continue;
      }
      const unsigned value = one == 16 ? lengths.back() : 0;
      const unsigned times = one == 16 ? 3 + take(2) : one == 17 ? 3 + take(3) : 11 + take(7);
      lengths.insert(lengths.end(), times, value);
    }
    return lengths;
  }

  static unsigned base(unsigned symbol, unsigned group, unsigned first) {
    unsigned value = first;
    for (unsigned i = 0; i < symbol; ++i) value += 1U << extra(i, group);
    return value;
  }
  static unsigned extra(unsigned symbol, unsigned group) {
    return symbol < 2 * group ? 0 : symbol / group - 1;
  }

  void block() {
    const unsigned literals = take(5) + 257;
    const unsigned distances = take(5) + 1;
    constexpr std::array<std::size_t, 19> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
    Lengths order(19);
    const unsigned sent = take(4) + 4;
    for (unsigned i = 0; i < sent; ++i) order[kOrder.at(i)] = take(3);
    const Lengths lengths = code_lengths(literals + distances, order);
    const Lengths near(lengths.begin(), lengths.begin() + literals);
    const Lengths far(lengths.begin() + literals, lengths.end());
    for (unsigned one = symbol(near); one != 256; one = symbol(near)) {
      if (one < 256) {
        out_ += static_cast<char>(one);
        continue;
      }
      const unsigned place = one - 257;
      const unsigned length = place == 28 ? 258 : base(place, 4, 3) + take(extra(place, 4));
      const unsigned step = symbol(far);
      const std::size_t distance = base(step, 2, 1) + take(extra(step, 2));
      if (distance > out_.size()) throw std::runtime_error("a distance to before the beginning");
      for (unsigned i = 0; i < length; ++i) out_ += out_[out_.size() - distance];
    }
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
  std::string out_;
};

std::string noise(std::size_t count, unsigned values) {
  std::string text;
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>((state >> 16U) % values);
  }
  return text;
}

TEST(Deflate, WhatWasCompressedIsReadBack) {
  std::string counted;
  for (int i = 0; i < 20'000; ++i) counted += std::to_string(i * 7) + " ";
  const std::string far = noise(300, 256) + std::string(32'400, 'x') + noise(300, 256);
  const std::vector<std::string> texts = {"",
                                          "a",
                                          "ab",
                                          "aaaa",
                                          std::string(1000, 'z'),
                                          counted,
                                          noise(50'000, 256),
                                          noise(9000, 3),
                                          far,
                                          "<script>\xe2\x80\xae\xe2\x80\xac</script>"};
  for (const std::string& text : texts) {
    const std::string packed = deflated(text);
    EXPECT_EQ(text, Inflater(packed).all()) << text.size();
  }
}

TEST(Deflate, WhatRepeatsItselfBecomesSmall) {
  EXPECT_LT(deflated(std::string(100'000, 'a')).size(), 600U);
  std::string columns;
  for (int i = 0; i < 10'000; ++i) columns += std::to_string(512 * (i % 37)) + " ";
  EXPECT_LT(deflated(columns).size() * 20, columns.size());
}

TEST(HuffmanCode, LengthsAreLimitedAndFillTheCode) {
  // Counts that double make the deepest tree.
  std::vector<std::uint32_t> counts = {1, 1};
  while (counts.size() < 30) counts.push_back(counts.back() + counts[counts.size() - 2]);
  for (const int most : {7, 15}) {
    const HuffmanCode code = huffman_code(counts, most);
    double filled = 0;
    for (const std::uint8_t length : code.lengths) {
      EXPECT_GE(length, 1);
      EXPECT_LE(length, most);
      filled += 1.0 / (1U << length);
    }
    EXPECT_DOUBLE_EQ(1, filled);
  }
}

TEST(Base64, PadsTheEnd) {
  EXPECT_EQ("", base64(""));
  EXPECT_EQ("Zg==", base64("f"));
  EXPECT_EQ("Zm8=", base64("fo"));
  EXPECT_EQ("Zm9vYmFy", base64("foobar"));
  EXPECT_EQ("//79", base64("\xff\xfe\xfd"));
}

}  // namespace
}  // namespace ohm::reports

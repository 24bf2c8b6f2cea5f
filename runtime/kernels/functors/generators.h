// Functors of the factories and of what autograd itself computes, for one element: for the host's
// loops and for nvcc, see functor_list.h.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/base/philox.h"
#include "runtime/base/wrapping.h"

namespace ohm::functors {

// ---- of elements --------------------------------------------------------------------------------

struct Copy {
  static constexpr const char* kKernel = "copy";
  template <class T>
  constexpr T operator()(T x) const {
    return x;
  }
};

struct Sum {
  static constexpr const char* kKernel = "sum";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return wrapping_sum(x, y);
  }
};

// ---- of an element's number ---------------------------------------------------------------------

struct Constant {
  static constexpr const char* kKernel = "constant";
  double value;
  constexpr double operator()(std::uint64_t /*i*/) const { return value; }
};

struct Progression {
  static constexpr const char* kKernel = "progression";
  double start;
  double step;
  constexpr double operator()(std::uint64_t i) const {
    return start + step * static_cast<double>(i);
  }
};

/// A draw of one word for each element.
struct WordDraw {
  std::uint64_t seed;
  std::uint64_t offset;
  constexpr std::uint32_t word(std::uint64_t i) const { return philox_word(seed, offset, i); }
  /// Of elements 4 · number to 4 · number + 3.
  constexpr std::array<std::uint32_t, 4> block(std::uint64_t number) const {
    return philox_block(seed, offset + number);
  }
};

/// What a draw makes of the four words of a block: formula.of_word of each.
template <class Formula>
constexpr auto of_words(const Formula& formula, const std::array<std::uint32_t, 4>& words) {
  return std::array{formula.of_word(words[0]), formula.of_word(words[1]), formula.of_word(words[2]),
                    formula.of_word(words[3])};
}

/// The share of one of `threads` threads in `count` elements of a draw, a block at a time:
/// put_four(its first element, four values), and put_one(element, value) for the last few.
template <class Index, class Formula, class PutFour, class PutOne>
constexpr void draw_in_blocks(Index count, Index thread, Index threads, const Formula& formula,
                              const PutFour& put_four, const PutOne& put_one) {
  constexpr Index kBlock = 4;
  const Index blocks = count / kBlock;
  Index i = thread;
  for (; i < blocks; i += threads) put_four(i * kBlock, formula.of_block(std::uint64_t{i}));
  if (i != blocks || blocks * kBlock == count) return;
  const auto last = formula.of_block(std::uint64_t{blocks});
  for (Index e = 0; e < kBlock; ++e) {
    if (i * kBlock + e < count) put_one(i * kBlock + e, last[e]);
  }
}

struct UniformDraw {
  static constexpr const char* kKernel = "uniform_draw";
  WordDraw draw;
  double low;
  double high;
  constexpr double of_word(std::uint32_t word) const {
    return low + (high - low) * static_cast<double>(uniform_from_word(word));
  }
  constexpr double operator()(std::uint64_t i) const { return of_word(draw.word(i)); }
  constexpr auto of_block(std::uint64_t number) const {
    return of_words(*this, draw.block(number));
  }
};

/// Integers from `low`, `range` of them.
struct IntegerDraw {
  static constexpr const char* kKernel = "integer_draw";
  WordDraw draw;
  std::int64_t low;
  std::uint64_t range;
  constexpr std::int64_t of_word(std::uint32_t word) const {
    return low + static_cast<std::int64_t>((word * range) >> 32U);
  }
  constexpr std::int64_t operator()(std::uint64_t i) const { return of_word(draw.word(i)); }
  constexpr auto of_block(std::uint64_t number) const {
    return of_words(*this, draw.block(number));
  }
};

/// `value` with a probability, else 0.
struct BernoulliDraw {
  static constexpr const char* kKernel = "bernoulli_draw";
  WordDraw draw;
  float probability;
  double value;
  constexpr double of_word(std::uint32_t word) const {
    return uniform_from_word(word) < probability ? value : 0.0;
  }
  constexpr double operator()(std::uint64_t i) const { return of_word(draw.word(i)); }
  constexpr auto of_block(std::uint64_t number) const {
    return of_words(*this, draw.block(number));
  }
};

/// Four words give four normal values.
struct NormalDraw {
  static constexpr const char* kKernel = "normal_draw";
  WordDraw draw;
  double mean;
  double deviation;
  template <class Word>
  constexpr double scaled(Word normal) const {
    return mean + deviation * static_cast<double>(normal);
  }
  /// Elements 4 · number to 4 · number + 3.
  template <class Number>
  constexpr std::array<double, 4> of_block(Number number) const {
    const auto words = philox_block(draw.seed, draw.offset + number);
    const auto first = normals_from_words(words[0], words[1]);
    const auto second = normals_from_words(words[2], words[3]);
    return {scaled(first[0]), scaled(first[1]), scaled(second[0]), scaled(second[1])};
  }
  template <class Index>
  constexpr double operator()(Index i) const {
    return of_block(i / 4)[i % 4];
  }
};

}  // namespace ohm::functors

// How the threads of a CUDA block share elements, with the host in the place of each of them.
#include "runtime/kernels/functors/element_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "runtime/base/compute_dtype.h"
#include "runtime/base/dtype.h"
#include "runtime/kernels/functors/generators.h"

namespace ohm::functors {
namespace {

constexpr std::uint32_t kThreads = 32;

/// Numbers from 0 on, from an address that is a multiple of 16.
template <class T>
struct Numbers {
  explicit Numbers(std::int64_t count) : packs(static_cast<std::size_t>(count)) {
    for (std::int64_t i = 0; i < count; ++i) data()[i] = convert_element<T>(i % 101);
    operand = {reinterpret_cast<std::uintptr_t>(packs.data()), count, dtype_of<T>()};
  }
  T* data() { return reinterpret_cast<T*>(packs.data()); }

  std::vector<Pack<T>> packs;
  RowOperand operand;
};

template <class T>
class ElementRuns : public testing::Test {};
using Stored = testing::Types<Half, BFloat16, float, double>;
TYPED_TEST_SUITE(ElementRuns, Stored);

TYPED_TEST(ElementRuns, AreReadOnceByABlock) {
  using T = TypeParam;
  Numbers<T> numbers(1100);
  for (const std::int64_t size : {0, 1, 3, 4, 7, 8, 9, 31, 63, 64, 255, 256, 257, 1003}) {
    const ElementRun run{&numbers.operand, 16};
    ASSERT_TRUE(is_in_packs<T>(run));
    std::array<double, kAccumulators> sums{};
    std::int64_t visits = 0;
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      visit_in_packs<T>(
          size, {thread, kThreads},
          [&](int lane, T x, T again) {
            EXPECT_EQ(convert_element<double>(x), convert_element<double>(again));
            sums.at(static_cast<std::size_t>(lane)) += convert_element<double>(x);
            ++visits;
          },
          run, run);
    }
    double expected = 0;
    for (std::int64_t i = 0; i < size; ++i) expected += static_cast<double>((i + 16) % 101);
    EXPECT_EQ(visits, size);
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0.0), expected) << size;
    if (size < 64) continue;
    for (int lane = 0; lane < std::min(Pack<T>::kCount, kAccumulators); ++lane) {
      EXPECT_GT(sums.at(static_cast<std::size_t>(lane)), 0) << "one sum waits for the other";
    }
  }
}

TYPED_TEST(ElementRuns, AreWrittenInPlace) {
  using T = TypeParam;
  Numbers<T> numbers(1100);
  const ElementRun run{&numbers.operand, 8};
  constexpr std::int64_t kSize = 1003;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    store_in_packs<T>(
        kSize, {thread, kThreads}, run,
        [](T x) { return convert_element<T>(convert_element<double>(x) + 1); }, run);
  }
  for (std::int64_t i = 0; i < 1100; ++i) {
    const bool is_inside = i >= 8 && i < 8 + kSize;
    EXPECT_EQ(convert_element<double>(numbers.data()[i]),
              static_cast<double>(i % 101 + (is_inside ? 1 : 0)))
        << i;
  }
}

TYPED_TEST(ElementRuns, AreInPacksWhereTheyAreAlignedAndSideBySide) {
  using T = TypeParam;
  Numbers<T> numbers(100);
  EXPECT_TRUE(is_in_packs<T>({&numbers.operand, 2 * Pack<T>::kCount}));
  EXPECT_FALSE(is_in_packs<T>({&numbers.operand, 1}));
  EXPECT_FALSE(is_in_packs<T>({&numbers.operand, 0, 2}));
}

// ---- draws --------------------------------------------------------------------------------------

/// A draw that counts the blocks that are made for it.
struct CountedDraw {
  UniformDraw uniform{{7, 3}, -1.0, 1.0};
  int* blocks;

  auto of_block(std::uint64_t number) const {
    ++*blocks;
    return uniform.of_block(number);
  }
};

TEST(Draws, AreMadeFourElementsToABlock) {
  for (const std::uint32_t count : {0U, 1U, 3U, 4U, 5U, 127U, 128U, 129U, 4096U, 4099U}) {
    int blocks = 0;
    const CountedDraw draw{.blocks = &blocks};
    std::vector<int> written(count);
    std::vector<double> drawn(count);
    const auto put_one = [&](std::uint32_t i, double value) {
      ++written.at(i);
      drawn.at(i) = value;
    };
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      draw_in_blocks(
          count, thread, kThreads, draw,
          [&](std::uint32_t first, const std::array<double, 4>& values) {
            for (std::uint32_t e = 0; e < 4; ++e) put_one(first + e, values.at(e));
          },
          put_one);
    }
    EXPECT_EQ(blocks, static_cast<int>((count + 3) / 4));
    EXPECT_EQ(written, std::vector<int>(count, 1));
    for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(drawn[i], draw.uniform(i)) << i;
  }
}

TEST(Draws, GiveTheSameByElementAndByBlock) {
  const WordDraw words{11, 5};
  const auto expect_same = [](const auto& formula) {
    for (std::uint64_t i = 0; i < 40; ++i) {
      EXPECT_EQ(formula.of_block(i / 4)[i % 4], formula(i)) << i;
    }
  };
  expect_same(UniformDraw{words, 2.0, 3.0});
  expect_same(IntegerDraw{words, -5, 11});
  expect_same(BernoulliDraw{words, 0.75F, 1.25});
  expect_same(NormalDraw{words, 0.5, 2.0});
}

}  // namespace
}  // namespace ohm::functors

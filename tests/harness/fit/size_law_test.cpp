// Laws of sizes: what two recorded sizes leave open, and what more of them settle.
#include "harness/fit/size_law.h"

#include <gtest/gtest.h>

#include <vector>

namespace ohm::engine {
namespace {

using Numbers = std::vector<std::int64_t>;

void expect_range(const SizeLaw& law, std::int64_t value, const Numbers& least_likely_most) {
  const SizeRange range = law.at(value);
  EXPECT_EQ(least_likely_most, (Numbers{range.least, range.likely, range.most})) << value;
}

void expect_exactly(const SizeLaw& law, std::int64_t value, std::int64_t bytes) {
  expect_range(law, value, {bytes, bytes, bytes});
}

TEST(SizeLaw, OfOneSizeIsConstantAndNeedsNoCheck) {
  const SizeLaw law(Numbers{8, 16}, Numbers{512, 512});
  EXPECT_EQ(law.shape(), SizeShape::constant);
  EXPECT_TRUE(law.is_checked());
  expect_exactly(law, 1000, 512);
}

TEST(SizeLaw, OfTwoSizesIsALineThatNothingChecks) {
  const SizeLaw law(Numbers{8, 16}, Numbers{1008, 2008});
  EXPECT_EQ(law.shape(), SizeShape::line);
  EXPECT_FALSE(law.is_checked());
  EXPECT_EQ(law.fixed_bytes(), 8);
  EXPECT_EQ(law.bytes_per_unit(), 125);
  expect_exactly(law, 1, 133);
  expect_exactly(law, 8, 1008);
  expect_exactly(law, 100, 12508);
}

TEST(SizeLaw, OfThreeSizesOnALineIsChecked) {
  const SizeLaw law(Numbers{1, 2, 10}, Numbers{10, 20, 100});
  EXPECT_EQ(law.shape(), SizeShape::line);
  EXPECT_TRUE(law.is_checked());
  expect_exactly(law, 7, 70);
}

TEST(SizeLaw, OfTwoSizesAsSquaresIsThatSquare) {
  const SizeLaw law(Numbers{128, 512}, Numbers{3 * 128 * 128, 3 * 512 * 512});
  EXPECT_EQ(law.shape(), SizeShape::curve);
  EXPECT_FALSE(law.is_checked());
  expect_exactly(law, 1024, 3 * 1024 * 1024);
}

TEST(SizeLaw, OfTwoSizesThatGrowFasterThanTheValueMayBeAParabola) {
  // 10 v + v * v
  const SizeLaw law(Numbers{10, 20}, Numbers{200, 600});
  EXPECT_EQ(law.shape(), SizeShape::irregular);
  expect_exactly(law, 10, 200);
  expect_exactly(law, 20, 600);
  expect_range(law, 40, {1400, 1400, 40 * 40 + 10 * 40});
  expect_range(law, 15, {15 * 15 + 10 * 15, 400, 400});  // between them below the line
}

TEST(SizeLaw, OfThreeSizesOnAParabolaIsThatParabolaOrTheLine) {
  const SizeLaw law(Numbers{10, 20, 30}, Numbers{200, 600, 1200});
  EXPECT_EQ(law.shape(), SizeShape::curve);
  EXPECT_FALSE(law.is_checked());
  expect_range(law, 40, {1700, 2000, 2000});
}

TEST(SizeLaw, OfFourSizesOnAParabolaIsChecked) {
  const SizeLaw law(Numbers{10, 20, 30, 50}, Numbers{200, 600, 1200, 3000});
  EXPECT_EQ(law.shape(), SizeShape::curve);
  EXPECT_TRUE(law.is_checked());
  expect_exactly(law, 100, 11000);
}

TEST(SizeLaw, OffTheLineHasARangeThatGrowsWithTheDistance) {
  // A workspace that comes in steps.
  const SizeLaw law(Numbers{10, 20, 30}, Numbers{1000, 2100, 3000});
  EXPECT_EQ(law.shape(), SizeShape::irregular);
  EXPECT_FALSE(law.at(20).least > 2100 || law.at(20).most < 2100);
  const SizeRange near = law.at(40);
  const SizeRange far = law.at(80);
  EXPECT_LT(near.least, 4000 - 100);
  EXPECT_GE(near.most, 4000 + 100);
  EXPECT_GT(far.most - far.least, near.most - near.least);
}

TEST(SizeLaw, IsNeverBelowOneByte) {
  const SizeLaw law(Numbers{100, 101}, Numbers{100, 1100});
  EXPECT_EQ(law.at(1).least, 1);
}

}  // namespace
}  // namespace ohm::engine

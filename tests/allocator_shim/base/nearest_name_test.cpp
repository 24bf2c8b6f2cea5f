#include "allocator_shim/base/nearest_name.h"

#include <gtest/gtest.h>

namespace ohm {
namespace {

const std::vector<std::string> kKnown = {"peak_allocated_bytes", "num_ooms", "steps"};

TEST(NearestName, IsTheKnownNameWithTheFewestEdits) {
  EXPECT_EQ(nearest_name("peak_alocated_byte", kKnown), "peak_allocated_bytes");
  EXPECT_EQ(nearest_name("nmu_ooms", kKnown), "num_ooms");
}

TEST(NearestName, IsNothingWhenNoNameIsNear) {
  EXPECT_EQ(nearest_name("zzzzzz", kKnown), "");
  EXPECT_EQ(did_you_mean("zzzzzz", kKnown), "");
}

TEST(NearestName, IsTheFirstThatBeginsWithItWhenNoneIsNear) {
  EXPECT_EQ(nearest_name("peak", kKnown), "peak_allocated_bytes");
  EXPECT_EQ(nearest_name("nu", kKnown), "");
}

TEST(NearestName, TakesUpperAndLowerCaseForTheSame) {
  EXPECT_EQ(nearest_name("Num_OOMs", kKnown), "num_ooms");
  EXPECT_EQ(nearest_name("PEAK", kKnown), "peak_allocated_bytes");
}

TEST(NearestName, HasSomethingInCommon) {
  EXPECT_EQ(nearest_name("k", {"n"}), "");
  EXPECT_EQ(nearest_name("k", {"kv"}), "kv");
}

TEST(NearestName, ReadsAsAQuestion) {
  EXPECT_EQ(did_you_mean("step", kKnown), " (did you mean \"steps\"?)");
}

}  // namespace
}  // namespace ohm

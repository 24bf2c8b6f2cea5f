// ohm.nn.init: in which bounds parameters start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

class InitLibrary : public ScriptTest {};

TEST_F(InitLibrary, FillsInPlaceAndGivesTheTensorBack) {
  EXPECT_EQ(number("local x = ohm.zeros(3) return ohm.nn.init.constant_(x, 2.5) == x"), 1);
  EXPECT_EQ(number("local x = ohm.zeros(3) ohm.nn.init.constant_(x, 2.5) return x:sum():item()"),
            7.5);
  EXPECT_EQ(number("return ohm.nn.init.ones_(ohm.zeros(4)):sum():item()"), 4);
  EXPECT_EQ(number("return ohm.nn.init.zeros_(ohm.ones(4)):sum():item()"), 0);
}

TEST_F(InitLibrary, LeavesNoTraceInTheGraph) {
  EXPECT_EQ(number("local l = ohm.nn.Linear(2, 2) ohm.nn.init.normal_(l.weight, {std = 0.02})\n"
                   "return l.weight.is_leaf and l.weight.requires_grad"),
            1);
}

TEST_F(InitLibrary, DrawsWithinTheBoundsOfEachRule) {
  // √3 · √(2 / (30 + 20)) and √3 · √2 / √30.
  EXPECT_NEAR(number("return ohm.nn.init.xavier_uniform_(ohm.zeros(20, 30)):abs():max():item()"),
              0.3464, 0.01);
  EXPECT_NEAR(number("return ohm.nn.init.kaiming_uniform_(ohm.zeros(20, 30)):abs():max():item()"),
              0.4472, 0.01);
  EXPECT_NEAR(number("return ohm.nn.init.uniform_(ohm.zeros(900), -2, 3):min():item()"), -2, 0.05);
  EXPECT_NEAR(number("return ohm.nn.init.trunc_normal_(ohm.zeros(900)):abs():max():item()"), 2,
              0.1);
}

TEST_F(InitLibrary, DrawsWithTheDeviationOfEachRule) {
  EXPECT_NEAR(number("return ohm.nn.init.xavier_normal_(ohm.zeros(100, 100)):std():item()"), 0.1,
              0.005);
  // √2 / √(9 · 10), from the fan that goes in.
  EXPECT_NEAR(number("return ohm.nn.init.kaiming_normal_(ohm.zeros(100, 10, 3, 3),\n"
                     "  {mode = 'fan_in', nonlinearity = 'relu'}):std():item()"),
              0.149, 0.005);
}

TEST_F(InitLibrary, OrthogonalRowsHaveTheLengthOfTheGain) {
  EXPECT_NEAR(number("local w = ohm.nn.init.orthogonal_(ohm.zeros(4, 6), {gain = 2})\n"
                     "return (w:matmul(w:t()) - 4 * ohm.eye(4)):abs():max():item()"),
              0, 1e-5);
  EXPECT_NEAR(number("local w = ohm.nn.init.orthogonal_(ohm.zeros(6, 2, 2))\n"
                     "w = w:view(6, 4)\n"
                     "return (w:t():matmul(w) - ohm.eye(4)):abs():max():item()"),
              0, 1e-5);
}

// More rows than are made orthogonal at once.
TEST_F(InitLibrary, ManyRowsAreOrthogonalToo) {
  EXPECT_NEAR(number("local w = ohm.nn.init.orthogonal_(ohm.zeros(100, 120))\n"
                     "return (w:matmul(w:t()) - ohm.eye(100)):abs():max():item()"),
              0, 1e-5);
}

TEST_F(InitLibrary, BoundsFarFromTheMeanAreNotWhereEverythingEndsUp) {
  // E[x | x > 10] is 10.098, and E[x | x > 30] is 30.033.
  EXPECT_NEAR(number("local w = ohm.nn.init.trunc_normal_(ohm.zeros(2000), 0, 1, 10, 11)\n"
                     "assert(w:min():item() >= 10 and w:max():item() <= 11)\n"
                     "return w:mean():item()"),
              10.098, 0.01);
  EXPECT_NEAR(number("return ohm.nn.init.trunc_normal_(ohm.zeros(2000), 0, 2, -80, -60)\n"
                     "  :mean():item()"),
              -60.0665, 0.01);
  EXPECT_NEAR(number("return ohm.nn.init.trunc_normal_(ohm.zeros(2000), 0, 1, 0.001, 0.003)\n"
                     "  :mean():item()"),
              0.002, 1e-4);
}

TEST_F(InitLibrary, SaysWhatIsWrong) {
  EXPECT_THAT(error_of("ohm.nn.init.xavier_uniform_(ohm.zeros(3))"),
              testing::HasSubstr("fewer than 2 dimensions"));
  EXPECT_THAT(error_of("ohm.nn.init.kaiming_normal_(ohm.zeros(3, 3), {mode = 'both'})"),
              testing::HasSubstr("mode must be fan_in or fan_out, not both"));
  EXPECT_THAT(error_of("ohm.nn.init.orthogonal_(ohm.zeros(3, 3, {device = 'cuda'}))"),
              testing::HasSubstr("initialise a model before it is moved to a GPU"));
}

}  // namespace
}  // namespace ohm::test

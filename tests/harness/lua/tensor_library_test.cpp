#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

class TensorLibrary : public ScriptTest {};

TEST_F(TensorLibrary, ComputesWithOperatorsFunctionsAndMethods) {
  EXPECT_EQ(number("local x = ohm.tensor({1.0, 2.0}) return ((x + 1) * x - x / 2):sum():item()"),
            6.5);
  EXPECT_EQ(number("return ohm.relu(ohm.tensor({-1.0, 2.0})):sum():item()"), 2.0);
  EXPECT_EQ(number("return (2 - 3 * -ohm.ones(2) ^ 2):sum():item()"), 10.0);
  EXPECT_EQ(number("return (1 / ohm.full({2}, 4.0)):sum():item()"), 0.5);
}

}  // namespace
}  // namespace ohm::test

// Second names of ops, and ops whose form a script has of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "harness/lua/bind/op_functions.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/synonyms.h"
#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class OpNames : public ScriptTest {
 protected:
  // As "1 2 3": what the chunk makes of x, [1, 2, 3].
  std::string values(const std::string& chunk) {
    return text("local x = ohm.tensor({1.0, 2.0, 3.0}) local y = (function() return " + chunk +
                " end)() local parts = {} for i, v in ipairs(y:reshape(-1):tolist()) do "
                "parts[i] = tostring(v) end return table.concat(parts, ' ')");
  }
};

TEST_F(OpNames, SynonymsAreTheSameFunction) {
  for (const ops::Synonym& synonym : ops::kSynonyms) {
    ASSERT_NE(nullptr, ops::find_op(synonym.of)) << synonym.name;
    EXPECT_EQ(ops::find_op(synonym.of), ops::find_op(synonym.name)) << synonym.name;
    for (const ops::Exposure exposure : {ops::kFunction, ops::kMethod, ops::kFunctional}) {
      EXPECT_EQ(lua::op_function(synonym.of, exposure), lua::op_function(synonym.name, exposure));
    }
  }
}

TEST_F(OpNames, SynonymsCanBeCalled) {
  EXPECT_EQ(values("x:clip(2)"), "2.0 2.0 3.0");
  EXPECT_EQ(values("ohm.clip(x, {max = 2})"), "1.0 2.0 2.0");
  EXPECT_EQ(values("ohm.concat({x, x:multiply(2)})"), "1.0 2.0 3.0 2.0 4.0 6.0");
  EXPECT_EQ(values("x:subtract_(1)"), "0.0 1.0 2.0");
  EXPECT_EQ(values("x:greater(2)"), "false false true");
}

TEST_F(OpNames, AFunctionMayBeAnotherOpThanTheMethodOfItsName) {
  EXPECT_EQ(values("ohm.nn.functional.unfold(x:reshape(1, 1, 3), {kernel_size = 1})"),
            "1.0 2.0 3.0");
  EXPECT_EQ(values("x:unfold(0, 2, 1)"), "1.0 2.0 2.0 3.0");
  EXPECT_EQ(lua::op_function("im2col", ops::kFunctional), nullptr);
}

TEST_F(OpNames, QuotientsCanBeRounded) {
  EXPECT_EQ(values("ohm.div(x - 4, 2, {rounding_mode = 'floor'})"), "-2.0 -1.0 -1.0");
  EXPECT_EQ(values("(x - 4):div(2, 'trunc')"), "-1.0 -1.0 -0.0");
  EXPECT_EQ(values("(x - 4):long():div(2, 'trunc')"), "-1 -1 0");
  EXPECT_THAT(error_of("ohm.ones(2):div(2, 'up')"),
              HasSubstr("[div] expected rounding_mode to be one of nil, 'trunc', or 'floor'"));
}

TEST_F(OpNames, AMethodChoosesByACondition) {
  EXPECT_EQ(values("x:where(x:gt(1), -x)"), "-1.0 2.0 3.0");
  EXPECT_EQ(values("x:where(x:gt(1), 7)"), "7.0 2.0 3.0");
}

TEST_F(OpNames, MasksCanDiffer) {
  EXPECT_EQ(values("x:gt(1) ~ x:lt(3)"), "true false true");
  EXPECT_EQ(values("ohm.logical_xor(x - 1, x - 3)"), "true false true");
  EXPECT_THAT(error_of("ohm.bitwise_xor(ohm.ones(1), ohm.ones(1))"), HasSubstr("whole numbers"));
}

TEST_F(OpNames, DropoutCanWriteOverItsInput) {
  EXPECT_EQ(text("local x = ohm.ones(3) local y = ohm.nn.functional.dropout(x, {p = 0.5, "
                 "inplace = true}) return tostring(x == y)"),
            "true");
}

TEST_F(OpNames, WindowsAndGridsAreViews) {
  EXPECT_EQ(values("x:unfold(0, 2, 1)"), "1.0 2.0 2.0 3.0");
  EXPECT_EQ(text("local x = ohm.tensor({1.0, 2.0, 3.0}) "
                 "local a, b = ohm.meshgrid({x, x:narrow(0, 0, 2)}, {indexing = 'xy'}) "
                 "return a.shape[1] .. a.shape[2] .. tostring(a:data_ptr() == x:data_ptr())"),
            "23true");
  EXPECT_EQ(values("x:broadcast_to(2, 3)"), "1.0 2.0 3.0 1.0 2.0 3.0");
  EXPECT_THAT(error_of("ohm.ones(3):unfold(0, 4, 1)"),
              HasSubstr("maximum size for tensor at dimension 0 is 3 but size is 4"));
  EXPECT_THAT(error_of("ohm.meshgrid({ohm.ones(2, 2)})"), HasSubstr("scalar or 1D tensors"));
}

}  // namespace
}  // namespace ohm::test

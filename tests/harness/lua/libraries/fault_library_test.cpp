// Fault plans that a script puts together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class FaultLibrary : public ScriptTest {};

TEST_F(FaultLibrary, JoinedPlansHaveTheTextOfTheirParts) {
  EXPECT_EQ(text("local fault = ohm.fault "
                 "return tostring(fault.nth(1) & fault.size('>=4KiB') >> fault.nth(2))"),
            "nth(1) & size(>=4KiB) -> nth(2)");
  EXPECT_EQ(text("return tostring(ohm.fault.nth(1) & 'size(>=4KiB)')"), "nth(1) & size(>=4KiB)");
  EXPECT_EQ(text("return tostring('nth(1) ->  nth(2)' & ohm.fault.size('>=4KiB'))"),
            "nth(1) ->  nth(2) & size(>=4KiB)");
}

TEST_F(FaultLibrary, APlanIsPartOfSeveralOthers) {
  EXPECT_EQ(text("local fault = ohm.fault\n"
                 "local first = fault.nth(1)\n"
                 "local second = first & fault.nth(2)\n"
                 "local third = first & fault.nth(3)\n"
                 "local fourth = second & fault.nth(4)\n"
                 "local fifth = third >> third\n"
                 "local sixth = fourth & fourth\n"
                 "local texts = {}\n"
                 "for _, plan in ipairs {first, second, third, fourth, fifth, sixth} do\n"
                 "  texts[#texts + 1] = tostring(plan)\n"
                 "end\n"
                 "return table.concat(texts, '; ')"),
            "nth(1); nth(1) & nth(2); nth(1) & nth(3); nth(1) & nth(2) & nth(4); "
            "nth(1) & nth(3) -> nth(1) & nth(3); "
            "nth(1) & nth(2) & nth(4) & nth(1) & nth(2) & nth(4)");
}

TEST_F(FaultLibrary, WhatCannotBeJoinedIsRefused) {
  EXPECT_THAT(error_of("local _ = ohm.fault.from(1) >> ohm.fault.nth(1)"),
              HasSubstr("[fault] from(1): never ends, so the plan after -> would never start"));
  EXPECT_THAT(error_of("local _ = ohm.fault.capacity('1MiB') & ohm.fault.nth(1)"),
              HasSubstr("capacity combines only with device(…)"));
  EXPECT_THAT(error_of("local _ = ohm.fault.nth(1) & 'nth(2'"),
              HasSubstr("missing closing parenthesis"));
}

}  // namespace
}  // namespace ohm::test

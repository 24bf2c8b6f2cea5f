#include "harness/lua/vm/nil_assignments.h"

#include <gtest/gtest.h>

#include <lua.hpp>

#include <string>
#include <string_view>

namespace ohm::lua {
namespace {

TEST(NilAssignments, HaveALabelBehindThem) {
  EXPECT_EQ(with_separate_nils("a = nil; b = nil\nc.x = nil -- and so on\n"),
            "a = nil ::_nil_1::; b = nil ::_nil_2::\nc.x = nil ::_nil_3:: -- and so on\n");
  EXPECT_EQ(with_separate_nils("if x then y = nil end"), "if x then y = nil ::_nil_1:: end");
  EXPECT_EQ(with_separate_nils("f(function() y = nil return 1 end)"),
            "f(function() y = nil ::_nil_1:: return 1 end)");
  EXPECT_EQ(with_separate_nils("y = nil"), "y = nil ::_nil_1::");
}

TEST(NilAssignments, AreStatementsAlone) {
  for (const std::string_view text :
       {"t = {x = nil, y = nil}", "f{x = nil}", "a, b = nil, nil", "a = nil or b", "a = nil == b",
        "a = \"x = nil\" b = 'y = nil\\'' c = [==[ z = nil ]] ]==]", "-- a = nil",
        "--[[ a = nil\nb = nil ]] c = 1", "while x == nil do end", "#!/usr/bin/lua a = nil",
        "return nil", "a = {[nil_of(b)] = nil}", "a = 0x1p4 .. nil_of(b)", "x = (nil)", ""}) {
    EXPECT_EQ(with_separate_nils(text), text);
  }
}

// None of these is closed.
TEST(NilAssignments, OfTextThatIsNoLuaEndWithIt) {
  for (const std::string_view text : {"a = nil [[", "a = nil \"", "a = nil \\", "a = nil --[==[",
                                      "end ) ] } a = nil", "a = nil \"\\"}) {
    EXPECT_TRUE(with_separate_nils(text).starts_with(text.substr(0, 3))) << text;
  }
}

TEST(NilAssignments, StandAmongGotosAndLoops) {
  lua_State* L = luaL_newstate();
  const std::string text = with_separate_nils(
      "local count = 0\n"
      "for i = 1, 4 do\n"
      "  if i % 2 == 0 then goto continue end\n"
      "  local x = nil\n"
      "  x = i\n"
      "  repeat local y = i; x = nil until y\n"
      "  count = count + 1\n"
      "  x = nil\n"
      "  ::continue::\n"
      "end\n"
      "return count");
  ASSERT_EQ(luaL_loadstring(L, text.c_str()), LUA_OK) << lua_tostring(L, -1);
  lua_call(L, 0, 1);
  EXPECT_EQ(lua_tointeger(L, -1), 2);
  lua_close(L);
}

}  // namespace
}  // namespace ohm::lua

#include "harness/lua/inspect/fingerprint.h"

#include <optional>
#include <string>

#include "tests/harness/lua/script_test.h"

namespace ohm::lua {
namespace {

class Fingerprint : public test::ScriptTest {
 protected:
  std::optional<std::uint64_t> after(const std::string& source) {
    run(source);
    interpreter_->collect(interpreter_->state());
    return fingerprint_of(interpreter_->state());
  }
};

TEST_F(Fingerprint, IsThatOfTheValuesWhereverTheyAre) {
  const std::optional<std::uint64_t> before = after("");
  ASSERT_TRUE(before.has_value());
  const auto one = after("state = {n = 1, deep = {{text = 'a'}}}");
  EXPECT_NE(one, before);
  EXPECT_NE(after("state.n = 2"), one);
  EXPECT_NE(after("state.n = 1.5"), one);
  EXPECT_NE(after("state.n = true"), one);
  EXPECT_NE(after("state.n = 1; state.deep[1].text = 'b'"), one);
  EXPECT_EQ(after("state = {deep = {{text = 'a'}}, n = 1}"), one);
  EXPECT_EQ(after("state = nil"), before);
}

TEST_F(Fingerprint, SeesWhatFunctionsKeep) {
  const auto zero = after("local n = 0; function count() n = n + 1 end");
  EXPECT_NE(after("count()"), zero);
  EXPECT_EQ(after("local n = 0; function count() n = n + 1 end"), zero);
  const auto nothing = after("local n; function count() return n end");
  EXPECT_NE(after("local n = false; function count() return n end"), nothing);
}

TEST_F(Fingerprint, TellsWhichTableHoldsWhat) {
  const auto first = after("state = {a = {n = 1}, b = {n = 2}}");
  EXPECT_NE(after("state = {a = {n = 2}, b = {n = 1}}"), first);
}

TEST_F(Fingerprint, SeesHowDeepSoeverItLies) {
  const std::string nest =
      "local function nest(v) for _ = 1, 50 do v = {of = v} end return v end "
      "state = {a = nest('$1'), b = nest('$2')}";
  const auto nested = [&](const std::string& a, const std::string& b) {
    std::string source = nest;
    source.replace(source.find("$1"), 2, a);
    source.replace(source.find("$2"), 2, b);
    return after(source);
  };
  const auto first = nested("x", "y");
  ASSERT_TRUE(first.has_value());
  EXPECT_NE(nested("y", "x"), first);
  EXPECT_EQ(nested("x", "y"), first);
}

TEST_F(Fingerprint, TellsFunctionsOfOneLineApart) {
  const std::string two = "local a, b = function() return 1 end, function() return 2 end; ";
  const auto first = after(two + "f = a");
  EXPECT_NE(after(two + "f = b"), first);
  EXPECT_EQ(after(two + "f = a"), first);
}

TEST_F(Fingerprint, TellsWhatIsSharedFromWhatIsAlike) {
  const auto shared = after("local t = {}; state = {a = t, b = t}");
  EXPECT_NE(after("state = {a = {}, b = {}}"), shared);
  const std::string make =
      "local function new() local n = 0; return function() n = n + 1 end, "
      "function() return n end end local a, b = new(); local c, d = new(); ";
  const auto one = after("state = nil; " + make + "up, get = a, b");
  EXPECT_NE(after(make + "up, get = a, d"), one);
}

TEST_F(Fingerprint, KeepsKeysThatAreObjectsWithTheirValues) {
  const auto first = after("local a, b = {n = 1}, {n = 2}; state = {[a] = 'x', [b] = 'y'}");
  EXPECT_NE(after("local a, b = {n = 1}, {n = 2}; state = {[a] = 'y', [b] = 'x'}"), first);
}

TEST_F(Fingerprint, IsNoneWhereAnObjectHasAStateOfItsOwn) {
  EXPECT_EQ(after("kept = ohm.ones(2)"), std::nullopt);
  EXPECT_EQ(after("kept = ohm.nn.Linear(2, 2)"), std::nullopt);
  EXPECT_EQ(after("kept = coroutine.create(function() end)"), std::nullopt);
  EXPECT_NE(after("kept = nil"), std::nullopt);
}

}  // namespace
}  // namespace ohm::lua

#include "harness/lua/fingerprint.h"

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

TEST_F(Fingerprint, IsNoneWhereAnObjectHasAStateOfItsOwn) {
  EXPECT_EQ(after("kept = ohm.ones(2)"), std::nullopt);
  EXPECT_EQ(after("kept = ohm.nn.Linear(2, 2)"), std::nullopt);
  EXPECT_EQ(after("kept = coroutine.create(function() end)"), std::nullopt);
  EXPECT_NE(after("kept = nil"), std::nullopt);
}

}  // namespace
}  // namespace ohm::lua

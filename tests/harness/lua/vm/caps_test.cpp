// A script that never ends or takes all memory is stopped, whatever it catches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Caps : public ScriptTest {
 protected:
  Caps() : ScriptTest({}, {.instructions = 200'000, .memory_bytes = std::size_t{4} << 20U}) {}
};

struct Endless {
  const char* name;
  const char* chunk;
};

class EndlessScript : public Caps, public testing::WithParamInterface<Endless> {};

TEST_P(EndlessScript, EndsInAnErrorThatSaysWhy) {
  EXPECT_THAT(error_of(GetParam().chunk),
              HasSubstr("the script executed more than 200000 instructions"));
}

constexpr Endless kEndless[] = {
    {"Loop", "while true do end"},
    {"LoopThatCatches", "while true do pcall(function() while true do end end) end"},
    {"LoopThatCatchesWithAHandler",
     "while true do xpcall(function() while true do end end, function(e) return e end) end"},
    {"NestedCatches",
     "local function f(n) while true do if n > 0 then pcall(f, n - 1) end end end f(5)"},
    {"Coroutine", "while true do coroutine.wrap(function() for i = 1, 1000 do end end)() end"},
    {"CoroutineThatNeverYields",
     "coroutine.resume(coroutine.create(function() while true do end end)) return 1"},
    {"Comparison", "table.sort({3, 2, 1}, function(a, b) while true do end end)"},
    {"Metamethod",
     "local t = setmetatable({}, {__index = function() while true do end end}) return t.x"},
    {"CloseVariable",
     "local x <close> = setmetatable({}, {__close = function() while true do end end})"},
    {"LoadedChunk", "load('while true do end')()"},
    {"GradMode", "ohm.no_grad(function() while true do end end)"},
    {"Recursion",
     "local function f(n) if n > 0 then return 1 + f(n - 1) end end "
     "while true do pcall(f, 100) end"},
};

INSTANTIATE_TEST_SUITE_P(All, EndlessScript, testing::ValuesIn(kEndless),
                         [](const testing::TestParamInfo<Endless>& info) {
                           return info.param.name;
                         });

class MemoryCap : public ScriptTest {
 protected:
  MemoryCap() : ScriptTest({}, {.memory_bytes = std::size_t{4} << 20U}) {}
};

class GreedyScript : public MemoryCap, public testing::WithParamInterface<Endless> {};

TEST_P(GreedyScript, EndsInAnErrorThatSaysWhy) {
  EXPECT_THAT(error_of(GetParam().chunk),
              HasSubstr("the script exceeded its memory limit of 4.00 MiB"));
}

constexpr Endless kGreedy[] = {
    {"LongString", "return ('x'):rep(1e9)"},
    {"CaughtLongString", "while true do pcall(string.rep, 'x', 1e9) end"},
    {"LongStringCaughtOnce", "pcall(string.rep, 'x', 1e9) return 1"},
    {"GrowingTable", "local t = {} for i = 1, 1e9 do t[i] = i end"},
    {"DoublingString", "local s = 'x' while true do s = s .. s end"},
    {"Coroutines", "local t = {} while true do t[#t + 1] = coroutine.create(print) end"},
    {"GrowingTableInACoroutine",
     "coroutine.wrap(function() local t = {} for i = 1, 1e9 do t[i] = i end end)()"},
};

INSTANTIATE_TEST_SUITE_P(All, GreedyScript, testing::ValuesIn(kGreedy),
                         [](const testing::TestParamInfo<Endless>& info) {
                           return info.param.name;
                         });

TEST_F(Caps, TheErrorNamesTheLine) {
  EXPECT_THAT(error_of("local x = 1\n\nwhile true do\nend"), StartsWith("scenarios/test.lua:3: "));
}

TEST_F(MemoryCap, TheErrorNamesTheLine) {
  EXPECT_THAT(error_of("local x\nx = ('x'):rep(1e9)"), StartsWith("scenarios/test.lua:2: "));
}

TEST_F(MemoryCap, GarbageDoesNotCount) {
  EXPECT_EQ(number("local n = 0 for i = 1, 20 do n = n + #('x'):rep(1 << 20) end return n"),
            20 << 20);
}

class DefaultCaps : public ScriptTest {};

TEST_F(DefaultCaps, DeepRecursionIsAnOrdinaryError) {
  EXPECT_THAT(text("local function f() return f() + 1 end local _, message = pcall(f) "
                   "return message"),
              HasSubstr("stack overflow"));
}

TEST_F(DefaultCaps, AStringBeyondEveryCapIsAnOrdinaryError) {
  EXPECT_EQ(error_of("return ('x'):rep(1e10)"), "scenarios/test.lua:1: resulting string too large");
}

}  // namespace
}  // namespace ohm::test

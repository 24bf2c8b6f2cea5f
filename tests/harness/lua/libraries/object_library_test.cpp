#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class ObjectLibrary : public ScriptTest {
 protected:
  // A function that makes a parent and a child that know each other, each with 1 MiB.
  static constexpr const char* kFamily =
      "local function mebibyte() return ohm.zeros(262144, {device = 'cuda'}) end "
      "local function family() local parent, child = ohm.object(), ohm.object() "
      "parent.data, child.data = mebibyte(), mebibyte() "
      "parent.child, child.parent = child, parent return parent end "
      "local bytes = ohm.cuda.memory_allocated ";

  // What an earlier script left behind in cycles goes first.
  double after(const std::string& source) {
    return number("ohm.gc.collect() " + (kFamily + source));
  }
};

constexpr double kMiB = 1048576;

TEST_F(ObjectLibrary, AttributesAreSetReadAndRefusedByName) {
  EXPECT_EQ(number("local o = ohm.object{weight = 3} o.bias = 4 return o.weight + o.bias"), 7);
  EXPECT_EQ(text("local o = ohm.object() o.name = 'a' "
                 "o.greet = function(self, x) return self.name .. x end return o:greet('b')"),
            "ab");
  EXPECT_EQ(error_of("local o = ohm.object{weight = 3} return o.wieght"),
            "scenarios/test.lua:1: [object] has no attribute 'wieght' (did you mean \"weight\"?)");
}

TEST_F(ObjectLibrary, WithoutACycleAnObjectGoesWithItsLastName) {
  EXPECT_EQ(after("local o = ohm.object{data = mebibyte()} local p = o o = nil "
                  "local before = bytes() p = nil return before - bytes()"),
            kMiB);
  EXPECT_EQ(after("local chain = ohm.object{data = mebibyte()} "
                  "for _ = 1, 3 do chain = ohm.object{data = mebibyte(), next = chain} end "
                  "local before = bytes() chain = nil return before * 10 + bytes()"),
            4 * kMiB * 10);
}

TEST_F(ObjectLibrary, ACycleKeepsItsTensorsUntilItIsCollected) {
  EXPECT_EQ(after("family() ohm.cuda.empty_cache() return bytes()"), 2 * kMiB);
  EXPECT_EQ(after("family() family() local found = ohm.gc.collect() return found * 10 + bytes()"),
            40);
}

TEST_F(ObjectLibrary, WhatACycleRefersToStaysWithIt) {
  EXPECT_EQ(after("local function make() local a = family() a.list = {mebibyte(), mebibyte()} "
                  "a.other = ohm.object{data = mebibyte()} end make() return bytes()"),
            5 * kMiB);
  EXPECT_EQ(after("local function make() local a = family() a.list = {mebibyte(), mebibyte()} "
                  "a.other = ohm.object{data = mebibyte()} end make() ohm.cuda.memory_reserved() "
                  "make() return ohm.gc.collect() * 100 + bytes()"),
            600);
}

TEST_F(ObjectLibrary, TablesAndFunctionsCloseCycles) {
  EXPECT_EQ(after("local function make() local o = ohm.object{data = mebibyte()} o.all = {{o}} end "
                  "make() return bytes()"),
            kMiB);
  EXPECT_EQ(after("local function make() local o = ohm.object{data = mebibyte()} "
                  "o.hook = function() return o end end make() return bytes()"),
            kMiB);
}

TEST_F(ObjectLibrary, BreakingACycleLetsItGoAtOnce) {
  EXPECT_EQ(after("local parent = family() parent.child.parent = nil parent = nil return bytes()"),
            0);
}

TEST_F(ObjectLibrary, WeakReferencesMakeNoCycle) {
  EXPECT_EQ(after("local function make() local parent = ohm.object{data = mebibyte()} "
                  "parent.child = ohm.object{parent = ohm.weakref(parent)} "
                  "return parent.child.parent() == parent and 1 or 0 end "
                  "return make() * 10 + bytes()"),
            10);
  EXPECT_EQ(after("local ref do local o = ohm.object() ref = ohm.weakref(o) o = nil end "
                  "return ref() == nil and 1 or 0"),
            1);
}

TEST_F(ObjectLibrary, AWeakReferenceFindsWhatIsNotCollectedYet) {
  EXPECT_EQ(after("local ref = ohm.weakref(family()) local alive = ref() ~= nil "
                  "ohm.gc.collect() return (alive and 10 or 0) + (ref() == nil and 1 or 0)"),
            11);
  EXPECT_THAT(error_of("ohm.weakref({})"), HasSubstr("must be an object of ohm.object()"));
}

TEST_F(ObjectLibrary, LongChainsAndCyclesGoAsShortOnes) {
  constexpr const char* kChain =
      "local first = ohm.object{data = mebibyte()} local last = first "
      "for _ = 1, 50000 do last = ohm.object{next = last} end ";
  EXPECT_EQ(after(std::string(kChain) + "first, last = nil, nil return bytes()"), 0);
  EXPECT_EQ(
      after(std::string(kChain) + "first.next = last first, last = nil, nil local kept = bytes() "
                                  "local found = ohm.gc.collect() return found + bytes() + kept"),
      50001 + kMiB);
}

TEST_F(ObjectLibrary, CollectedAgainAndAgainACycleIsStillWhole) {
  EXPECT_EQ(
      after("local ref = ohm.weakref(family()) for _ = 1, 5 do ohm.zeros(3) end "
            "local found = ref() found.data:add_(1) local sum = found.child.parent.data:sum() "
            "return sum:item()"),
      262144);
}

}  // namespace
}  // namespace ohm::test

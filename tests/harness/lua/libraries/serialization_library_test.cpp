// ohm.save and ohm.load: what comes back, where to, and what cannot be saved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/lua/script_test.h"
#include "tests/support/watched_lifetimes.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class SerializationLibrary : public ScriptTest {};

TEST_F(SerializationLibrary, GivesPlainValuesBack) {
  EXPECT_EQ(text("ohm.save({step = 3, [1] = 'a', [2.5] = true, [false] = {1, 2}}, 'f')\n"
                 "local o = ohm.load('f')\n"
                 "return o.step .. o[1] .. tostring(o[2.5]) .. #o[false]"),
            "3atrue2");
  EXPECT_EQ(text("ohm.save('a\\0b', 'f') return tostring(#ohm.load('f'))"), "3");
  EXPECT_EQ(number("ohm.save(2^53 | 1, 'f') return math.type(ohm.load('f')) == 'integer'"), 1);
}

TEST_F(SerializationLibrary, GivesTablesThatStandTwiceOrInThemselvesBackSo) {
  EXPECT_EQ(number("local t = {} t.self, t.one = t, {} t.other = t.one\n"
                   "ohm.save(t, 'f') local o = ohm.load('f')\n"
                   "return o.self == o and o.one == o.other and o ~= t"),
            1);
}

TEST_F(SerializationLibrary, KeepsFilesWhereTheScriptIsWatched) {
  const WatchFromTheStart watched;
  EXPECT_EQ(text("local t = {} for i = 1, 100 do t[i] = ohm.ones(1) end\n"
                 "ohm.save({step = 3}, 'f') t[1] = nil\n"
                 "ohm.ones(1)\n"
                 "return tostring(ohm.load('f').step)"),
            "3");
}

TEST_F(SerializationLibrary, CopiesTensorsWithAllOfTheirStorage) {
  EXPECT_EQ(number("local x = ohm.arange(10) local y = x:narrow(0, 2, 3)\n"
                   "ohm.save({y = y, again = y, rest = x:narrow(0, 4, 6)}, 'f') x:zero_()\n"
                   "local o = ohm.load('f') local sum = o.y:sum():item()\n"
                   "o.rest:zero_()\n"
                   "return sum * 100 + o.y:sum():item()"),
            905);
  EXPECT_EQ(number("local x = ohm.ones(2) ohm.save({x, x}, 'f') local o = ohm.load('f')\n"
                   "return rawequal(o[1], o[2])"),
            1);
}

TEST_F(SerializationLibrary, KeepsLayoutsDtypesAndWhatWantsAGradient) {
  EXPECT_EQ(text("ohm.save(ohm.ones(2, 3, {dtype = ohm.float16}):t(), 'f')\n"
                 "local o = ohm.load('f') return tostring(o:stride(0)) .. tostring(o)"),
            "1tensor([1, 1, 1, 1, 1, 1], float16 [3, 2] on cpu)");
  EXPECT_EQ(number("local x = ohm.ones(2, {requires_grad = true}) ohm.save(x * 2, 'f')\n"
                   "local o = ohm.load('f') return o.requires_grad and o.is_leaf"),
            1);
  EXPECT_EQ(number("ohm.save(ohm.nn.Parameter(ohm.ones(2)), 'f')\n"
                   "local net = ohm.nn.Module:extend('Net') function net:__init() end\n"
                   "local one = net() one.weight = ohm.load('f') return #one:parameters()"),
            1);
}

TEST_F(SerializationLibrary, LoadsAModelsStateInTheOrderOfItsModules) {
  EXPECT_EQ(number("local net = ohm.nn.Sequential(ohm.nn.BatchNorm1d(3), ohm.nn.Linear(3, 2))\n"
                   "ohm.save({net = net:state_dict(), epoch = 1}, 'f')\n"
                   "local before = net[2].weight:sum():item()\n"
                   "ohm.nn.init.zeros_(net[2].weight)\n"
                   "net:load_state_dict(ohm.load('f').net)\n"
                   "return net[2].weight:sum():item() == before"),
            1);
}

TEST_F(SerializationLibrary, LoadsToWhereItWasOrToMapLocation) {
  EXPECT_EQ(text("ohm.save(ohm.ones(2, {device = 'cuda'}), 'f')\n"
                 "return tostring(ohm.load('f').device) .. ' ' ..\n"
                 "  tostring(ohm.load('f', {map_location = 'cpu'}).device)"),
            "cuda:0 cpu");
  EXPECT_EQ(text("ohm.save(ohm.ones(2, {device = 'cuda'}), 'f')\n"
                 "return tostring(ohm.load('f', 'cpu').device) .. ' ' ..\n"
                 "  tostring(ohm.load('f', nil, {map_location = 'cpu'}).device)"),
            "cpu cpu");
  EXPECT_THAT(error_of("ohm.save(ohm.ones(2), 'f') ohm.load('f', {map_location = 'cuda:7'})"),
              HasSubstr("[load] map_location is cuda:7 but device_count() is"));
  EXPECT_THAT(error_of("ohm.save(1, 'f') ohm.load('f', 'cpu', 'cuda')"),
              HasSubstr("[load] takes at most 2 arguments by position, not 3"));
}

TEST_F(SerializationLibrary, HoldsNoMemoryOfWhatItSaved) {
  EXPECT_EQ(number("local x = ohm.ones(1000, {device = 'cuda'}) ohm.save({x}, 'f') x = nil\n"
                   "return ohm.cuda.memory_allocated()"),
            0);
  EXPECT_EQ(number("ohm.save({ohm.ones(1000, {device = 'cuda'})}, 'f')\n"
                   "local o = ohm.load('f') o = nil return ohm.cuda.memory_allocated()"),
            0);
}

TEST_F(SerializationLibrary, SaysWhatItCannotDo) {
  EXPECT_THAT(error_of("ohm.load('nothing')"), HasSubstr("No such file: 'nothing'"));
  EXPECT_THAT(error_of("ohm.save({1}, '')"), HasSubstr("[save] f is empty"));
  EXPECT_THAT(error_of("ohm.save({1})"), HasSubstr("[save] argument 'f' must be a string"));
  EXPECT_THAT(error_of("ohm.save(nil, 'f')"), HasSubstr("[save] argument 'obj'"));
  EXPECT_THAT(error_of("ohm.save({a = print}, 'f')"),
              HasSubstr("[save] a function cannot be saved"));
  EXPECT_THAT(error_of("ohm.save({[print] = 1}, 'f')"),
              HasSubstr("[save] a function that is a key"));
  EXPECT_THAT(error_of("ohm.save(setmetatable({}, {}), 'f')"),
              HasSubstr("a table with a metatable"));
  EXPECT_THAT(error_of("ohm.save(ohm.nn.Linear(2, 2), 'f')"), HasSubstr("save its state_dict()"));
  EXPECT_THAT(error_of("local t = {} for _ = 1, 300 do t = {t} end ohm.save(t, 'f')"),
              HasSubstr("nested more than 200 deep"));
}

class SerializationWithLittleRoom : public ScriptTest {
 protected:
  SerializationWithLittleRoom()
      : ScriptTest({.values = ValueMode::keeps_values}, {.value_bytes = 1U << 20U}) {}
};

TEST_F(SerializationWithLittleRoom, EndsAScriptThatSavesWithoutEnd) {
  EXPECT_EQ(error_of("for i = 1, 100 do ohm.save(ohm.ones(1000), 'f') end"), "");
  EXPECT_THAT(error_of("for i = 1, 1000 do ohm.save(ohm.ones(1000), 'f' .. i) end"),
              HasSubstr("the files of a run may take 1.00 MiB"));
  EXPECT_THAT(error_of("for i = 1, 100 do ohm.save({('x'):rep(20000)}, 'g' .. i) end"),
              HasSubstr("the files of a run may take 1.00 MiB"));
}

// Where they lie in memory decides which a table has first.
TEST_F(SerializationLibrary, NamesTheSameOfSeveralKeysThatCannotBeSaved) {
  for (int times = 0; times < 20; ++times) {
    EXPECT_THAT(error_of("local t = {} for _ = 1, 9 do t[{}], t[function() end], "
                         "t[ohm.ones(1)] = 1, 2, 3 end ohm.save(t, 'f')"),
                HasSubstr("[save] a function that is a key"));
  }
}

// The number -1 comes first in order, and last where Lua walks the table.
TEST_F(SerializationLibrary, IsNotLedIntoDepthsByATableThatIsFlatElsewhere) {
  EXPECT_THAT(error_of("local t, last = {}, nil\n"
                       "for i = 1, 100000 do last = {last} t[i] = last end\n"
                       "t[-1] = last\n"
                       "ohm.save(t, 'f')"),
              HasSubstr("nested more than 200 deep"));
}

TEST_F(SerializationLibrary, LeavesTheFileThatWasThereWhenSavingFails) {
  EXPECT_EQ(number("ohm.save(1, 'f') pcall(ohm.save, {print}, 'f') return ohm.load('f')"), 1);
}

}  // namespace
}  // namespace ohm::test

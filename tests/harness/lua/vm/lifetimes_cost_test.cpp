// What finding lifetimes costs: how often the collector runs.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/harness/lua/vm/script_outcome.h"

namespace ohm::test {
namespace {

struct Cost {
  const char* name;
  const char* script;
};

constexpr Cost kCosts[] = {
    {"TensorsInsertedIntoAWeakTable",
     "local kept, w = {}, setmetatable({}, {__mode = 'v'}) "
     "for i = 1, 5000 do kept[i] = T() table.insert(w, kept[i]) end"},
    {"TensorsInATable", "local t = {} for i = 1, 5000 do t[#t + 1] = T() end"},
    {"TensorsInserted", "local t = {} for i = 1, 5000 do table.insert(t, T()) end"},
    {"OpsBesideTables",
     "local t = {} for i = 1, 5000 do t[i] = {i} end local x = T() for _ = 1, 5000 do x = x + 1 "
     "end"},
    {"OpsBesideClosures",
     "local t = {} for i = 1, 5000 do t[i] = function() return i end end "
     "for _ = 1, 5000 do event() end"},
    {"OpsBesideStrings",
     "local t = {} for i = 1, 5000 do t[i] = 'text ' .. i end for _ = 1, 5000 do event() end"},
    {"TablesMadeBetweenOps", "local t = {} for i = 1, 5000 do t[i] = {x = T()} end"},
    {"ChainsOfTables", "local first for i = 1, 5000 do first = {x = T(), next = first} end"},
    {"Windows", "local t = {} for i = 1, 5000 do t[i] = T() t[i - 2000] = nil end"},
    {"FieldsOverwritten",
     "local t = {} for i = 1, 5000 do t[i] = {i} end local state = {} "
     "for _ = 1, 5000 do state.x = T() end"},
    {"Objects", "local t = {} for i = 1, 5000 do t[i] = ohm.object {x = T()} end"},
    {"ChainsOfObjects",
     "local first = false for i = 1, 5000 do first = ohm.object {x = T(), next = first} end"},
    {"CyclesOfObjects",
     "for i = 1, 5000 do local o, p = ohm.object {x = T()}, ohm.object {} o.p, p.o = p, o end"},
    {"ObjectsThatGo",
     "local t = {} for i = 1, 5000 do t[i] = {i} end local o "
     "for _ = 1, 5000 do o = ohm.object {x = T()} end"},
    {"AttributesOverwritten",
     "local t, o = {}, ohm.object {} for i = 1, 5000 do t[i] = {i} end "
     "for _ = 1, 5000 do o.x = T() end"},
    {"OpsInACoroutine",
     "local t = {} for i = 1, 5000 do t[i] = {i} end coroutine.wrap(function() local x = T() "
     "for _ = 1, 5000 do x = x + 1 end end)()"},
    {"OpsOfAGenerator",
     "local t = {} for i = 1, 5000 do t[i] = {i} end "
     "for x in coroutine.wrap(function() for _ = 1, 5000 do coroutine.yield(T()) end end) do "
     "local y = x + 1 end"},
    {"OpsBesideCoroutines",
     "local t = {} for i = 1, 5000 do t[i] = coroutine.create(function(x) local y = function() "
     "return x end coroutine.yield(y) end) coroutine.resume(t[i], {i}) end "
     "for _ = 1, 5000 do event() end"},
    {"OpsBesideAWeakTable",
     "local t, keep = setmetatable({}, {__mode = 'k'}), {} "
     "for i = 1, 5000 do keep[i] = {} t[keep[i]] = i end for _ = 1, 5000 do event() end"},
    {"TensorsUnderWeakKeys",
     "local t, keep = setmetatable({}, {__mode = 'k'}), {} for i = 1, 5000 do keep[i] = T() "
     "t[keep[i]] = T() end for i = 1, 5000 do keep[i] = nil event() end"},
    {"TablesUnderWeakKeys",
     "local t, keep = setmetatable({}, {__mode = 'k'}), {} for i = 1, 5000 do keep[i] = T() "
     "t[keep[i]] = {i, T()} end for i = 1, 5000 do keep[i] = nil event() end"},
    {"FunctionsUnderWeakKeys",
     "local t, keep = setmetatable({}, {__mode = 'k'}), {} for i = 1, 5000 do keep[i] = {} "
     "t[keep[i]] = function() return t, i end end for i = 1, 5000 do keep[i] = nil event() end"},
    {"ValuesUnderWeakKeysOverwritten",
     "local t, x = setmetatable({}, {__mode = 'k'}), T() local keep = {} "
     "for i = 1, 5000 do keep[i] = {i} t[keep[i]] = keep[i - 1] end "
     "for i = 1, 5000 do t[x] = {T()} end"},
    {"WeakValues",
     "local t, keep = setmetatable({}, {__mode = 'v'}), {} for i = 1, 5000 do keep[i] = T() "
     "t[i] = keep[i] end for i = 1, 5000 do keep[i] = nil event() end"},
    {"WeakKeysAndValues",
     "local t, keep = setmetatable({}, {__mode = 'kv'}), {} for i = 1, 5000 do keep[i] = {T()} "
     "t[keep[i]] = keep[i] t[i] = keep[i] end for i = 1, 5000 do keep[i] = nil event() end"},
    {"Batches",
     "local t = {} for i = 1, 5000 do t[i] = {i} end "
     "local set = ohm.utils.data.TensorDataset(ohm.randn(5000, 2)) "
     "for x in ohm.utils.data.DataLoader(set) do local y = x:cuda() end"},
    {"OpsOfRanks",
     "local t = {} for i = 1, 5000 do t[i] = {i} end ohm.distributed.spawn(2, function(rank) "
     "local x = ohm.ones(1, {device = 'cuda:' .. rank}) for _ = 1, 2000 do x = x + 1 end end)"},
};

class CostOfLifetimes : public testing::TestWithParam<Cost> {};

// A collection looks at all that is alive. Their number may grow with the heap's doublings alone.
TEST_P(CostOfLifetimes, IsThatOfAFewCollections) {
  const std::uint64_t before = run_script("").collections;
  EXPECT_LT(run_script(GetParam().script).collections - before, 1100U);
}

INSTANTIATE_TEST_SUITE_P(Scripts, CostOfLifetimes, testing::ValuesIn(kCosts),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ohm::test

// Object lifetime is Python's: what is alive at every allocation is what CPython keeps alive.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/harness/lua/script_test.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/watched_lifetimes.h"

namespace ohm::test {
namespace {

struct LifetimeCase {
  std::string name;
  std::string lua;
  std::vector<std::string> live;
};

std::vector<LifetimeCase> read_cases() {
  std::ifstream file(std::string(OHM_GOLDEN_DIR) + "/lua/lifetimes.txt");
  std::vector<LifetimeCase> cases;
  std::string line;
  std::string section;
  while (std::getline(file, line)) {
    if (line.rfind("== ", 0) == 0) {
      cases.push_back({line.substr(3), "", {}});
    } else if (line.rfind("-- ", 0) == 0) {
      section = line.substr(3);
    } else if (section == "lua") {
      cases.back().lua += line + "\n";
    } else if (section == "live" && !line.empty()) {
      cases.back().live.push_back(line);
    }
  }
  return cases;
}

/// A line for each allocation: the numbers of all that are live, counted as they were made.
std::vector<std::string> live_lines(const EventRecord& events) {
  std::vector<std::string> lines;
  std::map<std::uint64_t, int> number_at;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const MemoryEvent& event = events[i];
    if (event.action == EventAction::free_requested) number_at.erase(event.address);
    if (event.action != EventAction::alloc) continue;
    number_at[event.address] = static_cast<int>(lines.size()) + 1;
    std::set<int> numbers;
    for (const auto& [address, number] : number_at) numbers.insert(number);
    std::ostringstream line;
    for (const int number : numbers) line << (line.tellp() == 0 ? "" : " ") << number;
    lines.push_back(line.str());
  }
  return lines;
}

class Lifetime : public testing::TestWithParam<LifetimeCase> {};

std::vector<std::string> lines_of(const std::string& lua, const MachineOptions& options) {
  TestMachine machine(options);
  lua::Interpreter interpreter("test.lua", {}, 7, lua::script_bindings());
  interpreter.load(
      "D = {device = 'cuda'}; relu = ohm.relu "
      "Module, ReLU, Sequential = ohm.nn.Module, ohm.nn.ReLU, ohm.nn.Sequential "
      "function fail() ohm.empty(1 << 50, D) end",
      "prelude.lua");
  interpreter.call(0, 0);
  interpreter.load(std::regex_replace(lua, std::regex(R"(\bT\(\))"), "ohm.empty(128, D)"),
                   "test.lua");
  interpreter.call(0, 0);
  return live_lines(machine.events());
}

TEST_P(Lifetime, IsThatOfCPython) { EXPECT_EQ(lines_of(GetParam().lua, {}), GetParam().live); }

// The script's own lines may be anywhere in a longer function: registers are used differently.
TEST_P(Lifetime, IsThatOfCPythonInAFunctionWithOtherVariables) {
  EXPECT_EQ(lines_of("local v1, v2, v3, v4\nlocal function case(p, q)\nlocal v5, v6\n" +
                         GetParam().lua + "\nend\ncase(v1, v2)",
                     {}),
            GetParam().live);
}

TEST_P(Lifetime, IsThatOfCPythonInAScriptThatIsWatched) {
  const WatchFromTheStart watch;
  EXPECT_EQ(lines_of(GetParam().lua, {}), GetParam().live);
}

TEST_P(Lifetime, IsThatOfCPythonInACoroutine) {
  EXPECT_EQ(lines_of("coroutine.wrap(function()\n" + GetParam().lua + "\nend)()", {}),
            GetParam().live);
}

class ReleaseOrder : public ScriptTest {
 protected:
  /// Kilobytes of the blocks that are freed while the chunk runs, in their order.
  std::vector<std::size_t> freed(const std::string& chunk) {
    const std::size_t before = machine_.events().size();
    run("local function T(kb) return ohm.empty(kb << 8, {device = 'cuda'}) end\n" + chunk);
    std::vector<std::size_t> sizes;
    const EventRecord& events = machine_.events();
    for (std::size_t i = before; i < events.size(); ++i) {
      if (events[i].action == EventAction::free_requested) sizes.push_back(events[i].bytes >> 10);
    }
    return sizes;
  }
};

using Kilobytes = std::vector<std::size_t>;

TEST_F(ReleaseOrder, ElementsOfAListThatWasPassedGoFromTheLastToTheFirst) {
  EXPECT_EQ(freed("local x = ohm.cat({T(1), T(2), T(3)}) ohm.gc.collect() x = nil"),
            (Kilobytes{3, 2, 1}));
}

TEST_F(ReleaseOrder, ElementsOfAListInAVariableOfAFunctionGoFromTheLastToTheFirst) {
  EXPECT_EQ(freed("local function f() local list = {T(1), T(2), T(3)} return T(4) end\n"
                  "local x = f() ohm.gc.collect() x = nil"),
            (Kilobytes{3, 2, 1}));
}

TEST_F(ReleaseOrder, AVariableThatIsAssignedAgainGoesAfterTheTemporariesOfTheCall) {
  EXPECT_EQ(freed("local x = T(1) x = x:narrow(0, 0, 1):add(T(2)) ohm.gc.collect()"),
            (Kilobytes{2, 1}));
}

TEST_F(ReleaseOrder, AVariableThatIsAssignedAgainGoesAfterTheVariablesOfTheFunction) {
  EXPECT_EQ(freed("local function f(a) local own = T(2) return T(4) end\n"
                  "local x = T(1) x = f(x) ohm.gc.collect()"),
            (Kilobytes{2, 1}));
}

TEST_F(ReleaseOrder, WhatAFunctionReturnsOfItsArgumentsGoesWithTheCallThatTakesIt) {
  EXPECT_EQ(freed("local function f(a) return a:contiguous() end\n"
                  "local x = T(1) x = f(T(2)) / 2.0 ohm.gc.collect()"),
            (Kilobytes{2, 1}));
}

TEST_F(ReleaseOrder, WhatAStatementLeftGoesBeforeTheComplementInTheNext) {
  EXPECT_EQ(freed("local x = T(4)\n"
                  "local mask = ohm.relu(x):bool()\n"
                  "local other = ~mask other = nil mask = nil ohm.gc.collect()"),
            (Kilobytes{4, 1, 1}));
  std::vector<EventAction> actions;
  for (std::size_t i = 0; i < 5; ++i) actions.push_back(machine_.events()[i].action);
  const std::vector<EventAction> first{EventAction::segment_alloc, EventAction::alloc,
                                       EventAction::alloc, EventAction::alloc,
                                       EventAction::free_requested};
  EXPECT_EQ(actions, first);
}

TEST_F(ReleaseOrder, WhatAnErrorHeldGoesFromTheInnermostFunctionToTheOutermost) {
  const std::string chunk =
      "local function inner(x) local a, b = T(2), {T(3), T(4)} return a, b, ohm.empty(1 << 50,\n"
      "  {device = 'cuda'}) end\n"
      "local function outer(x) local c = T(5) return inner(x), c end\n"
      "local ok, e = pcall(function() local d = T(6) return outer(T(1)), d end)\n"
      "local later = T(7) e = nil ohm.gc.collect()";
  EXPECT_EQ(freed(chunk), (Kilobytes{2, 4, 3, 1, 5, 6}));
}

INSTANTIATE_TEST_SUITE_P(All, Lifetime, testing::ValuesIn(read_cases()),
                         [](const testing::TestParamInfo<LifetimeCase>& info) {
                           return std::regex_replace(info.param.name, std::regex("[^A-Za-z0-9]+"),
                                                     "_");
                         });

}  // namespace
}  // namespace ohm::test

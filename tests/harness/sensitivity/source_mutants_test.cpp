// The mutants of a small scenario, kind by kind.
#include "tests/harness/sensitivity/source_mutants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "harness/judge/scenario_validation.h"
#include "harness/lua/scenario_loader.h"
#include "harness/run/variant_process.h"
#include "harness/run/worker_messages.h"
#include "harness/scenario/scenario_program.h"

namespace ohm::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kBody =
    "local function train(device, keep)\n"
    "  local net = ohm.nn.Linear(4, 4):to(device) -- a net\n"
    "  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.1})\n"
    "  local kept = {}\n"
    "  for step = 1, 4 do\n"
    "    net(ohm.ones(2, 4, {device = device})):mean():backward()\n"
    "    optimizer:step()\n"
    "    optimizer:zero_grad()\n"
    "    kept[step] = keep(ohm.ones(256, {device = device, dtype = ohm.float16}))\n"
    "    ohm.step()\n"
    "  end\n"
    "  kept = nil\n"
    "  return {weight = net.weight}\n"
    "end\n"
    "local function all(t) return t end\n"
    "local function none() end\n";

const std::string kTable =
    "return ohm.scenario {\n"
    "  name = 'small', gpu = {profile = 'tiny-64m'}, limits = {'growth_bytes_per_step == 0'},\n"
    "  problems = {kept = {limits = {'peak_allocated_bytes <= 2 KiB'},\n"
    "                      run = function(d) return train(d, all) end}},\n"
    "  mitigations = {\n"
    "    dropped = {compare_as = 'float16', run = function(d) return train(d, none) end},\n"
    "    traded = {trades = 'it', must_agree = {'steps', 'finite'},\n"
    "              run = function(d) return train(d, none) end},\n"
    "  },\n"
    "  non_fixes = {still_kept = function(d) return train(d, all) end},\n"
    "  checks = {steps = {limits = {'steps == 4'},\n"
    "                     run = function(d) return train(d, none) end}},\n"
    "}\n";

engine::ScenarioDescription description(const std::string& source) {
  engine::LoadRequest request;
  request.path = "small.lua";
  request.source = source;
  const engine::LoadedScenario loaded = engine::load_scenario(lua::load_scenario, request);
  if (loaded.error) throw engine::ScriptError(loaded.error->message);
  return engine::validated(loaded.description);
}

const std::vector<SourceMutant>& all_mutants() {
  static const std::vector<SourceMutant> kAll =
      source_mutants(kBody + kTable, description(kBody + kTable));
  return kAll;
}

std::vector<SourceMutant> mutants_of(const std::string& kind) {
  std::vector<SourceMutant> mutants = all_mutants();
  mutants.erase(std::remove_if(mutants.begin(), mutants.end(),
                               [&](const SourceMutant& one) { return one.kind != kind; }),
                mutants.end());
  return mutants;
}

std::vector<std::string> places_of(const std::string& kind) {
  std::vector<std::string> places;
  for (const SourceMutant& mutant : mutants_of(kind)) places.push_back(mutant.where);
  return places;
}

/// The lines that are others than in the original, each with an end.
std::string changed_lines(const SourceMutant& mutant) {
  const auto line_at = [](const std::string& text, std::size_t& at) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    return line;
  };
  const std::string original = kBody + kTable;
  std::string changed;
  for (std::size_t a = 0, b = 0; a < original.size() && b < mutant.source.size();) {
    const std::string before = line_at(original, a);
    const std::string after = line_at(mutant.source, b);
    if (before != after) changed += after + "\n";
  }
  return changed;
}

std::string only_change(const std::string& kind) {
  const std::vector<SourceMutant> mutants = mutants_of(kind);
  return mutants.size() == 1 ? changed_lines(mutants[0]) : std::to_string(mutants.size());
}

TEST(LineMutants, LeaveOutSteps) {
  EXPECT_THAT(
      places_of("removed step"),
      ElementsAre("net(ohm.ones(2, 4, {device = device})):mean():backward()", "optimizer:step()"));
  for (const SourceMutant& mutant : mutants_of("removed step")) {
    EXPECT_EQ("\n", changed_lines(mutant));
  }
}

TEST(LineMutants, LeaveOutOtherStatements) {
  EXPECT_THAT(places_of("removed statement"),
              ElementsAre("optimizer:zero_grad()", "ohm.step()", "kept = nil"));
}

TEST(LineMutants, ChangeWhatALineDoes) {
  EXPECT_EQ("local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0})\n",
            only_change("no learning"));
  EXPECT_EQ("for step = 1, 1 do\n", only_change("one turn"));
  EXPECT_EQ("kept[step] = keep(ohm.ones(256, {device = device, dtype = ohm.bfloat16}))\n",
            only_change("other dtype"));
}

TEST(LineMutants, ChangeWhatIsReturned) {
  EXPECT_EQ("return {loss = 0}\n", only_change("constant result"));
  EXPECT_EQ("return {loss = 0}\n", only_change("constant results"));
  EXPECT_EQ("return {}\n", only_change("empty result"));
  EXPECT_EQ("return\n", only_change("no result"));
}

TEST(VariantMutants, AreOfTheVariantsThatTheyMeanSomethingFor) {
  EXPECT_THAT(places_of("does nothing"),
              ElementsAre("kept", "dropped", "traded", "still_kept", "steps"));
  EXPECT_THAT(places_of("swapped body"), ElementsAre("kept as dropped", "kept as traded",
                                                     "dropped as kept", "traded as kept"));
  EXPECT_THAT(places_of("one huge request"), ElementsAre("kept", "still_kept"));
  EXPECT_THAT(places_of("coarse result"), ElementsAre("dropped"));
  EXPECT_THAT(places_of("wrong result"), ElementsAre("dropped"));
  for (const char* kind : {"zero result", "value left out", "extra value"}) {
    EXPECT_THAT(places_of(kind), ElementsAre("dropped", "traded")) << kind;
  }
  EXPECT_THAT(places_of("coarse comparison"), ElementsAre("dropped", "traded"));
  EXPECT_THAT(places_of("agreement left out"), ElementsAre("traded: steps", "traded: finite"));
  EXPECT_THAT(places_of("fixes otherwise"),
              ElementsAre("still_kept as dropped", "still_kept as traded"));
  EXPECT_THAT(places_of("other role"),
              ElementsAre("dropped as a non_fix", "dropped as a partial", "traded as a non_fix",
                          "traded as a partial", "still_kept as a mitigation"));
}

TEST(VariantMutants, ChangeTheTableBeforeTheScenarioHasIt) {
  const SourceMutant mutant = mutants_of("one huge request").at(0);
  EXPECT_THAT(mutant.source, HasSubstr("return (function(t) local v = t.problems.kept;"));
  EXPECT_THAT(mutant.source, HasSubstr("function() ohm.empty(1 << 40, {device = \"cuda:0\"}) end"));
  EXPECT_THAT(mutant.source, HasSubstr("return ohm.scenario(t) end) {\n  name = 'small'"));
}

TEST(VariantMutants, CanChangeTheVerdictsOfThoseThatAreComparedWithThem) {
  EXPECT_THAT(mutants_of("does nothing").at(0).variants,
              ElementsAre("kept", "dropped", "traded", "still_kept", "steps"));
  EXPECT_THAT(mutants_of("does nothing").at(1).variants, ElementsAre("dropped"));
}

TEST(LimitMutants, MoveTheBound) {
  EXPECT_THAT(places_of("limit times 10"),
              ElementsAre("kept: peak_allocated_bytes <= 2 KiB", "steps: steps == 4"));
  EXPECT_THAT(mutants_of("limit times 10").at(0).source,
              HasSubstr("t.problems.kept.limits[1] = 'peak_allocated_bytes <= 20480';"));
  EXPECT_THAT(mutants_of("limit times 10").at(1).source, HasSubstr("= 'steps <= 40';"));
  EXPECT_THAT(mutants_of("limit plus 512").at(0).source,
              HasSubstr("t.limits[1] = 'growth_bytes_per_step <= 0 + 512';"));
  EXPECT_THAT(mutants_of("limit minus 512").at(1).source,
              HasSubstr("= 'peak_allocated_bytes <= 2048 - 512';"));
  EXPECT_THAT(mutants_of("limit left out").at(0).source, HasSubstr("table.remove(t.limits, 1);"));
}

TEST(SourceMutants, HavePlacesThatTellThemApart) {
  const std::string twice =
      "local function f() print(1) end\n"
      "local function g()\n  f()\n  f()\nend\n";
  std::vector<std::string> places;
  for (const SourceMutant& mutant :
       source_mutants(twice + kBody + kTable, description(twice + kBody + kTable))) {
    if (mutant.where.rfind("f()", 0) == 0) places.push_back(mutant.where);
  }
  EXPECT_THAT(places, ElementsAre("f()", "f() (2)"));
}

TEST(SourceMutants, CanAllBeLoaded) {
  for (const SourceMutant& mutant : all_mutants()) {
    engine::LoadRequest request;
    request.path = "small.lua";
    request.source = mutant.source;
    const engine::LoadedScenario loaded = engine::load_scenario(lua::load_scenario, request);
    EXPECT_FALSE(loaded.error) << mutant.kind << ", " << mutant.where << ": "
                               << loaded.error->message;
  }
}

}  // namespace
}  // namespace ohm::test

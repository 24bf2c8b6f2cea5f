// Scenario files: what ohm.scenario{…} reads, and how variants run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/lua/scenario_loader.h"
#include "harness/machine/machine.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

class CountingRun final : public engine::RunContext {
 public:
  void mark_step() override { ++steps; }
  void dump_snapshot(const std::string& /*path*/) override {
    throw std::logic_error("no script asks for it");
  }
  engine::Machine& machine() override { return machine_; }

  int steps = 0;

 private:
  engine::Machine machine_{engine::MachineOptions{}};
};

class ScenarioLoader : public testing::Test {
 protected:
  static constexpr const char* kPath = "scenarios/test.lua";

  std::unique_ptr<engine::ScenarioProgram> load(const std::string& source,
                                                const engine::ParameterValues& parameters = {}) {
    engine::LoadRequest request;
    request.parameters = parameters;
    request.path = kPath;
    request.source = source;
    return lua::load_scenario(request);
  }
  engine::ReturnedValues run(const std::string& body) {
    const auto program = load("return ohm.scenario {name = 's', problems = {p = function(device) " +
                              body + " end}}");
    return program->run("p", run_);
  }
  std::string error_of(const std::string& source, const engine::ParameterValues& parameters = {}) {
    try {
      load(source, parameters);
    } catch (const engine::ScriptError& error) {
      return error.what();
    }
    return "";
  }

  TestMachine machine_{MachineOptions{.values = ValueMode::keeps_values}};
  CountingRun run_;
};

constexpr const char* kThree =
    "return ohm.scenario {name = 's', problems = {a = function() return 1 end,\n"
    "  b = {run = function() return 2 end, next_step = function() end},\n"
    "  c = function() return 3 end}}";

TEST_F(ScenarioLoader, KeepsTheVariantsThatAreRun) {
  const auto program = load(kThree);
  program->keep_only({"b"});
  EXPECT_EQ(2, program->run("b", run_).at(0).second.values.at(0));
  EXPECT_TRUE(program->has_next_step("b"));
  EXPECT_THROW(program->run("a", run_), engine::ScriptError);
  ASSERT_EQ(1U, program->description().variants.size());
  EXPECT_EQ("b", program->description().variants.front().name);
}

TEST_F(ScenarioLoader, KeepsAllVariantsWhereOneMayHoldATensor) {
  const auto program = load("local kept = ohm.ones(4)\n" + std::string(kThree));
  program->keep_only({"b"});
  EXPECT_EQ(1, program->run("a", run_).at(0).second.values.at(0));
}

TEST_F(ScenarioLoader, RefusesTwoReturnedValuesOfOneName) {
  try {
    run("return {a = {b = 1}, ['a.b'] = 2}");
    FAIL();
  } catch (const engine::ScriptError& error) {
    EXPECT_STREQ(
        "scenarios/test.lua:1: two values are returned as 'a.b': fields of tables are named like "
        "this, too",
        error.what());
  }
}

TEST_F(ScenarioLoader, RefusesReturnedNamesThatNobodyReads) {
  try {
    run("return {a = {[('k'):rep(1023)] = 1}}");
    FAIL();
  } catch (const engine::ScriptError& error) {
    EXPECT_STREQ(
        "scenarios/test.lua:1: the variant returned a value whose name has 1025 bytes: at most "
        "1024 are shown",
        error.what());
  }
}

TEST_F(ScenarioLoader, NamesTheSameOfSeveralKeysThatCannotBeReturned) {
  // Where they lie in memory decides which comes first in a table.
  for (int times = 0; times < 20; ++times) {
    try {
      run("local t = {} for _ = 1, 9 do t[{}], t[function() end], t[ohm.ones(1)] = 1, 2, 3 end "
          "return {t = t}");
      FAIL();
    } catch (const engine::ScriptError& error) {
      EXPECT_STREQ("scenarios/test.lua:1: 't' has a key of type function", error.what());
    }
  }
}

TEST_F(ScenarioLoader, ReadsEveryField) {
  const auto program = load(R"lua(
local function f() end
return ohm.scenario {
  name = "everything", summary = "in one line", reference = "fp32",
  gpu = {profile = "tiny-64m", count = 2, capacity = "48 MiB", values = false,
         alloc_conf = "max_split_size_mb:32"},
  limits = {"num_ooms == 0", "steps == 3"},
  problems = {bad = f},
  mitigations = {
    good = {run = function() end, of = "bad", trades = "batch size", must_agree = {"finite"},
            compare_as = "float16", reference = "bad", limits = {"peak_allocated_bytes < 1 MiB"},
            fault = "nth(7)", gpu = {capacity = 1048576}},
  },
  checks = {refused = {run = f, raises = "no way"}},
  references = {fp32 = f},
})lua");
  const engine::ScenarioDescription& scenario = program->description();
  EXPECT_EQ(scenario.name, "everything");
  EXPECT_EQ(scenario.summary, "in one line");
  EXPECT_EQ(scenario.reference, "fp32");
  EXPECT_EQ(scenario.file, kPath);
  EXPECT_EQ(scenario.line, 3);
  EXPECT_EQ(scenario.gpu.profile, "tiny-64m");
  EXPECT_EQ(scenario.gpu.count, 2);
  EXPECT_EQ(scenario.gpu.capacity_bytes, std::size_t{48} << 20U);
  EXPECT_FALSE(scenario.gpu.values);
  EXPECT_EQ(scenario.gpu.alloc_conf, "max_split_size_mb:32");
  EXPECT_THAT(scenario.limits, ElementsAre("num_ooms == 0", "steps == 3"));
  ASSERT_EQ(scenario.variants.size(), 4U);
  const engine::VariantDescription& good = scenario.variants[1];
  EXPECT_EQ(good.name, "good");
  EXPECT_EQ(good.role, Role::mitigation);
  EXPECT_EQ(good.line, 10);
  EXPECT_EQ(good.of, "bad");
  EXPECT_EQ(good.trades, "batch size");
  EXPECT_THAT(good.must_agree, ElementsAre("finite"));
  EXPECT_EQ(good.compare_as, "float16");
  EXPECT_EQ(good.reference, "bad");
  EXPECT_THAT(good.limits, ElementsAre("peak_allocated_bytes < 1 MiB"));
  EXPECT_EQ(good.fault, "nth(7)");
  ASSERT_TRUE(good.gpu.has_value());
  EXPECT_EQ(good.gpu->capacity_bytes, std::size_t{1} << 20U);
  EXPECT_EQ(good.gpu->count, 2) << "what is not given is the scenario's";
  EXPECT_EQ(scenario.variants[2].raises, "no way");
  EXPECT_EQ(scenario.variants[3].role, Role::reference);
}

constexpr const char* kWithParameters = R"lua(
local params = ohm.params {batch = 32, rate = 0.5}
return ohm.scenario {
  name = "s", limits = {"steps == " .. params.batch},
  problems = {p = function() return {batch = params.batch, rate = params.rate} end},
  checks = {c = {run = function() end, returns = {device = "cuda:1", count = 3}}},
})lua";

TEST_F(ScenarioLoader, DeclaresParametersAndUsesWhatWasSet) {
  const auto program = load(kWithParameters, {{"batch", 64}});
  const engine::ScenarioDescription& scenario = program->description();
  ASSERT_EQ(scenario.parameters.size(), 2U);
  EXPECT_EQ(scenario.parameters[0].name, "batch");
  EXPECT_EQ(scenario.parameters[0].value, 64);
  EXPECT_EQ(scenario.parameters[0].default_value, 32);
  EXPECT_TRUE(scenario.parameters[0].is_integer);
  EXPECT_EQ(scenario.parameters[1].value, 0.5);
  EXPECT_FALSE(scenario.parameters[1].is_integer);
  EXPECT_THAT(scenario.limits, ElementsAre("steps == 64"));
  const engine::ReturnedValues values = program->run("p", run_);
  EXPECT_EQ(values.at(0).second.dtype, "integer");
  EXPECT_EQ(values.at(0).second.values.at(0), 64);
}

TEST_F(ScenarioLoader, RefusesValuesThatAParameterCannotHave) {
  EXPECT_EQ(error_of(kWithParameters, {{"batch", 1.5}}),
            "scenarios/test.lua:2: [params] 'batch' must be an integer (default: 32), got 1.5");
  const std::string bounded =
      "ohm.params {n = {default = 4, min = 1, max = 8, summary = 'blocks'}}\n"
      "return ohm.scenario {name = 's', checks = {}}";
  const auto program = load(bounded, {{"n", 8}});
  const engine::ScenarioParameter& n = program->description().parameters.at(0);
  EXPECT_EQ(n.value, 8);
  EXPECT_EQ(n.least, 1);
  EXPECT_EQ(n.most, 8);
  EXPECT_EQ(n.summary, "blocks");
  EXPECT_EQ(error_of(bounded, {{"n", 9}}),
            "scenarios/test.lua:1: [params] 'n' must be at most 8, got 9");
  EXPECT_EQ(error_of(bounded, {{"n", 0}}),
            "scenarios/test.lua:1: [params] 'n' must be at least 1, got 0");
}

TEST_F(ScenarioLoader, SaysWhatIsWrongAboutADeclaration) {
  const auto declare = [](const std::string& field) {
    return "ohm.params {" + field + "}\nreturn ohm.scenario {name = 's', checks = {}}";
  };
  EXPECT_EQ(error_of(declare("n = 'x'")),
            "scenarios/test.lua:1: [params] the argument: field 'n' must be a number or a table, "
            "got string");
  EXPECT_EQ(error_of(declare("n = {min = 1}")),
            "scenarios/test.lua:1: [params] 'n' has no default");
  EXPECT_EQ(error_of(declare("n = {default = 1, most = 2}")),
            "scenarios/test.lua:1: [params] 'n' has no field 'most'");
  EXPECT_EQ(error_of(declare("n = {default = 1, max = '2'}")),
            "scenarios/test.lua:1: [params] 'n': field 'max' must be a number, got string");
}

TEST_F(ScenarioLoader, ReadsWhatAChecksReturns) {
  const auto program = load(kWithParameters);
  const engine::VariantDescription& check = program->description().variants.at(1);
  ASSERT_TRUE(check.returns.has_value());
  EXPECT_EQ(check.returns->at(0).first, "count");
  EXPECT_EQ(check.returns->at(1).second.text, "cuda:1");
}

TEST_F(ScenarioLoader, OrdersVariantsByRoleLineAndName) {
  const auto program = load(R"lua(
local function shared() end
return ohm.scenario {
  name = "order",
  controls = {c = shared},
  mitigations = {zeta = function() end,
                 alpha = function() end, b = shared, a = shared},
  problems = {p = shared},
})lua");
  std::vector<std::string> names;
  for (const auto& variant : program->description().variants) names.push_back(variant.name);
  EXPECT_THAT(names, ElementsAre("p", "a", "b", "zeta", "alpha", "c"));
}

struct BadScenario {
  const char* name;
  const char* table;
  const char* error;
};

class BadScenarios : public ScenarioLoader, public testing::WithParamInterface<BadScenario> {};

TEST_P(BadScenarios, AreRefusedWithALine) {
  EXPECT_EQ(error_of(std::string("\nreturn ohm.scenario ") + GetParam().table),
            std::string("scenarios/test.lua:2: ") + GetParam().error);
}

constexpr BadScenario kBadScenarios[] = {
    {"UnknownField", "{limit = {}}", "[scenario] has no field 'limit' (did you mean \"limits\"?)"},
    {"UnknownGroup", "{mitigation = {}}",
     "[scenario] has no field 'mitigation' (did you mean \"mitigations\"?)"},
    {"NoTable", "'x'", "[scenario] must be a table, got string"},
    {"List", "{1}", "[scenario] must have named fields only, not list elements"},
    {"NameOfWrongType", "{name = 3}", "[scenario]: field 'name' must be a string, got number"},
    {"LimitsOfWrongType", "{limits = 'x'}",
     "[scenario]: field 'limits' must be a list of strings, got string"},
    {"LimitOfWrongType", "{limits = {1}}",
     "[scenario]: field 'limits' must be a list of strings, got number"},
    {"UnknownGpuField", "{gpu = {profil = 'x'}}",
     "[scenario] gpu has no field 'profil' (did you mean \"profile\"?)"},
    {"GpuCount", "{gpu = {count = 'two'}}",
     "[scenario] gpu: field 'count' must be an integer, got string"},
    {"GpuCapacity", "{gpu = {capacity = -1}}",
     "[scenario] gpu: field 'capacity' must be bytes or a string like \"64 MiB\", got number"},
    {"VariantOfWrongType", "{problems = {p = 3}}",
     "[scenario] variant 'p' must be a function or a table with run, got number"},
    {"VariantWithoutRun", "{problems = {p = {}}}", "[scenario] variant 'p' has no function 'run'"},
    {"UnknownVariantField", "{problems = {p = {rnu = print}}}",
     "[scenario] variant 'p' has no field 'rnu' (did you mean \"run\"?)"},
    {"RunOfWrongType", "{problems = {p = {run = 3}}}",
     "[scenario] variant 'p': run must be a function of the script, got number"},
    {"RunOfC", "{problems = {p = print}}",
     "[scenario] variant 'p': run must be a function of the script, got function"},
    {"GroupAsList", "{problems = {print}}",
     "[scenario] problems must have named fields only, not list elements"},
};

INSTANTIATE_TEST_SUITE_P(All, BadScenarios, testing::ValuesIn(kBadScenarios),
                         [](const testing::TestParamInfo<BadScenario>& info) {
                           return info.param.name;
                         });

TEST_F(ScenarioLoader, AFileMustReturnAScenario) {
  EXPECT_EQ(error_of("return 3"), "scenarios/test.lua: the file does not return a scenario");
  EXPECT_EQ(error_of("ohm.scenario {name = 'lost'}"),
            "scenarios/test.lua: the file does not return a scenario");
}

TEST_F(ScenarioLoader, PassesTheDeviceAndCopiesWhatComesBack) {
  const engine::ReturnedValues values =
      run("return {device = device, flag = true, n = 3, x = 0.5, losses = {1.5, 2.5}, "
          "grads = {w = ohm.full({2}, 0.25, {device = device})}}");
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("device", "flag", "grads.w", "losses[1]", "losses[2]", "n", "x"));
  EXPECT_EQ(values[0].second.text, "cuda:0");
  EXPECT_EQ(values[1].second.dtype, "boolean");
  EXPECT_EQ(values[2].second.dtype, "float32");
  EXPECT_THAT(values[2].second.shape, ElementsAre(2));
  EXPECT_THAT(values[2].second.values, ElementsAre(0.25, 0.25));
  EXPECT_EQ(values[5].second.dtype, "integer");
  EXPECT_EQ(values[6].second.dtype, "number");
}

TEST_F(ScenarioLoader, ASingleValueIsCalledValue) {
  EXPECT_EQ(run("return 42").at(0).first, "value");
  EXPECT_THAT(run("return nil"), IsEmpty());
  EXPECT_THAT(run(""), IsEmpty());
}

TEST_F(ScenarioLoader, RefusesToReturnAFunction) {
  try {
    run("return {f = print}");
    FAIL() << "there was no error";
  } catch (const engine::ScriptError& error) {
    EXPECT_THAT(error.what(),
                StartsWith("scenarios/test.lua:1: the variant returned function as 'f'"));
  }
}

TEST_F(ScenarioLoader, LetsTheReturnedTensorsGo) {
  const auto values = run("return ohm.ones(4, {device = device})");
  EXPECT_THAT(values.at(0).second.values, ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(machine_.allocated_bytes(), 0);
}

TEST_F(ScenarioLoader, WhatTheScriptHoldsOnToStays) {
  const auto program = load(
      "local kept = {}\n"
      "return ohm.scenario {name = 's', problems = {p = function(device)\n"
      "  kept[1] = ohm.ones(4, {device = device}) end}}");
  program->run("p", run_);
  EXPECT_EQ(machine_.allocated_bytes(), 512);
}

TEST_F(ScenarioLoader, MarksSteps) {
  run("for _ = 1, 5 do ohm.step() end");
  EXPECT_EQ(run_.steps, 5);
}

TEST_F(ScenarioLoader, AnUnknownVariantIsAnError) {
  const auto program = load("return ohm.scenario {name = 's'}");
  EXPECT_THROW(program->run("nobody", run_), engine::ScriptError);
}

TEST_F(ScenarioLoader, AnOutOfMemoryErrorLeavesTheVariant) {
  try {
    run("return ohm.empty(1 << 40, {device = device})");
    FAIL() << "there was no error";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.report().requested_bytes, std::size_t{4} << 40U);
  }
}

TEST_F(ScenarioLoader, WithoutAGpuTheDeviceIsTheHost) {
  TestMachine host({.gpus = 0, .values = ValueMode::keeps_values});
  EXPECT_EQ(run("return device").at(0).second.text, "cpu");
}

TEST_F(ScenarioLoader, TwoRunsOfAVariantAllocateTheSame) {
  const auto program = load(
      "return ohm.scenario {name = 's', problems = {p = function(device)\n"
      "  local x\n"
      "  for k in pairs({a = 1, b = 2, c = 3, d = 4}) do\n"
      "    x = ohm.ones(k:byte(), {device = device})\n"
      "  end end}}");
  const auto sizes_of_run = [&] {
    const std::size_t start = machine_.events().size();
    program->run("p", run_);
    std::vector<std::uint64_t> sizes;
    for (std::size_t i = start; i < machine_.events().size(); ++i) {
      const MemoryEvent& event = machine_.events()[i];
      if (event.action == EventAction::alloc) sizes.push_back(event.bytes);
    }
    return sizes;
  };
  EXPECT_THAT(sizes_of_run(), ElementsAre('a' * 4, 'b' * 4, 'c' * 4, 'd' * 4));
  EXPECT_THAT(sizes_of_run(), ElementsAre('a' * 4, 'b' * 4, 'c' * 4, 'd' * 4));
}

}  // namespace
}  // namespace ohm::test

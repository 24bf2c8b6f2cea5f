#include "harness/judge/scenario_validation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "harness/scenario/scenario_program.h"

namespace ohm::engine {
namespace {

VariantDescription variant(const std::string& name, Role role, int line) {
  VariantDescription description;
  description.name = name;
  description.role = role;
  description.line = line;
  return description;
}

ScenarioDescription good() {
  ScenarioDescription scenario;
  scenario.name = "leak";
  scenario.file = "scenarios/leak.lua";
  scenario.line = 10;
  scenario.limits = {"num_ooms == 0"};
  scenario.variants = {variant("item", Role::mitigation, 14), variant("summed", Role::problem, 12),
                       variant("detach", Role::mitigation, 13)};
  return scenario;
}

TEST(ScenarioValidation, OrdersVariantsByRoleAndLineAndFillsInTheOnlyProblem) {
  const ScenarioDescription scenario = validated(good());
  ASSERT_EQ(3U, scenario.variants.size());
  EXPECT_EQ("summed", scenario.variants[0].name);
  EXPECT_EQ("detach", scenario.variants[1].name);
  EXPECT_EQ("item", scenario.variants[2].name);
  EXPECT_EQ("", scenario.variants[0].of);
  EXPECT_EQ("summed", scenario.variants[2].of);
}

struct Breach {
  const char* what;
  std::function<void(ScenarioDescription&)> break_it;
  const char* error;
};

class ScenarioRules : public testing::TestWithParam<Breach> {};

TEST_P(ScenarioRules, AreSaidWithPlaceAndHint) {
  ScenarioDescription scenario = good();
  GetParam().break_it(scenario);
  try {
    validated(scenario);
    FAIL() << "no error";
  } catch (const ScriptError& error) {
    EXPECT_EQ(GetParam().error, error.what() + (error.hint.empty() ? "" : " | " + error.hint));
  }
}

const std::vector<Breach> kBreaches = {
    {"scenario name", [](auto& s) { s.name = "a leak"; },
     "scenarios/leak.lua:10: \"a leak\" is not a valid scenario name | a name is made of letters, "
     "digits and underscores"},
    {"nothing to show", [](auto& s) { s.variants = {variant("item", Role::mitigation, 14)}; },
     "scenarios/leak.lua:10: a scenario needs a problem or a check | add problems = {name = "
     "function(device) ... end}"},
    {"unknown profile", [](auto& s) { s.gpu.profile = "tiny-46m"; },
     R"(scenarios/leak.lua:10: [gpu] unknown profile "tiny-46m" (did you mean "tiny-64m"?))"},
    {"gpu count", [](auto& s) { s.gpu.count = 0; },
     "scenarios/leak.lua:10: gpu.count is 0, it can be 1 to 64"},
    {"gpu capacity", [](auto& s) { s.gpu.capacity_bytes = 0; },
     "scenarios/leak.lua:10: gpu.capacity is 0"},
    {"no room beside the context",
     [](auto& s) { s.gpu.profile = "a100-40g", s.gpu.capacity_bytes = 64U << 20U; },
     "scenarios/leak.lua:10: gpu.capacity is 64.00 MiB, which leaves nothing beside the context of "
     "a100-40g: 450.00 MiB"},
    {"allocator settings", [](auto& s) { s.gpu.alloc_conf = "max_split_size:5"; },
     "scenarios/leak.lua:10: Unrecognized key 'max_split_size' in Accelerator allocator config."},
    {"fault plan", [](auto& s) { s.variants[0].fault = "nht(7)"; },
     "scenarios/leak.lua:14: variant \"item\": [fault] nht(7): unknown policy \"nht\" (did you "
     "mean \"nth\"?) | ohm list --faults prints what a plan is made of"},
    {"no limit", [](auto& s) { s.limits.clear(); },
     "scenarios/leak.lua:14: variant \"item\": no limit applies to it | add a limit with a bound "
     "that is not relative to the variant itself"},
    {"problem with relative limits alone",
     [](auto& s) { s.limits = {"peak_allocated_bytes < 0.5 * problem"}; },
     "scenarios/leak.lua:12: variant \"summed\": no limit applies to it | add a limit with a bound "
     "that is not relative to the variant itself"},
    {"mistyped limit", [](auto& s) { s.variants[0].limits = {"num_oom == 0"}; },
     "scenarios/leak.lua:14: limit \"num_oom == 0\": unknown measurement \"num_oom\" (did you mean "
     "\"num_ooms\"?) | ohm list --measurements prints what a limit can be about"},
    {"limit of a GPU that is not there",
     [](auto& s) { s.limits = {"peak_allocated_bytes[cuda:1] < 5"}; },
     "scenarios/leak.lua:10: limit \"peak_allocated_bytes[cuda:1] < 5\": there is no cuda:1, "
     "gpu.count is 1"},
    {"unknown variant in a limit", [](auto& s) { s.limits = {"num_ooms < itme"}; },
     "scenarios/leak.lua:10: limit \"num_ooms < itme\" names \"itme\", which is not a variant (did "
     "you mean \"item\"?)"},
    {"variant name", [](auto& s) { s.variants[0].name = "it-em"; },
     "scenarios/leak.lua:14: variant \"it-em\": this is not a valid variant name | a name is made "
     "of letters, digits and underscores"},
    {"same name twice", [](auto& s) { s.variants[0].name = "detach"; },
     "scenarios/leak.lua:14: variant \"detach\": several variants have this name | give each a "
     "name of its own"},
    {"name of another role", [](auto& s) { s.variants[0].name = "controls"; },
     "scenarios/leak.lua:14: variant \"controls\": this is the name of another role, --case could "
     "not tell them apart"},
    {"several problems", [](auto& s) { s.variants.push_back(variant("kept", Role::problem, 15)); },
     "scenarios/leak.lua:14: variant \"item\": it must say which problem it belongs to | add of = "
     "\"summed\""},
    {"no problem to help with",
     [](auto& s) {
       s.variants = {variant("item", Role::mitigation, 14), variant("shape", Role::check, 15)};
     },
     "scenarios/leak.lua:14: variant \"item\": there is no problem for it to belong to"},
    {"unknown problem", [](auto& s) { s.variants[0].of = "sumed"; },
     "scenarios/leak.lua:14: variant \"item\": of = \"sumed\" does not name a problem (did you "
     "mean \"summed\"?)"},
    {"problem of a problem", [](auto& s) { s.variants[1].of = "summed"; },
     R"(scenarios/leak.lua:12: variant "summed": a problem belongs to no other (field "of"))"},
    {"unknown reference", [](auto& s) { s.reference = "fp32"; },
     "scenarios/leak.lua:10: reference names \"fp32\", which is not a variant"},
    {"trades without must_agree", [](auto& s) { s.variants[0].trades = "batch size"; },
     "scenarios/leak.lua:14: variant \"item\": trades and must_agree belong together | say what it "
     "changes, and what must still agree: must_agree = {\"steps\", \"finite\"}"},
    {"reference that is the variant itself", [](auto& s) { s.variants[0].reference = "item"; },
     "scenarios/leak.lua:14: variant \"item\": its reference is the variant itself: its values "
     "would agree with any | name a variant whose values are right"},
    {"reference of all that is a mitigation", [](auto& s) { s.reference = "item"; },
     "scenarios/leak.lua:14: variant \"item\": its reference is the variant itself: its values "
     "would agree with any | name a variant whose values are right"},
    {"must_agree that shows no work",
     [](auto& s) {
       s.variants[0].trades = "batch size";
       s.variants[0].must_agree = {"finite", "shapes"};
     },
     "scenarios/leak.lua:14: variant \"item\": must_agree = {finite, shapes}: nothing of it shows "
     "that the work was done | add \"steps\", or a value that it returns: must_agree = "
     "{\"samples_seen\", \"finite\"}"},
    {"must_break of a mitigation", [](auto& s) { s.variants[0].must_break = {"oom"}; },
     "scenarios/leak.lua:14: variant \"item\": only a non-fix says what it must_break, or what "
     "must_differ"},
    {"must_break and must_differ",
     [](auto& s) {
       s.variants[0].role = Role::non_fix;
       s.variants[0].must_break = {"oom"};
       s.variants[0].must_differ = {"loss"};
     },
     "scenarios/leak.lua:14: variant \"item\": a non-fix must_break limits, or its values "
     "must_differ: not both"},
    {"references in a circle",
     [](auto& s) {
       s.variants[0].reference = "detached";
       s.variants.push_back(variant("detached", Role::mitigation, 15));
       s.variants.back().reference = "item";
     },
     "scenarios/leak.lua:14: variant \"item\": its reference detached is itself compared with it: "
     "their values would agree with any | name a variant whose values are right"},
    {"values on one side only",
     [](auto& s) {
       s.variants[0].gpu = s.gpu;
       s.variants[0].gpu->values = !s.gpu.values;
     },
     "scenarios/leak.lua:14: variant \"item\": only one of it and its reference summed has a gpu "
     "with "
     "values: nothing that it computes could be compared | give both the same gpu.values"},
    {"must_break of no limit",
     [](auto& s) {
       s.variants[0].role = Role::non_fix;
       s.variants[0].must_break = {"imbalance"};
     },
     "scenarios/leak.lua:14: variant \"item\": must_break: no limit on it is about imbalance"},
    {"must_break of no measurement",
     [](auto& s) {
       s.variants[0].role = Role::non_fix;
       s.variants[0].must_break = {"imbalanc"};
     },
     "scenarios/leak.lua:14: variant \"item\": must_break: unknown measurement \"imbalanc\" (did "
     "you mean \"imbalance\"?) | it names measurements of limits, or \"oom\""},
    {"compare_as", [](auto& s) { s.variants[0].compare_as = "flaot16"; },
     "scenarios/leak.lua:14: variant \"item\": compare_as: unknown dtype \"flaot16\" (did you mean "
     "\"float16\"?)"},
    {"raises of a mitigation", [](auto& s) { s.variants[0].raises = "x"; },
     "scenarios/leak.lua:14: variant \"item\": only a check can say what it raises"},
    {"empty check", [](auto& s) { s.variants.push_back(variant("shape", Role::check, 15)); },
     "scenarios/leak.lua:15: variant \"shape\": a check needs limits of its own, what it returns "
     "or an error that it raises | add limits = {\"...\"}, returns = {name = value} or raises = "
     "\"...\""},
    {"returns of a mitigation", [](auto& s) { s.variants[0].returns.emplace(); },
     "scenarios/leak.lua:14: variant \"item\": only a check can say what it returns"},
    {"check that returns nothing",
     [](auto& s) {
       s.variants.push_back(variant("shape", Role::check, 15));
       s.variants.back().returns.emplace();
     },
     "scenarios/leak.lua:15: variant \"shape\": returns is empty: any result would pass | name "
     "what the check must return: returns = {device = \"cuda:1\"}"},
    {"limits of a reference",
     [](auto& s) {
       s.variants.push_back(variant("fp32", Role::reference, 15));
       s.variants.back().limits = {"steps == 1"};
     },
     "scenarios/leak.lua:15: variant \"fp32\": a reference is not judged, it has no limits"},
    {"relative limit of a check without a problem",
     [](auto& s) {
       s.variants = {variant("shape", Role::check, 15)};
       s.variants.back().limits = {"steps == problem"};
     },
     "scenarios/leak.lua:15: variant \"shape\": limit \"steps == problem\": it belongs to no "
     "problem "
     "| add of = \"<problem>\""},
};

INSTANTIATE_TEST_SUITE_P(All, ScenarioRules, testing::ValuesIn(kBreaches),
                         [](const testing::TestParamInfo<Breach>& info) {
                           std::string name = info.param.what;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST(ScenarioValidation, NamesEveryLimitThatAVariantIsHeldTo) {
  ScenarioDescription scenario = good();
  scenario.variants.push_back(variant("shape", Role::check, 15));
  scenario.variants.back().limits = {"steps == 1"};
  scenario.limits.emplace_back("peak_allocated_bytes < problem");
  scenario.variants[0].limits = {"peak_allocated_bytes < detach"};
  scenario = validated(scenario);
  const auto texts = [&](const char* name) {
    std::vector<std::string> limits;
    for (const Limit& limit : limits_of(scenario, *find_variant(scenario, name))) {
      limits.push_back(limit.text);
    }
    return limits;
  };
  using Texts = std::vector<std::string>;
  // What is relative to the problem says nothing about the problem.
  EXPECT_EQ(Texts{"num_ooms == 0"}, texts("summed"));
  EXPECT_EQ(
      (Texts{"num_ooms == 0", "peak_allocated_bytes < problem", "peak_allocated_bytes < detach"}),
      texts("item"));
  EXPECT_EQ(Texts{"steps == 1"}, texts("shape"));
}

TEST(ScenarioValidation, WhatBelongsToAProblemIsHeldToThatProblemsLimits) {
  ScenarioDescription scenario = good();
  scenario.variants[1].limits = {"steps == 5"};
  scenario.variants.push_back(variant("shape", Role::check, 15));
  scenario.variants.back().limits = {"steps == 1"};
  scenario = validated(scenario);
  EXPECT_EQ(2U, limits_of(scenario, *find_variant(scenario, "summed")).size());
  EXPECT_EQ("steps == 5", limits_of(scenario, *find_variant(scenario, "item")).at(1).text);
  EXPECT_EQ(1U, limits_of(scenario, *find_variant(scenario, "shape")).size());
}

}  // namespace
}  // namespace ohm::engine

// Verdicts on variants that did not run to an end, and what else has to run before one is judged.
// The verdicts on each role have files of their own beside this one.
#include "harness/judge/judge.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/judge/scenario_validation.h"
#include "tests/harness/judge/judged_variant.h"

namespace ohm::engine {
namespace {

TEST(Verdict, IsAnErrorWhenTheVariantDidNotRunToAnEnd) {
  for (const Outcome outcome : {Outcome::error, Outcome::timeout, Outcome::crashed}) {
    for (const Role role :
         {Role::problem, Role::mitigation, Role::partial, Role::non_fix, Role::control}) {
      expect(Judged(role).by(ended(outcome, "x.lua:3: what happened\nand more")), Verdict::error,
             "", "x.lua:3: what happened");
    }
  }
}

TEST(Verdict, IsSkippedWhenTheRunEndedBeforeIt) {
  expect(Judged(Role::mitigation).by(MeasuredVariant{}), Verdict::skipped, "",
         "the run ended before it");
}

TEST(Needed, AreReferencesProblemsAndVariantsInLimits) {
  Judged judged(Role::mitigation);
  judged.add("fp32", Role::reference);
  judged.add("other", Role::control);
  judged.scenario().variants[1].reference = "fp32";
  judged.scenario().variants[1].limits = {"peak_allocated_bytes < other + problem"};
  const ScenarioDescription scenario = validated(judged.scenario());
  using Names = std::vector<std::string>;
  EXPECT_EQ((Names{"fp32", "other", "summed"}),
            needed_by(scenario, *find_variant(scenario, "judged")));
  EXPECT_EQ(Names{}, needed_by(scenario, *find_variant(scenario, "summed")));
  EXPECT_EQ(Names{}, needed_by(scenario, *find_variant(scenario, "other")));
}

TEST(Needed, ReferencesThatRanOutOfMemoryRunOnceMore) {
  Judged judged(Role::mitigation);
  MeasuredScenario all{
      validated(judged.scenario()), {{"summed", out_of_memory()}, {"judged", completed(900)}}, {}};
  using Names = std::vector<std::string>;
  EXPECT_EQ(Names{"summed"}, missing_references(all, {"summed", "judged"}));
  // A problem has to lack memory, wherever its values are needed.
  EXPECT_EQ(Names{"summed"}, missing_references(all, {"summed"}));
  all.references["summed"] = completed(9000);
  EXPECT_EQ(Names{}, missing_references(all, {"summed", "judged"}));
  all.references.clear();
  all.variants["judged"] = out_of_memory();
  EXPECT_EQ(Names{}, missing_references(all, {"judged"}));
}

}  // namespace
}  // namespace ohm::engine

// Every scenario notices when one of its variants does something else than it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/lua/scenario_loader.h"
#include "tests/harness/sensitivity/mutations.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/temp_folder.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const engine::ScenarioLoader kLua = lua::load_scenario;

std::vector<std::string> unnoticed_mutations(const std::string& path) {
  MutatedScenario scenario(kLua, path);
  std::vector<std::string> unnoticed;
  for (const Mutation& mutation : mutations_of(scenario.description())) {
    if (const auto why = scenario.unnoticed(mutation)) unnoticed.push_back(*why);
  }
  return unnoticed;
}

std::vector<std::string> catalogue() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(OHM_SOURCE_DIR "/scenarios")) {
    if (entry.path().extension() == ".lua") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Sensitivity : public testing::TestWithParam<std::string> {};

TEST_P(Sensitivity, EveryMutationIsNoticed) {
  const std::vector<std::string> unnoticed =
      unnoticed_mutations(OHM_SOURCE_DIR "/scenarios/" + GetParam() + ".lua");
  EXPECT_THAT(unnoticed, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Sensitivity, testing::ValuesIn(catalogue()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

// ---- scenarios that pass and prove nothing -----------------------------------------------------

std::vector<std::string> unnoticed_in(const std::string& variants) {
  const TempFolder folder;
  return unnoticed_mutations(
      folder.write("insensitive.lua",
                   "local function keep(device, count)\n"
                   "  local kept = {}\n"
                   "  for i = 1, count do kept[i] = ohm.ones(1 << 20, {device = device}) end\n"
                   "  return {sum = kept[1]:sum():item()}\n"
                   "end\n"
                   "local function all(device) return keep(device, 40) end\n"
                   "local function one(device) return keep(device, 1) end\n"
                   "return ohm.scenario {name = 'insensitive', gpu = {profile = 'tiny-64m'},\n"
                   "  limits = {'num_ooms == 0'},\n" +
                       variants + "}\n"));
}

TEST(InsensitiveScenario, IsNotOneWhoseFunctionsDecide) {
  EXPECT_THAT(unnoticed_in("problems = {all = all}, mitigations = {one = one},\n"
                           "non_fixes = {still_all = all}, controls = {two = one}"),
              IsEmpty());
}

TEST(InsensitiveScenario, IsAMitigationThatIsALargerGpu) {
  const std::vector<std::string> unnoticed = unnoticed_in(
      "problems = {all = all},\n"
      "mitigations = {one = {gpu = {capacity = '1 GiB'}, run = one}}");
  ASSERT_EQ(unnoticed.size(), 1U);
  EXPECT_THAT(unnoticed[0], HasSubstr("one that does what all does is passed"));
}

TEST(InsensitiveScenario, IsAProblemThatIsAFault) {
  const std::vector<std::string> unnoticed =
      unnoticed_in("problems = {all = {fault = 'nth(1)', run = all}}, mitigations = {one = one}");
  ASSERT_EQ(unnoticed.size(), 1U);
  EXPECT_THAT(unnoticed[0], HasSubstr("all that does what one does is passed"));
}

TEST(InsensitiveScenario, IsACheckThatHoldsForAnEmptyFunction) {
  const std::vector<std::string> unnoticed = unnoticed_in(
      "checks = {fits = {limits = {'num_ooms == 0'}, run = one},\n"
      "  sums = {returns = {sum = 1048576}, run = one}}");
  ASSERT_EQ(unnoticed.size(), 1U);
  EXPECT_THAT(unnoticed[0], HasSubstr("fits that does nothing is passed"));
}

TEST(InsensitiveScenario, IsANonFixThatFailsForAnotherReason) {
  const std::vector<std::string> unnoticed = unnoticed_in(
      "problems = {all = all}, mitigations = {one = one},\n"
      "non_fixes = {still_all = {gpu = {capacity = '2 MiB'}, run = all}}");
  ASSERT_EQ(unnoticed.size(), 1U);
  EXPECT_THAT(unnoticed[0], HasSubstr("still_all that does what one does is passed"));
}

}  // namespace
}  // namespace ohm::test

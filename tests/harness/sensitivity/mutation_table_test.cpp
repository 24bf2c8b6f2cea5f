// The table of mutants, of the smallest scenarios; the whole catalogue is a program, run by hand.
#include "tests/harness/sensitivity/mutation_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "harness/scenario/source_file.h"
#include "tests/support/checkout_paths.h"

namespace ohm::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(EquivalentMutants, AreNamedByScenarioKindAndPlace) {
  EquivalentMutants equivalent(
      "# a comment\n"
      "leak | removed statement | f(a | b) | it does nothing\n"
      "leak | other dtype | * | either is as large\n");
  EXPECT_TRUE(equivalent.has("leak", {"removed statement", "f(a | b)", "", {}}));
  EXPECT_FALSE(equivalent.has("leak", {"removed statement", "f(a)", "", {}}));
  EXPECT_FALSE(equivalent.has("other", {"removed statement", "f(a | b)", "", {}}));
  EXPECT_THAT(equivalent.unused("leak"), ElementsAre("leak | other dtype | *"));
  EXPECT_TRUE(equivalent.has("leak", {"other dtype", "anything", "", {}}));
  EXPECT_THAT(equivalent.unused("leak"), IsEmpty());
}

TEST(EquivalentMutants, HaveAReason) {
  EXPECT_THROW(EquivalentMutants("leak | removed statement | f()\n"), std::runtime_error);
}

class SmallScenario : public testing::TestWithParam<const char*> {};

TEST_P(SmallScenario, HasNoMutantThatNothingNotices) {
  MutationTable table{EquivalentMutants(engine::read_source_file(OHM_EQUIVALENT_MUTANTS))};
  table.add(std::string(OHM_SOURCE_DIR "/scenarios/") + GetParam() + ".lua");
  EXPECT_THAT(table.missed(), IsEmpty());
  EXPECT_THAT(table.text(), HasSubstr("| limit left out "));
}

INSTANTIATE_TEST_SUITE_P(Catalogue, SmallScenario,
                         testing::Values("cached_memory_two_processes", "fragmentation"),
                         [](const auto& info) { return std::string(info.param); });

/// A scenario that passes, beside its `lib` and the baseline of another one.
std::string written(const TempFolder& folder, const std::string& source) {
  std::filesystem::create_directory(folder.path() / "lib");
  folder.write("blind.baseline",
               "ohm.baseline/2\n\nvariant kept\n  machine none\n  outcome oom\n  steps 0\n");
  return folder.write("blind.lua", source);
}

TEST(MutationTable, RefusesAScenarioThatDoesNotPass) {
  const TempFolder folder;
  const std::string path =
      written(folder,
              "return ohm.scenario {name = 'blind', limits = {'num_ooms == 0'},\n"
              "  problems = {kept = function() end}}\n");
  MutationTable table{EquivalentMutants("")};
  EXPECT_THROW(table.add(path), std::runtime_error);
}

}  // namespace
}  // namespace ohm::test

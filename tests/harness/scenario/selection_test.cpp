#include "harness/scenario/selection.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/process/shell_quote.h"

namespace ohm::engine {
namespace {

using Names = std::vector<std::string>;

TEST(Filter, UnderstandsGoogleTestsPatterns) {
  EXPECT_TRUE(matches_filter("", "leak.item"));
  EXPECT_TRUE(matches_filter("*", "leak.item"));
  EXPECT_TRUE(matches_filter("leak.*", "leak.item"));
  EXPECT_TRUE(matches_filter("leak.it?m", "leak.item"));
  EXPECT_TRUE(matches_filter("other.*:*.item", "leak.item"));
  EXPECT_FALSE(matches_filter("leak", "leak.item"));
  EXPECT_FALSE(matches_filter("leak.*-*.item", "leak.item"));
  EXPECT_FALSE(matches_filter("-*.item:*.detach", "leak.item"));
  EXPECT_TRUE(matches_filter("-*.detach", "leak.item"));
}

// Each star takes as little as it can: that many of them are tried one after the other, not each
// with each.
TEST(Filter, TakesAnyNumberOfStars) {
  const std::string stars(200, '*');
  const std::string name(200, 'a');
  EXPECT_TRUE(matches_filter(stars, name));
  EXPECT_TRUE(matches_filter("a" + stars + "a", name));
  EXPECT_FALSE(matches_filter(stars + "b", name));
  std::string apart;
  for (int i = 0; i < 50; ++i) apart += "*a";
  EXPECT_TRUE(matches_filter(apart, name));
  EXPECT_FALSE(matches_filter(apart + "*b", name));
  EXPECT_TRUE(matches_filter("*ab*abc", "xabyabcabc"));
  EXPECT_FALSE(matches_filter("*ab?", "abab"));
}

ScenarioDescription scenario() {
  ScenarioDescription description;
  description.name = "leak";
  for (const auto& [name, role] :
       {std::pair{"summed", Role::problem}, std::pair{"item", Role::mitigation},
        std::pair{"detach", Role::mitigation}, std::pair{"large", Role::reference}}) {
    VariantDescription variant;
    variant.name = name;
    variant.role = role;
    description.variants.push_back(variant);
  }
  return description;
}

TEST(Selection, TakesNamesAndRolesInTheOrderOfTheScenario) {
  EXPECT_EQ((Names{"summed", "item", "detach"}), selected_variants(scenario(), {}));
  EXPECT_EQ((Names{"item", "detach"}), selected_variants(scenario(), {{"mitigation"}, ""}));
  EXPECT_EQ((Names{"item", "detach"}), selected_variants(scenario(), {{"mitigations"}, ""}));
  EXPECT_EQ((Names{"summed", "detach"}),
            selected_variants(scenario(), {{"detach", "problem"}, ""}));
  EXPECT_EQ((Names{"item"}), selected_variants(scenario(), {{"mitigation"}, "*.i*"}));
  EXPECT_EQ(Names{}, selected_variants(scenario(), {{"no_such"}, ""}));
}

TEST(Selection, NeverTakesAReference) {
  EXPECT_EQ(Names{}, selected_variants(scenario(), {{"large"}, ""}));
}

TEST(ShellQuote, QuotesWhatAShellWouldTouch) {
  EXPECT_EQ("scenarios/x.lua", shell_quoted("scenarios/x.lua"));
  EXPECT_EQ("'nth(7) & size(>=1MiB)'", shell_quoted("nth(7) & size(>=1MiB)"));
  EXPECT_EQ("'it'\\''s'", shell_quoted("it's"));
  EXPECT_EQ("''", shell_quoted(""));
}

}  // namespace
}  // namespace ohm::engine

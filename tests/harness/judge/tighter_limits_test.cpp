#include "harness/judge/tighter_limits.h"

#include <gtest/gtest.h>

#include "harness/judge/limit.h"

namespace ohm::engine {
namespace {

VariantResult measured(const std::string& name, Role role, const std::string& limit, double figure,
                       double bound, bool holds = true) {
  VariantResult variant;
  variant.name = name;
  variant.role = role;
  variant.limits.push_back({limit, Unit::bytes, figure, bound, holds, {}});
  return variant;
}

std::string text(const std::vector<VariantResult>& variants) {
  ScenarioResult scenario;
  scenario.variants = variants;
  std::string out;
  for (const TighterLimit& one : tighter_limits(scenario)) {
    out += one.limit + " -> " + one.tightest + one.why_not + " (" + one.variant + ")\n";
  }
  return out;
}

TEST(TighterLimits, AreWhatTheLargestOfThoseThatHaveToHoldMeasures) {
  const char* limit = "peak_allocated_bytes < 2 KiB";
  EXPECT_EQ("peak_allocated_bytes < 2 KiB -> peak_allocated_bytes <= 1536 (second)\n",
            text({measured("kept", Role::problem, limit, 9000, 2048, false),
                  measured("first", Role::mitigation, limit, 1024, 2048),
                  measured("second", Role::control, limit, 1536, 2048),
                  measured("other", Role::non_fix, limit, 2000, 2048)}));
}

TEST(TighterLimits, OfALowerBoundAreWhatTheSmallestMeasures) {
  EXPECT_EQ("steps >= 3 -> steps >= 7 (b)\n",
            text({measured("a", Role::mitigation, "steps >= 3", 9, 3),
                  measured("b", Role::mitigation, "steps >= 3", 7, 3)}));
}

TEST(TighterLimits, OfAnotherVariantAreMultiplesOfIt) {
  const char* limit = "peak_allocated_bytes <= 0.6 * problem";
  EXPECT_EQ("peak_allocated_bytes <= 0.6 * problem -> peak_allocated_bytes <= 0.5 * problem (a)\n",
            text({measured("a", Role::mitigation, limit, 500, 600)}));
}

TEST(TighterLimits, AreRoundedSoThatTheyHold) {
  EXPECT_EQ(
      "peak_allocated_bytes <= 40 GiB -> peak_allocated_bytes <= 30071091712 (a)\n",
      text({measured("a", Role::mitigation, "peak_allocated_bytes <= 40 GiB", 30071091712, 40e9)}));
  const char* limit = "peak_allocated_bytes <= 0.9 * problem";
  for (const double figure : {1.0, 5.0, 7.0, 11.0, 13.0}) {
    const double problem = 17;
    ScenarioResult scenario;
    scenario.variants = {measured("a", Role::mitigation, limit, figure, 0.9 * problem)};
    const Limit tightest = parse_limit(tighter_limits(scenario).at(0).tightest);
    EXPECT_GE(tightest.bound.at(0).factor * problem, figure);
    EXPECT_LT(tightest.bound.at(0).factor * problem, figure * (1 + 1e-12));
  }
}

TEST(TighterLimits, ExactOnesAreLeftOut) {
  EXPECT_EQ("", text({measured("a", Role::mitigation, "peak_allocated_bytes <= 1536", 1536, 1536),
                      measured("a", Role::mitigation, "num_ooms == 0", 0, 0)}));
}

TEST(TighterLimits, SayWhereNobodyHasToHoldALimit) {
  const char* limit = "peak_allocated_bytes <= 1536";
  EXPECT_EQ("peak_allocated_bytes <= 1536 -> no variant has to hold it ()\n",
            text({measured("kept", Role::problem, limit, 9000, 1536, false)}));
}

TEST(TighterLimits, SayWhichVariantBreaksALimit) {
  const char* limit = "peak_allocated_bytes <= 1536";
  EXPECT_EQ("peak_allocated_bytes <= 1536 -> it breaks it (a)\n",
            text({measured("a", Role::mitigation, limit, 9000, 1536, false),
                  measured("b", Role::mitigation, limit, 100, 1536)}));
}

TEST(TighterLimits, SayWhichVariantHasNoFigure) {
  VariantResult untold = measured("b", Role::mitigation, "growth_bytes_per_step <= 512", 0, 512);
  untold.limits[0].measured.reset();
  untold.limits[0].holds.reset();
  untold.limits[0].note = "growth needs at least 3 marks of ohm.step(), there was 1";
  EXPECT_EQ(
      "growth_bytes_per_step <= 512 -> growth needs at least 3 marks of ohm.step(), there was 1 "
      "(b)\n",
      text({measured("a", Role::mitigation, "growth_bytes_per_step <= 512", 0, 512), untold}));
  untold.limits[0].note.clear();
  EXPECT_EQ("growth_bytes_per_step <= 512 -> it needs values, which are not computed (b)\n",
            text({untold}));
}

TEST(TighterLimits, OfSeveralTermsAreNotTold) {
  const char* limit = "peak_allocated_bytes <= 0.5 * problem + 2 KiB";
  EXPECT_EQ("peak_allocated_bytes <= 0.5 * problem + 2 KiB -> its bound has several terms (a)\n",
            text({measured("a", Role::mitigation, limit, 9000, 12000)}));
  EXPECT_EQ("", text({measured("a", Role::mitigation, limit, 12000, 12000)}));
}

}  // namespace
}  // namespace ohm::engine

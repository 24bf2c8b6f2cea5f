// That the fields of a result name all of its members, each once.
#include "reports/model/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "reports/model/fit_result.h"
#include "reports/model/minimum_result.h"
#include "reports/model/replay_result.h"
#include "reports/model/run_result.h"
#include "reports/model/sweep_result.h"
#include "reports/model/verification_result.h"
#include "tests/reports/filled.h"

namespace ohm {
namespace {

template <class Result>
class FilledResult : public testing::Test {};

using Results = testing::Types<RunResult, SweepResult, FitResult, ReplayResult, MinimumResult,
                               VerificationResult>;
TYPED_TEST_SUITE(FilledResult, Results);

// Of the struct and of all below it.
TYPED_TEST(FilledResult, NamesEveryMemberOnce) {
  test::Differences differences;
  differences.compare(test::filled<TypeParam>(), TypeParam());
  EXPECT_THAT(differences.incomplete(), testing::IsEmpty());
}

struct Complete {
  static constexpr std::string_view kSchemaName = "complete";
  int named = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("named", &Complete::named);
  }
};
struct Incomplete {
  static constexpr std::string_view kSchemaName = "incomplete";
  Complete below;
  int forgotten = 0;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("below", &Incomplete::below);
  }
};

TEST(Differences, TellsOfAMemberThatIsInNoField) {
  test::Differences differences;
  EXPECT_FALSE(differences.compare(Incomplete(), Incomplete()));
  EXPECT_THAT(differences.incomplete(), testing::ElementsAre("incomplete"));
}

TYPED_TEST(FilledResult, HasNoMemberAsANewOne) {
  test::Differences differences;
  differences.compare(test::filled<TypeParam>(), TypeParam());
  for (const std::string& name : differences.seen()) {
    EXPECT_TRUE(differences.names().contains(name)) << name;
  }
}

}  // namespace
}  // namespace ohm

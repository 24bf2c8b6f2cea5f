#include "allocator_shim/fault/fault_plan.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "allocator_shim/observe/bytes.h"

namespace ohm {
namespace {

FaultCandidate call_of(std::size_t bytes, int device = 0, FaultLevel level = FaultLevel::request) {
  FaultCandidate candidate;
  candidate.level = level;
  candidate.device = device;
  candidate.bytes = bytes;
  return candidate;
}

/// Which of 20 calls fail, counted from 1.
std::vector<int> failing(FaultPlan& plan) {
  std::vector<int> ordinals;
  for (int i = 1; i <= 20; ++i) {
    if (plan.should_fail(call_of(512))) ordinals.push_back(i);
  }
  return ordinals;
}

TEST(FaultPlan, FiresAsOftenAsItsScheduleSays) {
  const std::vector<std::pair<std::string, std::vector<int>>> kCases = {
      {"nth(7)", {7}},
      {"from(18)", {18, 19, 20}},
      {"every(6)", {6, 12, 18}},
      {"persistent(nth(18))", {18, 19, 20}},
      {"size(>=512)", {1}},
      {"persistent(size(>=512)) & from(19)", {19, 20}},
      {"every(2) & every(3)", {6, 12, 18}},
      {"every(3) & nth(9)", {9}},
      {"every(3) & nth(8)", {}},
      {"nth(2) -> nth(3)", {2, 5}},
      {"nth(2) -> nth(1) -> from(16)", {2, 3, 19, 20}},
      {"size(<512)", {}},
      {" nth( 4 ) ", {4}}};
  for (const auto& [text, expected] : kCases) {
    FaultPlan plan = FaultPlan::parse(text);
    EXPECT_EQ(failing(plan), expected) << text;
    EXPECT_EQ(plan.faults(), expected.size()) << text;
    EXPECT_EQ(plan.calls(), 20U) << text;
  }
}

TEST(FaultPlan, InjectsNothingByDefault) {
  FaultPlan plan;
  EXPECT_TRUE(failing(plan).empty());
  EXPECT_EQ(plan.calls(), 20U);
}

TEST(FaultPlan, CountsOnlyCallsThatFulfilItsConditionsInWhateverOrder) {
  for (const char* const text : {"size(>=64MiB) & nth(2)", "nth(2) & size(>=64MiB)"}) {
    FaultPlan plan = FaultPlan::parse(text);
    EXPECT_FALSE(plan.should_fail(call_of(64_MiB)));
    EXPECT_FALSE(plan.should_fail(call_of(64_MiB - 1)));
    EXPECT_TRUE(plan.should_fail(call_of(65_MiB)));
    ASSERT_TRUE(plan.last_fault());
    EXPECT_EQ(plan.last_fault()->bytes, 65_MiB);
    EXPECT_EQ(plan.last_fault()->ordinal, 2U);
  }
}

TEST(FaultPlan, ComparesSizes) {
  const std::vector<std::pair<std::string, bool>> kCases = {
      {"size(>=1KiB)", true}, {"size(<=1KiB)", true}, {"size(==1KiB)", true},
      {"size(>1KiB)", false}, {"size(<1KiB)", false}, {"size(> 1 KB)", true}};
  for (const auto& [text, expected] : kCases) {
    EXPECT_EQ(FaultPlan::parse(text).should_fail(call_of(1024)), expected) << text;
  }
}

TEST(FaultPlan, TellsDevicesApart) {
  FaultPlan second = FaultPlan::parse("device(cuda:1) & nth(2)");
  EXPECT_FALSE(second.should_fail(call_of(1, 1)));
  EXPECT_FALSE(second.should_fail(call_of(1, 0)));
  EXPECT_TRUE(second.should_fail(call_of(1, 1)));
  FaultPlan any = FaultPlan::parse("device(cuda) & from(1)");
  EXPECT_TRUE(any.should_fail(call_of(1, 3)));
  EXPECT_FALSE(any.should_fail(call_of(1, -1)));
  EXPECT_TRUE(FaultPlan::parse("device(cpu)").should_fail(call_of(1, -1)));
}

TEST(FaultPlan, MeansRequestsUnlessItNamesALevel) {
  FaultPlan requests = FaultPlan::parse("from(1)");
  EXPECT_FALSE(requests.should_fail(call_of(2_MiB, 0, FaultLevel::segment)));
  EXPECT_TRUE(requests.should_fail(call_of(2_MiB)));
  FaultPlan segments = FaultPlan::parse("level(segment) & from(1)");
  EXPECT_TRUE(segments.should_fail(call_of(2_MiB, 0, FaultLevel::segment)));
  EXPECT_FALSE(segments.should_fail(call_of(2_MiB, 0, FaultLevel::map)));
  EXPECT_FALSE(segments.should_fail(call_of(2_MiB)));
}

TEST(FaultPlan, KnowsTheCapacityOfEachDevice) {
  const FaultPlan all = FaultPlan::parse("capacity(24GiB)");
  EXPECT_EQ(all.capacity_bytes_of(0), 24_GiB);
  EXPECT_EQ(all.capacity_bytes_of(5), 24_GiB);
  const FaultPlan one = FaultPlan::parse("capacity(24GiB) & device(cuda:1)");
  EXPECT_EQ(one.capacity_bytes_of(1), 24_GiB);
  EXPECT_EQ(one.capacity_bytes_of(0), std::nullopt);
  EXPECT_EQ(FaultPlan::parse("nth(1)").capacity_bytes_of(0), std::nullopt);
}

TEST(FaultPlan, QuotesThePartThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> kCases = {
      {"nht(7)", R"([fault] nht(7): unknown policy "nht" (did you mean "nth"?))"},
      {"nth", "[fault] nth: arguments stand in parentheses, as in nth(7)"},
      {"nth(7", "[fault] nth(7: arguments stand in parentheses, as in nth(7)"},
      {"persistant",
       "[fault] persistant: unknown policy \"persistant\" (did you mean "
       "\"persistent\"?)"},
      {"nth()", "[fault] nth(): N is missing"},
      {"nth(0)", "[fault] nth(0): N is a whole number from 1 on"},
      {"nth(1.5)", "[fault] nth(1.5): N is a whole number from 1 on"},
      {"nth(7,8)", "[fault] nth(7,8): nothing may follow: \"8\""},
      {"size(64MiB)", "[fault] size(64MiB): a comparison begins with >=, <=, ==, > or <"},
      {"size(>=64Mib)",
       "[fault] size(>=64Mib): not a number of bytes: \"64Mib\" (\"Mib\" is not one of B, KB, MB, "
       "GB, TB, KiB, MiB, GiB, TiB; write for example 24GiB, 1.5 MiB or 500 KB)"},
      {"device(gpu)", "[fault] device(gpu): a device is cpu, cuda or cuda:N"},
      {"device(cuda:)", "[fault] device(cuda:): a device is cpu, cuda or cuda:N"},
      {"device(cuda:-1)", "[fault] device(cuda:-1): a device is cpu, cuda or cuda:N"},
      {"level(block)", "[fault] level(block): a level is request, segment or map"},
      {"from(2) -> nth(1)",
       "[fault] from(2): never ends, so that what follows -> would never begin"},
      {"capacity(1GiB) & nth(2)",
       "[fault] capacity(1GiB) & nth(2): a capacity goes with device(…) and nothing else"},
      {"nth(1) -> capacity(1GiB)",
       "[fault] capacity(1GiB): a capacity is there from the start, without ->"},
      {"",
       "[fault] a policy is missing in \"\" (a plan reads for example nth(7) & "
       "device(cuda:1))"},
      {"nth(1) &",
       "[fault] a policy is missing in \"nth(1) &\" (a plan reads for example nth(7) & "
       "device(cuda:1))"}};
  for (const auto& [text, message] : kCases) {
    try {
      FaultPlan::parse(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(), message);
    }
  }
}

TEST(FaultPolicies, SayHowTheyAreUsed) {
  for (const FaultPolicyRow& row : fault_policies()) {
    EXPECT_TRUE(row.usage.starts_with(row.name)) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
  }
}

}  // namespace
}  // namespace ohm

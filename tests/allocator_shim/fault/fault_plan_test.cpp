#include "allocator_shim/fault/fault_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/fault/fault_point.h"

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

TEST(FaultPlan, CallsOfCudaFailAsTheirErrorSays) {
  FaultPlan plan = FaultPlan::parse("call(cudaMalloc) & nth(2) -> error(not_ready) -> nth(1)",
                                    PlannedCalls::device);
  FaultCandidate call = call_of(0, 0, FaultLevel::call);
  call.call = "cudaFree";
  EXPECT_FALSE(plan.should_fail(call));
  call.call = "cudaMalloc";
  EXPECT_FALSE(plan.should_fail(call));
  EXPECT_TRUE(plan.should_fail(call));
  EXPECT_EQ(plan.last_error(), FaultError::not_ready);
  EXPECT_FALSE(plan.should_fail(call)) << "nth(1) is about memory";
  EXPECT_TRUE(plan.should_fail(call_of(512, 0, FaultLevel::segment)));
  EXPECT_EQ(plan.last_error(), FaultError::memory);
}

TEST(FaultPlan, RefusesErrorsThatItDoesNotKnowAndPlansOfScenariosWithCalls) {
  for (const char* text : {"call(cudaMalloc) -> error(wrong)", "error(memory)",
                           "nth(1) -> error(device_lost)", "capacity(1GiB) -> error(memory)"}) {
    EXPECT_THROW(FaultPlan::parse(text, PlannedCalls::device), std::invalid_argument) << text;
  }
  EXPECT_THROW(FaultPlan::parse("call(cudaMalloc)"), std::invalid_argument);
  EXPECT_THROW(FaultPlan::parse("nth(1) -> error(memory)"), std::invalid_argument);
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
      {" nth( 4 ) ", {4}},
      {"burst(7,3)", {7, 8, 9}},
      {"window(18,25)", {18, 19, 20}},
      {"window(3,4) -> nth(1)", {3, 4, 5}},
      {"after_bytes(1KiB)", {3}},
      {"persistent(after_bytes(9KiB))", {19, 20}},
      {"p(0)", {}},
      {"p(1) & window(2,3)", {2, 3}},
      {"persistent(burst(18,1))", {18, 19, 20}}};
  for (const auto& [text, expected] : kCases) {
    FaultPlan plan = FaultPlan::parse(text);
    EXPECT_EQ(failing(plan), expected) << text;
    EXPECT_EQ(plan.faults(), expected.size()) << text;
    EXPECT_EQ(plan.calls(), 20U) << text;
  }
}

TEST(FaultPlan, MeansTheCallsThatItIsOf) {
  const auto fires = [](PlannedCalls calls, FaultLevel level) {
    return FaultPlan::parse("nth(1)", calls).should_fail(call_of(512, 0, level));
  };
  EXPECT_TRUE(fires(PlannedCalls::requests, FaultLevel::request));
  EXPECT_FALSE(fires(PlannedCalls::requests, FaultLevel::segment));
  EXPECT_TRUE(fires(PlannedCalls::device, FaultLevel::segment));
  EXPECT_TRUE(fires(PlannedCalls::device, FaultLevel::map));
  EXPECT_FALSE(fires(PlannedCalls::device, FaultLevel::request));
  EXPECT_EQ(1024U, FaultPlan::parse("capacity(1KiB)", PlannedCalls::device).capacity_bytes_of(0));
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

TEST(FaultPlan, MeansMemoryOfTheGpusUnlessItNamesADevice) {
  EXPECT_FALSE(FaultPlan::parse("nth(1)").should_fail(call_of(1, -1)));
  EXPECT_TRUE(FaultPlan::parse("nth(1) & device(cpu)").should_fail(call_of(1, -1)));
  EXPECT_TRUE(FaultPlan::parse("level(pinned)").should_fail(call_of(1, -1, FaultLevel::pinned)));
}

TEST(FaultPlan, TellsWorkspacesAndCollectivesFromOtherRequests) {
  const std::vector<std::pair<std::string, FaultLevel>> kCases = {
      {"level(workspace)", FaultLevel::workspace}, {"level(collective)", FaultLevel::collective}};
  for (const auto& [text, level] : kCases) {
    EXPECT_TRUE(FaultPlan::parse(text).should_fail(call_of(1, 0, level))) << text;
    EXPECT_FALSE(FaultPlan::parse(text).should_fail(call_of(1))) << text;
    EXPECT_TRUE(FaultPlan::parse("level(request)").should_fail(call_of(1, 0, level))) << text;
    EXPECT_TRUE(FaultPlan::parse("nth(1)").should_fail(call_of(1, 0, level))) << text;
  }
}

TEST(FaultPlan, FailsTheSameCallsForTheSameSeed) {
  FaultPlan first = FaultPlan::parse("p(0.5, seed=7)");
  FaultPlan again = FaultPlan::parse("p(0.5,seed=7)");
  FaultPlan other = FaultPlan::parse("p(0.5, seed=8)");
  const std::vector<int> failed = failing(first);
  EXPECT_EQ(failing(again), failed);
  EXPECT_NE(failing(other), failed);
  FaultPlan rare = FaultPlan::parse("p(0.01, seed=1)");
  for (int i = 0; i < 100000; ++i) rare.should_fail(call_of(1));
  EXPECT_NEAR(static_cast<double>(rare.faults()), 1000, 100);
}

TEST(FaultPlan, NamesOpsAndLinesWholeOrInPart) {
  const Site site{"scenarios/a.lua", 12, "conv2d_backward"};
  FaultCandidate candidate = call_of(512);
  const auto fails = [&](const char* text) {
    return FaultPlan::parse(text).should_fail(candidate);
  };
  EXPECT_FALSE(fails("site(~conv2d)"));
  candidate.where = &site;
  EXPECT_TRUE(fails("site(~conv2d)"));
  EXPECT_TRUE(fails("site(conv2d_backward)"));
  EXPECT_TRUE(fails("site(scenarios/a.lua:12)"));
  EXPECT_TRUE(fails("site(~a.lua:12)"));
  EXPECT_FALSE(fails("site(conv2d)"));
  EXPECT_FALSE(fails("site(a.lua:1)"));
}

TEST(FaultPlan, FindsAPointByItsLeadingDigits) {
  FaultPlan plan = FaultPlan::parse("ohm:3f9c@2");
  EXPECT_TRUE(plan.wants_points());
  FaultCandidate at = call_of(512, 0, FaultLevel::segment);
  at.point = 0x3f9c000000000001U;
  FaultCandidate elsewhere = at;
  elsewhere.point = 0x3f9d000000000001U;
  EXPECT_FALSE(plan.should_fail(at));
  EXPECT_FALSE(plan.should_fail(elsewhere));
  EXPECT_TRUE(plan.should_fail(at));
  EXPECT_FALSE(plan.should_fail(at));
  FaultPlan every = FaultPlan::parse("persistent(point(ohm:3f9c))");
  EXPECT_TRUE(every.should_fail(at));
  EXPECT_TRUE(every.should_fail(at));
  EXPECT_FALSE(every.should_fail(elsewhere));
  EXPECT_EQ(fault_point_text(at.point, 2), "ohm:3f9c0000@2");
  EXPECT_FALSE(FaultPlan::parse("nth(1)").wants_points());
}

TEST(FaultPlan, KnowsWhatNeighboursTakeInWhichStep) {
  const FaultPlan plan = FaultPlan::parse("neighbour(1GiB, 2, 3) & device(cuda:1)");
  EXPECT_EQ(plan.neighbour_bytes_of(1, 1), 0U);
  EXPECT_EQ(plan.neighbour_bytes_of(1, 2), 1_GiB);
  EXPECT_EQ(plan.neighbour_bytes_of(1, 3), 1_GiB);
  EXPECT_EQ(plan.neighbour_bytes_of(1, 4), 0U);
  EXPECT_EQ(plan.neighbour_bytes_of(0, 2), 0U);
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
      {"nth", "[fault] nth: arguments go in parentheses, as in nth(7)"},
      {"7(nth", "[fault] 7(nth: missing closing parenthesis"},
      {"(7)nth", "[fault] (7)nth: arguments go in parentheses, as in nth(7)"},
      {"persistant",
       "[fault] persistant: unknown policy \"persistant\" (did you mean "
       "\"persistent\"?)"},
      {"nth()", "[fault] nth(): N is missing"},
      {"nth(3))", "[fault] nth(3)): unmatched closing parenthesis"},
      {"persistent(nth(1) & nth(2))",
       "[fault] persistent(nth(1) & nth(2)): persistent takes one policy, as in "
       "persistent(nth(7)) & device(cuda:1)"},
      {"ohm:3f9c@0", "[fault] ohm:3f9c@0: a point reads ohm:3f9c@1, as reports print it"},
      {"nth(0)", "[fault] nth(0): N must be a whole number, at least 1"},
      {"nth(1.5)", "[fault] nth(1.5): N must be a whole number, at least 1"},
      {"nth(7,8)", "[fault] nth(7,8): nothing may follow: \"8\""},
      {"size(64MiB)", "[fault] size(64MiB): a comparison must begin with >=, <=, ==, > or <"},
      {"size(>=64Mib)",
       "[fault] size(>=64Mib): not a number of bytes: \"64Mib\" (\"Mib\" is not one of B, KB, MB, "
       "GB, TB, KiB, MiB, GiB, TiB; write for example 24GiB, 1.5 MiB or 500 KB)"},
      {"device(gpu)", "[fault] device(gpu): a device must be cpu, cuda or cuda:N"},
      {"device(cuda:)", "[fault] device(cuda:): a device must be cpu, cuda or cuda:N"},
      {"device(cuda:-1)", "[fault] device(cuda:-1): a device must be cpu, cuda or cuda:N"},
      {"level(block)",
       "[fault] level(block): a level must be request, segment, map, pinned, "
       "workspace or collective"},
      {"window(4,3)", "[fault] window(4,3): LAST comes before FIRST"},
      {"burst(4)", "[fault] burst(4): COUNT is missing"},
      {"p(1.5)", "[fault] p(1.5): P must be a number from 0 to 1"},
      {"p(nan)", "[fault] p(nan): P must be a number from 0 to 1"},
      {"p(0.5, 7)", "[fault] p(0.5, 7): only seed=N may follow, a whole number"},
      {"site(~)", "[fault] site(~): an op or FILE:LINE must follow ~"},
      {"point(3f9c)", "[fault] point(3f9c): a point reads ohm:3f9c@1, as reports print it"},
      {"point(ohm:3f9c@0)",
       "[fault] point(ohm:3f9c@0): a point reads ohm:3f9c@1, as reports print it"},
      {"neighbour(1GiB, 3, 2)", "[fault] neighbour(1GiB, 3, 2): LAST comes before FIRST"},
      {"from(2) -> nth(1)", "[fault] from(2): never ends, so the plan after -> would never start"},
      {"capacity(1GiB) & nth(2)",
       "[fault] capacity(1GiB) & nth(2): capacity combines only with device(…)"},
      {"nth(1) -> capacity(1GiB)",
       "[fault] capacity(1GiB): capacity applies from the start: it cannot follow ->"},
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

std::optional<FaultPlanShape> parsed_shape(const std::string& text) {
  try {
    return FaultPlan::parse(text).shape();
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

bool is_same(const FaultPlanShape& a, const FaultPlanShape& b) {
  return a.is_one_chain == b.is_one_chain && a.has_capacity == b.has_capacity &&
         a.first == b.first && a.last == b.last;
}

TEST(FaultPlan, ShapesJoinAsTextsDo) {
  const std::vector<std::string> kPlans = {"nth(1)",
                                           "from(3)",
                                           "size(>=512)",
                                           "persistent(nth(2))",
                                           "size(>=512) & from(3)",
                                           "nth(1) -> nth(2)",
                                           "nth(1) -> from(2)",
                                           "size(>=512) -> size(<512)",
                                           "capacity(1MiB)",
                                           "capacity(1MiB) & device(cuda:1)"};
  for (const std::string& left : kPlans) {
    for (const std::string& right : kPlans) {
      const FaultPlanShape a = FaultPlan::parse(left).shape();
      const FaultPlanShape b = FaultPlan::parse(right).shape();
      const bool with_capacity = a.has_capacity || b.has_capacity;
      for (const auto& [word, shape] :
           {std::pair(" & ", joined_by_and(a, b)), std::pair(" -> ", joined_by_then(a, b))}) {
        const std::string plan = fmt::format("{}{}{}", left, word, right);
        const auto parsed = parsed_shape(plan);
        EXPECT_EQ(shape.has_value(), parsed.has_value() && !with_capacity) << plan;
        if (!shape || !parsed) continue;
        EXPECT_TRUE(is_same(*shape, *parsed)) << plan;
      }
    }
  }
}

}  // namespace
}  // namespace ohm

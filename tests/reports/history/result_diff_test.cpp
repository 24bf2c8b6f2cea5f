// ohm diff on results with constructed changes: what changed is named, and it adds up.
#include "reports/history/result_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "reports/console/result_diff_text.h"
#include "tests/reports/sample_result.h"

namespace ohm::reports {
namespace {

using Kind = HolderChange::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kMiB = 1 << 20;

HolderResult holder(std::int64_t bytes, std::int64_t count, Category category, std::string op,
                    int line, std::string text) {
  return {bytes, count, category, std::move(op), "scenarios/x.lua", line, std::move(text)};
}

/// A peak of 100 MiB in four holders.
RunResult result() {
  RunResult result;
  ScenarioResult scenario;
  scenario.name = "x";
  scenario.file = "scenarios/x.lua";
  VariantResult variant = test::sample_variant("problem", Role::problem, Verdict::passed, 0, "");
  variant.devices[0].peak = PeakResult{
      50,
      3,
      {holder(64 * kMiB, 32, Category::activation, "relu", 28, "h = relu(h)"),
       holder(20 * kMiB, 4, Category::parameter, "to", 12, "local net = build():to(device)"),
       holder(12 * kMiB, 1, Category::input, "", 26, "x = ohm.randn(128, 32)"),
       holder(4 * kMiB, 2, Category::gradient, "mm", 30, "loss:backward()")}};
  scenario.variants = {variant};
  result.scenarios = {scenario};
  return result;
}

std::vector<HolderResult>& holders(RunResult& run) {
  return run.scenarios[0].variants[0].devices[0].peak->holders;
}

/// The peak is what its holders add up to.
void add_up(RunResult& run) {
  std::int64_t sum = 0;
  for (const HolderResult& one : holders(run)) sum += one.bytes;
  run.scenarios[0].variants[0].devices[0].peak_allocated_bytes = sum;
}

struct Change {
  const char* name;
  std::function<void(RunResult& before, RunResult& after)> make;
  std::vector<Kind> kinds;
  std::int64_t bytes;
};

const std::vector<Change>& ten_changes() {
  static const std::vector<Change> kChanges = {
      {"a new op",
       [](RunResult&, RunResult& after) {
         holders(after).push_back(
             holder(32 * kMiB, 1, Category::activation, "gelu", 31, "y = gelu(h)"));
       },
       {Kind::appeared},
       32 * kMiB},
      {"an op that is gone",
       [](RunResult&, RunResult& after) { holders(after).erase(holders(after).begin() + 2); },
       {Kind::gone},
       -12 * kMiB},
      {"one unit of 512 bytes",
       [](RunResult&, RunResult& after) { holders(after)[0].bytes += 512; },
       {Kind::grown},
       512},
      {"half of the blocks",
       [](RunResult&, RunResult& after) {
         holders(after)[0].bytes /= 2;
         holders(after)[0].count /= 2;
       },
       {Kind::shrunk},
       -32 * kMiB},
      {"lines that moved down",
       [](RunResult&, RunResult& after) {
         for (HolderResult& one : holders(after)) one.line += 7;
       },
       {},
       0},
      {"a parameter that became a buffer",
       [](RunResult&, RunResult& after) { holders(after)[1].category = Category::other; },
       {Kind::recategorized},
       0},
      {"growth here, the same less there",
       [](RunResult&, RunResult& after) {
         holders(after)[0].bytes += 4 * kMiB;
         holders(after)[1].bytes -= 4 * kMiB;
       },
       {Kind::grown, Kind::shrunk},
       0},
      {"a line that was rewritten",
       [](RunResult&, RunResult& after) {
         holders(after)[0].text = "h = silu(h)";
         holders(after)[0].op = "silu";
         holders(after)[0].bytes += 2 * kMiB;
       },
       {Kind::appeared, Kind::gone},
       2 * kMiB},
      {"an allocation that was not at the peak before",
       [](RunResult& before, RunResult& after) {
         const HolderResult moved = holder(8 * kMiB, 1, Category::workspace, "conv", 3, "local z");
         for (RunResult* run : {&before, &after}) {
           MemoryHistory history = test::sample_history();
           history.sites = {{"scenarios/x.lua", 3, "conv", "", 0},
                            {"scenarios/x.lua", 3, "conv", "", 0}};
           run->scenarios[0].variants[0].history = history;
           run->scenarios[0].source = {"-- x", "", "  local z"};
         }
         holders(after).push_back(moved);
       },
       {Kind::moved_into_peak},
       8 * kMiB},
      {"everything at once",
       [](RunResult&, RunResult& after) {
         holders(after)[0].bytes += kMiB;
         holders(after)[1].bytes -= 3 * kMiB;
         holders(after).erase(holders(after).begin() + 3);
         holders(after).push_back(holder(512, 1, Category::other, "", 0, ""));
         holders(after).push_back(holder(kMiB, 1, Category::activation, "relu", 40, "h = relu(h)"));
       },
       {Kind::gone, Kind::shrunk, Kind::grown, Kind::appeared},
       2 * kMiB - 7 * kMiB + 512},
  };
  return kChanges;
}

TEST(ResultDiff, TenConstructedChangesAreNamedAndAddUpExactly) {
  ASSERT_EQ(10U, ten_changes().size());
  for (const Change& change : ten_changes()) {
    SCOPED_TRACE(change.name);
    RunResult before = result();
    RunResult after = result();
    change.make(before, after);
    add_up(before);
    add_up(after);
    const ResultDiff diff = diff_results(before, after);
    std::vector<Kind> kinds;
    std::int64_t sum = 0;
    std::int64_t peak = 0;
    for (const VariantDiff& variant : diff.variants) {
      for (const DeviceDiff& device : variant.devices) {
        for (const HolderChange& one : device.holders) {
          kinds.push_back(one.kind);
          sum += one.change();
        }
        for (const FigureChange& figure : device.figures) {
          if (figure.figure == "peak_allocated_bytes") peak = figure.change();
        }
        EXPECT_EQ(0, device.unexplained_bytes);
      }
    }
    EXPECT_EQ(change.kinds, kinds);
    EXPECT_EQ(change.bytes, sum);
    EXPECT_EQ(change.bytes, peak);
  }
}

TEST(ResultDiff, EqualResultsHaveNoDifference) {
  const ResultDiff diff = diff_results(test::sample_result(), test::sample_result());
  EXPECT_THAT(diff.variants, IsEmpty());
  EXPECT_EQ(6U, diff.compared);
  EXPECT_EQ("6 variants compared: no difference\n", diff_text(diff, false));
}

TEST(ResultDiff, NamesVariantsThatAreInOneResultOnly) {
  RunResult before = result();
  RunResult after = result();
  before.scenarios[0].variants[0].name = "old";
  const ResultDiff diff = diff_results(before, after);
  ASSERT_EQ(2U, diff.variants.size());
  EXPECT_THAT(diff.variants[0].notes, ElementsAre("only in the second"));
  EXPECT_THAT(diff.variants[1].notes, ElementsAre("only in the first"));
}

TEST(ResultDiff, SaysWhereAPeakCannotBeExplained) {
  RunResult before = result();
  RunResult after = result();
  add_up(before);
  add_up(after);
  before.scenarios[0].variants[0].devices[0].peak.reset();
  after.scenarios[0].variants[0].devices[0].peak_allocated_bytes += 512;
  const ResultDiff diff = diff_results(before, after);
  EXPECT_EQ(512, diff.variants[0].devices[0].unexplained_bytes);
  EXPECT_THAT(diff_text(diff, false),
              ::testing::HasSubstr("+512 B: one of them does not say what made up its peak"));
}

TEST(ResultDiff, IsPrintedWithItsLines) {
  RunResult before = result();
  RunResult after = result();
  holders(after)[0].bytes += 512;
  holders(after).push_back(holder(32 * kMiB, 1, Category::activation, "gelu", 31, "y = gelu(h)"));
  add_up(before);
  add_up(after);
  EXPECT_EQ(
      "x.problem\n"
      "  cuda:0 peak_allocated_bytes: 100.00 MiB → 132.00 MiB (+33,554,944 B)\n"
      "    +33,554,432 B: activation of gelu, scenarios/x.lua:31 (new)\n"
      "        y = gelu(h)\n"
      "    +512 B: activation of relu, scenarios/x.lua:28 (64.00 MiB → 64.00 MiB)\n"
      "        h = relu(h)\n"
      "\n"
      "1 variant compared, 1 with differences\n",
      diff_text(diff_results(before, after), false));
}

}  // namespace
}  // namespace ohm::reports

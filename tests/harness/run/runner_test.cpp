#include "harness/run/runner.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>

#include "allocator_shim/base/bytes.h"
#include "harness/scenario/script_errors.h"
#include "reports/json/json_report.h"
#include "tests/harness/support/fake_scenarios.h"
#include "tests/support/peak_memory.h"

namespace ohm::engine {
namespace {

using test::FakeScenario;
using test::FakeScenarios;

class SilentObserver final : public RunObserver {
 public:
  void on_progress(std::size_t finished, std::size_t total) override {
    EXPECT_LE(finished, total);
    progress = {finished, total};
  }
  void on_scenario(const ScenarioResult& scenario) override { names.push_back(scenario.name); }

  std::pair<std::size_t, std::size_t> progress;
  std::vector<std::string> names;
};

class RunnerTest : public testing::Test {
 protected:
  RunOutcome run(std::vector<std::string> files, RunOptions options = {}) {
    options.files = std::move(files);
    return run_scenarios(options, scenarios_.loader(), observer_);
  }
  static const VariantResult& variant(const RunOutcome& outcome, const std::string& name) {
    for (const VariantResult& variant : outcome.result.scenarios.at(0).variants) {
      if (variant.name == name) return variant;
    }
    throw std::out_of_range(name);
  }
  static std::string verdicts(const RunOutcome& outcome) {
    std::string text;
    for (const ScenarioResult& scenario : outcome.result.scenarios) {
      text += scenario.name + ":";
      for (const VariantResult& variant : scenario.variants) {
        text += " " + variant.name + "=" + std::string(name_of(variant.verdict));
      }
      text += "\n";
    }
    return text;
  }

  FakeScenarios scenarios_;
  SilentObserver observer_;
};

TEST_F(RunnerTest, RunsEveryVariantAndJudges) {
  const std::string file = scenarios_.add(test::leak());
  const RunOutcome outcome = run({file});
  EXPECT_EQ("leak: kept=passed freed=passed still_kept=passed nothing=passed\n", verdicts(outcome));
  EXPECT_EQ(0, outcome.exit_code());
  EXPECT_EQ(512, variant(outcome, "kept").limits.at(0).measured);
  EXPECT_EQ("ohm run " + file + " --case kept", variant(outcome, "kept").rerun);
  EXPECT_EQ((std::pair<std::size_t, std::size_t>(5, 5)), observer_.progress);
}

/// How often the scenario of the file is loaded, in whichever process.
class LoadCount {
 public:
  LoadCount()
      : loads_(*new (::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<int>(0)) {}
  ~LoadCount() { ::munmap(&loads_, sizeof loads_); }
  LoadCount(const LoadCount&) = delete;
  LoadCount& operator=(const LoadCount&) = delete;

  std::function<FakeScenario()> counting(const FakeScenario& scenario) {
    return [this, scenario] {
      ++loads_;
      return scenario;
    };
  }
  int loads() const { return loads_; }

 private:
  std::atomic<int>& loads_;
};

TEST_F(RunnerTest, LoadsAFileToDescribeItAndOnceForAllVariantsThatBeginAlike) {
  FakeScenario scenario = test::leak();
  // More than share a copy that has let go of the others.
  for (int i = 0; i < 100; ++i) {
    scenario.add("nothing" + std::to_string(i), Role::control, test::freeing(3));
  }
  LoadCount count;
  EXPECT_EQ(0, run({scenarios_.add("leak", count.counting(scenario))}).exit_code());
  EXPECT_EQ(2, count.loads());
}

TEST_F(RunnerTest, WhatIsCopiedForAVariantDoesNotGrowWithTheOthers) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps what was freed";
#endif
  const auto make = [] {
    FakeScenario scenario = test::leak();
    for (int i = 0; i < 200; ++i) {
      scenario.add("nothing" + std::to_string(i), Role::control, test::freeing(3)).waivers = {
          {"", "swallowed", std::string(256_KiB, '.')}};
    }
    scenario.bodies["nothing199"] = [](RunContext& run) {
      const std::size_t bytes = test::memory_figure("RssAnon");
      if (bytes > 16_MiB) throw std::invalid_argument(std::to_string(bytes));
      return test::freeing(3)(run);
    };
    return scenario;
  };
  const RunOutcome outcome = run({scenarios_.add("leak", make)});
  EXPECT_EQ(Verdict::passed, variant(outcome, "nothing199").verdict)
      << variant(outcome, "nothing199").reason;
}

TEST_F(RunnerTest, LoadsAFileAnewForAVariantWithFaultsOfItsOwn) {
  // A call that the plan counts may be made while the file is loaded.
  FakeScenario scenario = test::leak();
  scenario.add("with_fault", Role::control, test::freeing(3)).fault = "nth(1000)";
  LoadCount count;
  run({scenarios_.add("leak", count.counting(scenario))});
  EXPECT_EQ(3, count.loads());
}

TEST_F(RunnerTest, WhatLoadingPrintsIsPartOfEveryVariantsOutput) {
  const std::string file = scenarios_.add("leak", [] {
    FakeScenario scenario = test::leak();
    std::puts("loaded");
    scenario.bodies["kept"] = [](RunContext& run) {
      std::puts("run");
      return test::growing(5, 512)(run);
    };
    return scenario;
  });
  const RunOutcome outcome = run({file});
  EXPECT_EQ("loaded\nrun\n", variant(outcome, "kept").output);
  EXPECT_EQ("loaded\n", variant(outcome, "freed").output);
}

TEST_F(RunnerTest, EachVariantSaysHowLoadingWentThatCrashesTheSecondTime) {
  LoadCount count;
  const auto make = count.counting(test::leak());
  const std::string file = scenarios_.add("leak", [&] {
    FakeScenario scenario = make();
    if (count.loads() > 1) std::abort();
    return scenario;
  });
  const RunOutcome outcome = run({file});
  for (const VariantResult& variant : outcome.result.scenarios.at(0).variants) {
    EXPECT_EQ("the process of " + variant.name + " was killed by SIGABRT (Aborted)",
              variant.error.value().message);
  }
}

TEST_F(RunnerTest, GivesTheSameBytesForAnyNumberOfJobs) {
  std::vector<std::string> files;
  for (const char* name : {"leak0", "leak1", "leak2", "leak3", "leak4", "leak5"}) {
    files.push_back(scenarios_.add(test::leak(name)));
  }
  RunOptions one;
  RunOptions eight;
  eight.jobs = 8;
  const std::string expected = reports::json_report(run(files, one).result, {});
  EXPECT_EQ(expected, reports::json_report(run(files, eight).result, {}));
  EXPECT_EQ((std::vector<std::string>{"leak0", "leak1", "leak2", "leak3", "leak4", "leak5"}),
            std::vector<std::string>(observer_.names.begin(), observer_.names.begin() + 6));
}

TEST_F(RunnerTest, SaysWhatWasAliveWhenMemoryRanOut) {
  FakeScenario scenario = test::leak();
  scenario.bodies["kept"] = test::growing(100, 3_MiB);
  const RunOutcome outcome = run({scenarios_.add(scenario)});
  const VariantResult& kept = variant(outcome, "kept");
  EXPECT_EQ(Outcome::oom, kept.outcome);
  // tiny-64m has a context of 0 and segments of 20 MiB: three of them, six blocks in each.
  EXPECT_EQ(18, kept.steps);
  const OomResult& oom = kept.oom.value();
  EXPECT_EQ(19, oom.step);
  EXPECT_EQ("cuda:0", oom.device);
  EXPECT_EQ(3_MiB, static_cast<std::size_t>(oom.requested_bytes));
  EXPECT_EQ(20_MiB, static_cast<std::size_t>(oom.segment_bytes));
  EXPECT_EQ("randn", oom.op);
  EXPECT_EQ("fake.lua", oom.file);
  EXPECT_EQ(7, oom.line);
  EXPECT_FALSE(oom.injected);
  EXPECT_EQ(54_MiB, static_cast<std::size_t>(
                        oom.alive_by_category[static_cast<std::size_t>(Category::activation)]));
  ASSERT_EQ(1U, oom.holders.size());
  EXPECT_EQ(18, oom.holders[0].count);
  EXPECT_EQ(54_MiB, static_cast<std::size_t>(oom.holders[0].bytes));
}

TEST_F(RunnerTest, RunsAProblemThatRanOutOfMemoryOnALargerGpuForItsValues) {
  FakeScenario scenario = test::leak();
  scenario.bodies["kept"] = test::growing(30, 3_MiB, 2.5);
  scenario.bodies["freed"] = test::growing(30, 0, 2.5);
  const std::string file = scenarios_.add(scenario);
  const RunOutcome same = run({file});
  EXPECT_EQ(Equivalence::same, variant(same, "freed").equivalence);
  ASSERT_EQ(1U, same.result.scenarios[0].references.size());
  EXPECT_EQ(1_GiB, static_cast<std::size_t>(
                       same.result.scenarios[0].references[0].devices.at(0).capacity_bytes));

  scenario.bodies["freed"] = test::growing(30, 0, 2.4);
  EXPECT_EQ(FailureType::not_equivalent,
            variant(run({scenarios_.add(scenario)}), "freed").failure_type);
}

TEST_F(RunnerTest, RunsWhatASelectedVariantNeedsWithoutReportingIt) {
  RunOptions options;
  options.selection.cases = {"freed"};
  const RunOutcome outcome = run({scenarios_.add(test::leak())}, options);
  EXPECT_EQ("leak: freed=passed\n", verdicts(outcome));
  EXPECT_EQ(Equivalence::same, variant(outcome, "freed").equivalence);
  EXPECT_EQ((std::pair<std::size_t, std::size_t>(3, 3)), observer_.progress);
}

TEST_F(RunnerTest, NothingSelectedHasACodeOfItsOwn) {
  RunOptions options;
  options.selection.cases = {"no_such"};
  const RunOutcome outcome = run({scenarios_.add(test::leak())}, options);
  EXPECT_EQ(5, outcome.exit_code());
  EXPECT_TRUE(outcome.result.scenarios.empty());
}

TEST_F(RunnerTest, ScenarioThatCannotBeLoadedDoesNotStopTheOthers) {
  const std::string good = scenarios_.add(test::leak());
  const std::string broken = scenarios_.add("broken", []() -> FakeScenario {
    throw script_error_at("broken.lua", 3, "'=' expected near 'x'", "");
  });
  const std::string crashing =
      scenarios_.add("crashing", []() -> FakeScenario { std::raise(SIGSEGV), std::abort(); });
  FakeScenario invalid = test::leak("invalid");
  invalid.description.limits = {"num_oms == 0"};
  const RunOutcome outcome =
      run({broken, "no_such_file.lua", good, scenarios_.add(invalid), crashing});
  ASSERT_EQ(5U, outcome.result.scenarios.size());
  const auto& all = outcome.result.scenarios;
  EXPECT_EQ("broken", all[0].name);
  EXPECT_EQ("broken.lua:3: '=' expected near 'x'", all[0].error.value().message);
  EXPECT_EQ("no_such_file.lua: no such file", all[1].error.value().message);
  EXPECT_EQ(Verdict::passed, all[2].verdict);
  EXPECT_NE(std::string::npos, all[3].error.value().message.find("did you mean \"num_ooms\""));
  EXPECT_EQ("the process of loading " + crashing + " was killed by SIGSEGV (Segmentation fault)",
            all[4].error.value().message);
  EXPECT_EQ(4, outcome.exit_code());
}

struct Ending {
  const char* name;
  std::vector<test::Body> bodies;  ///< of mitigations beside those that pass
  int exit_code;
};

const test::Body kFails = test::growing(5, 512);
const test::Body kBreaksOff = [](RunContext& /*run*/) -> ReturnedValues {
  throw ScriptError("fake.lua:9: attempt to index a nil value");
};
const test::Body kCrashes = [](RunContext& /*run*/) -> ReturnedValues {
  std::raise(SIGSEGV), std::abort();
};
const test::Body kLoops = [](RunContext& /*run*/) -> ReturnedValues {
  while (true) ::usleep(1000);
};

class MixedEndings : public RunnerTest, public testing::WithParamInterface<Ending> {};

TEST_P(MixedEndings, TheWorstDecidesTheExitCode) {
  FakeScenario scenario = test::leak();
  int number = 0;
  for (const test::Body& body : GetParam().bodies) {
    scenario.add("extra" + std::to_string(number++), Role::mitigation, body);
  }
  RunOptions options;
  options.timeout_seconds = 2;
  options.jobs = 4;
  EXPECT_EQ(GetParam().exit_code, run({scenarios_.add(scenario)}, options).exit_code());
}

INSTANTIATE_TEST_SUITE_P(
    All, MixedEndings,
    testing::Values(Ending{"passed", {}, 0}, Ending{"failed", {kFails}, 1},
                    Ending{"script", {kFails, kBreaksOff}, 3},
                    Ending{"timeout", {kFails, kBreaksOff, kLoops}, 124},
                    Ending{"crash", {kCrashes, kFails, kBreaksOff, kLoops}, 4}),
    [](const testing::TestParamInfo<Ending>& info) { return std::string(info.param.name); });

TEST_F(RunnerTest, CrashOfWhatASelectedVariantNeedsDecidesTheExitCode) {
  FakeScenario scenario = test::leak();
  scenario.bodies["kept"] = kCrashes;
  RunOptions options;
  options.selection.cases = {"freed"};
  const RunOutcome outcome = run({scenarios_.add(scenario)}, options);
  EXPECT_EQ("leak: freed=error\n", verdicts(outcome));
  EXPECT_EQ(4, outcome.exit_code());
}

TEST_F(RunnerTest, OneVariantThatEndsBadlyIsOneVariant) {
  FakeScenario scenario = test::leak();
  scenario.add("crashes", Role::mitigation, kCrashes);
  scenario.add("loops", Role::mitigation, kLoops);
  scenario.add("breaks_off", Role::mitigation, kBreaksOff);
  RunOptions options;
  options.timeout_seconds = 0.3;
  const RunOutcome outcome = run({scenarios_.add(scenario)}, options);
  EXPECT_EQ(
      "leak: kept=passed freed=passed crashes=error loops=error breaks_off=error "
      "still_kept=passed nothing=passed\n",
      verdicts(outcome));
  EXPECT_EQ("the process of crashes was killed by SIGSEGV (Segmentation fault)",
            variant(outcome, "crashes").reason);
  EXPECT_EQ("loops ran longer than 0.3 s", variant(outcome, "loops").reason);
  EXPECT_EQ("fake.lua:9: attempt to index a nil value", variant(outcome, "breaks_off").reason);
}

TEST_F(RunnerTest, InterruptKeepsWhatIsThereAndSkipsTheRest) {
  FakeScenario scenario = test::leak("second");
  scenario.bodies["freed"] = [runner = ::getpid()](RunContext& /*run*/) -> ReturnedValues {
    ::kill(runner, SIGINT);
    while (true) ::usleep(1000);
  };
  const RunOutcome outcome = run({scenarios_.add(test::leak("first")), scenarios_.add(scenario),
                                  scenarios_.add(test::leak("third"))});
  EXPECT_EQ(
      "first: kept=passed freed=passed still_kept=passed nothing=passed\n"
      "second: kept=passed freed=skipped still_kept=skipped nothing=skipped\n"
      "third:\n",
      verdicts(outcome));
  EXPECT_EQ(130, outcome.exit_code());
}

TEST_F(RunnerTest, FailFastEndsAfterTheFirstScenarioThatDoesNotPass) {
  FakeScenario scenario = test::leak("second");
  scenario.bodies["freed"] = kFails;
  RunOptions options;
  options.fail_fast = true;
  options.jobs = 8;
  const RunOutcome outcome = run({scenarios_.add(test::leak("first")), scenarios_.add(scenario),
                                  scenarios_.add(test::leak("third"))},
                                 options);
  EXPECT_EQ((std::vector<std::string>{"first", "second"}), observer_.names);
  EXPECT_EQ(1, outcome.exit_code());
}

TEST_F(RunnerTest, FaultPlanFailsAnAllocationAndSaysSo) {
  RunOptions options;
  options.fault = "nth(3)";
  options.selection.cases = {"kept"};
  const RunOutcome outcome = run({scenarios_.add(test::leak())}, options);
  const OomResult& oom = variant(outcome, "kept").oom.value();
  EXPECT_EQ(3, oom.step);
  EXPECT_TRUE(oom.injected);
  EXPECT_EQ("nth(3)", oom.policy);
  EXPECT_NE(std::string::npos, variant(outcome, "kept").rerun.find("--fault 'nth(3)'"));
}

TEST_F(RunnerTest, GpuOptionReplacesTheScenariosOwn) {
  RunOptions options;
  options.gpu_text = "a100-40g,capacity=1GiB,count=2";
  options.gpu = parse_gpu_selection(options.gpu_text);
  const RunOutcome outcome = run({scenarios_.add(test::leak())}, options);
  const VariantResult& kept = variant(outcome, "kept");
  ASSERT_EQ(2U, kept.devices.size());
  EXPECT_EQ("a100-40g", kept.devices[0].profile);
  EXPECT_EQ(1_GiB, static_cast<std::size_t>(kept.devices[0].capacity_bytes));
}

TEST_F(RunnerTest, NumbersOfSizeOnlyDevicesAreNotChecked) {
  FakeScenario scenario = test::leak();
  scenario.description.gpu.values = false;
  const test::Body unknown = [](RunContext& run) {
    test::growing(5, 0)(run);
    return ReturnedValues{{"loss", {"number", {}, {NAN}, {}, true, {}}}};
  };
  scenario.bodies["kept"] = [=](RunContext& run) {
    test::growing(5, 512)(run);
    return unknown(run);
  };
  scenario.bodies["freed"] = unknown;
  const RunOutcome outcome = run({scenarios_.add(scenario)});
  EXPECT_EQ(Verdict::passed, variant(outcome, "freed").verdict);
  EXPECT_EQ(Equivalence::not_checked, variant(outcome, "freed").equivalence);
}

TEST_F(RunnerTest, WhatOnlyValuesCouldDecideIsSkippedOnSizeOnlyDevicesAndNoFailure) {
  FakeScenario scenario;
  scenario.description.name = "overflow";
  scenario.description.gpu.values = false;
  scenario.description.limits = {"non_finite == 0"};
  scenario.add("half", Role::problem, [](RunContext& /*run*/) {
    return ReturnedValues{{"loss", {"float16", {}, {}, {}, false, {}}}};
  });
  const RunOutcome outcome = run({scenarios_.add(scenario)});
  EXPECT_EQ("overflow: half=skipped\n", verdicts(outcome));
  EXPECT_EQ(0, outcome.exit_code());
}

TEST_F(RunnerTest, OutputOfAVariantIsPartOfItsResult) {
  FakeScenario scenario = test::leak();
  scenario.bodies["freed"] = [](RunContext& run) {
    std::puts("hello");
    return test::growing(5, 0)(run);
  };
  EXPECT_EQ("hello\n", variant(run({scenarios_.add(scenario)}), "freed").output);
}

TEST_F(RunnerTest, ListsWithoutRunning) {
  RunOptions options;
  options.files = {scenarios_.add(test::leak()), "no_such_file.lua"};
  const std::vector<ListedScenario> listed = list_scenarios(options, scenarios_.loader());
  ASSERT_EQ(2U, listed.size());
  EXPECT_EQ("leak", listed[0].description.name);
  EXPECT_EQ("kept", listed[0].description.variants.at(1).of);
  EXPECT_EQ(ExitReason::script_error, listed[1].error_reason);
}

}  // namespace
}  // namespace ohm::engine

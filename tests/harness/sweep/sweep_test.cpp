// The sweep without a scripting language: what it says when it is told to end.
#include "harness/sweep/sweep.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "reports/console/sweep_text.h"
#include "tests/harness/support/fake_scenarios.h"

namespace ohm::engine {
namespace {

class NobodyLooks final : public SweepObserver {
 public:
  void on_progress(std::size_t /*finished*/, std::size_t /*total*/) override {}
  void on_scenario(const SweptScenario& /*scenario*/) override {}
};

/// Three requests; the variant handles a failure of any.
test::FakeScenario handling(const std::string& name, std::function<void()> handle) {
  test::FakeScenario scenario;
  scenario.description.name = name;
  scenario.description.limits = {"num_ooms == 0"};
  scenario.add("problem", Role::problem, [handle = std::move(handle)](RunContext& run) {
    for (int i = 0; i < 3; ++i) {
      try {
        run.machine().requests(0).free(test::allocate(run, 512).block);
      } catch (const OutOfMemory&) {
        handle();
      }
    }
    return test::loss_of(1);
  });
  return scenario;
}

TEST(Sweep, ThatIsInterruptedSaysWhatItDidNotTest) {
  test::FakeScenarios scenarios;
  const pid_t sweeper = ::getpid();
  const auto interrupt = [sweeper] {
    ::kill(sweeper, SIGINT);
    while (true) ::pause();
  };
  SweepOptions options;
  options.points.kind = PointChoice::Kind::all;
  options.forms = {FaultForm::transient};
  options.run.files = {scenarios.add(handling("first", [] {})),
                       scenarios.add(handling("second", interrupt)),
                       scenarios.add(handling("third", [] {}))};
  NobodyLooks observer;
  const SweepOutcome outcome = run_sweep(options, scenarios.loader(), observer);
  EXPECT_EQ(outcome.exit_code(), 130);
  const auto& swept = outcome.result.scenarios;
  ASSERT_EQ(swept.size(), 3U);
  EXPECT_EQ(swept[0].variants.at(0).faults, 3);
  EXPECT_EQ(swept[0].variants.at(0).untested, 0);
  const SweptVariant& cut = swept[1].variants.at(0);
  EXPECT_EQ(cut.faults, 0);
  EXPECT_EQ(cut.untested, 3);
  EXPECT_TRUE(cut.failed.empty());
  EXPECT_FALSE(is_clean(swept[1]));
  ASSERT_TRUE(swept[2].error);
  EXPECT_TRUE(swept[2].error->message.ends_with(" was interrupted")) << swept[2].error->message;
  const std::string summary = reports::sweep_summary_text(outcome.result, {});
  EXPECT_NE(summary.find(", 3 faults not tested, 1 not swept"), std::string::npos) << summary;
}

}  // namespace
}  // namespace ohm::engine

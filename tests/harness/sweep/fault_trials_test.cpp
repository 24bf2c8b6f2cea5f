// The ways to make the trials of a sweep: runs in turn, forks of one run, a process for each.
#include "harness/sweep/fault_trials.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/tensor/context.h"
#include "tests/harness/support/fake_scenarios.h"

namespace ohm::engine {
namespace {

constexpr int kRequests = 12;

void make_requests(RunContext& run, int count) {
  for (int i = 0; i < count; ++i) {
    run.machine().requests(0).free(test::allocate(run, 512).block);
  }
}

/// kRequests requests; what a failure of one of them does is up to `handle`, by its number from 0.
test::Body handling(std::function<void(RunContext& run, int request)> handle) {
  return [handle = std::move(handle)](RunContext& run) {
    for (int i = 0; i < kRequests; ++i) {
      try {
        make_requests(run, 1);
      } catch (const OutOfMemory&) {
        handle(run, i);
      }
    }
    return test::loss_of(1);
  };
}

/// Dies with the program that holds it, once told to.
struct Mine {
  bool is_armed = false;
  ~Mine() {
    if (is_armed) std::abort();
  }
};

class FaultTrialsTest : public testing::Test {
 protected:
  /// `make` is called for each run.
  void sweep(const std::function<test::Body()>& make) {
    scenarios_.add("program", [make] {
      test::FakeScenario scenario;
      scenario.add("run", Role::problem, make());
      return scenario;
    });
    setup_.request.source = "program";
    setup_.variant = "run";
    setup_.machine.gpu.values = false;
    loader_ = scenarios_.loader();
    fault_free_ = fault_free_run(loader_, setup_);
    ASSERT_EQ(fault_free_.calls.size(), kRequests);
  }

  std::vector<FaultVerdict> verdicts_with(const TrialsOptions& options) {
    std::vector<FaultTask> tasks;
    for (std::size_t call = 0; call < kRequests; ++call) {
      for (const FaultForm form : {FaultForm::transient, FaultForm::persistent}) {
        tasks.push_back({call, form});
      }
    }
    std::vector<FaultVerdict> verdicts;
    for (const TaskVerdict& task : run_tasks(loader_, setup_, fault_free_, tasks, options)) {
      verdicts.push_back(task.verdict.verdict);
    }
    return verdicts;
  }

  /// Of a process for each; the other ways agree with it, one that changes its way too.
  std::vector<FaultVerdict> verdicts() {
    TrialsOptions options;
    options.limits = {0.2, 5};
    options.engine = SweepEngine::exec;
    const std::vector<FaultVerdict> alone = verdicts_with(options);
    options.engine = SweepEngine::fork;
    for (const std::size_t most_bytes_put_back : {std::size_t{0}, options.most_bytes_put_back}) {
      options.most_bytes_put_back = most_bytes_put_back;
      for (const double seconds_of_a_fork : {0.0, 1e-9, 1e3}) {
        options.seconds_of_a_fork = seconds_of_a_fork;
        EXPECT_EQ(verdicts_with(options), alone) << seconds_of_a_fork << most_bytes_put_back;
      }
    }
    return alone;
  }

  test::FakeScenarios scenarios_;
  ScenarioLoader loader_;
  TrialSetup setup_;
  FaultFreeRun fault_free_;
};

TEST_F(FaultTrialsTest, AgreeOnErrorsThatAreNotHandled) {
  sweep([] {
    return [](RunContext& run) {
      make_requests(run, kRequests);
      return test::loss_of(1);
    };
  });
  EXPECT_EQ(verdicts(), std::vector<FaultVerdict>(2 * kRequests, FaultVerdict::clean_error));
}

TEST_F(FaultTrialsTest, AgreeOnWhatHasNoEnd) {
  sweep([] {
    return handling([](RunContext& run, int request) {
      while (request % 4 == 1) {
        try {
          make_requests(run, 1);
          break;
        } catch (const OutOfMemory&) {
        }
      }
      const volatile bool is_endless = request == 6;
      while (is_endless) {
      }
    });
  });
  const std::vector<FaultVerdict> all = verdicts();
  EXPECT_EQ(all[2 * 1 + 1], FaultVerdict::hang);
  EXPECT_EQ(all[2 * 6], FaultVerdict::hang);
  EXPECT_EQ(all[2 * 7], FaultVerdict::swallowed);
}

TEST_F(FaultTrialsTest, AgreeOnDeaths) {
  sweep([] {
    return handling([](RunContext& /*run*/, int request) {
      if (request % 5 == 0) std::abort();
    });
  });
  const std::vector<FaultVerdict> all = verdicts();
  EXPECT_EQ(all[2 * 5], FaultVerdict::crash);
  EXPECT_EQ(all[2 * 6], FaultVerdict::swallowed);
}

TEST_F(FaultTrialsTest, AgreeOnWhatLeavesFilesAndMemoryOfItsOwn) {
  sweep([] {
    return handling([](RunContext& /*run*/, int request) {
      constexpr std::size_t kBytes = 4096;
      if (request % 3 == 0) ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (request % 3 == 1) {
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      }
    });
  });
  EXPECT_EQ(verdicts(), std::vector<FaultVerdict>(2 * kRequests, FaultVerdict::swallowed));
}

/// A death after the verdict is no other trial's.
TEST_F(FaultTrialsTest, AgreeWhereAProgramDiesWhenItIsLetGo) {
  sweep([] {
    const auto mine = std::make_shared<Mine>();
    return [mine](RunContext& run) {
      try {
        make_requests(run, kRequests);
      } catch (const OutOfMemory&) {
        mine->is_armed = true;
        throw;
      }
      return test::loss_of(1);
    };
  });
  EXPECT_EQ(verdicts(), std::vector<FaultVerdict>(2 * kRequests, FaultVerdict::clean_error));
}

TEST_F(FaultTrialsTest, AgreeOnRequestsOfAnotherThread) {
  sweep([] {
    return [](RunContext& run) {
      make_requests(run, 4);
      std::exception_ptr failure;
      std::thread([&] {
        const ContextGuard guard(run.machine().context());
        try {
          make_requests(run, 4);
        } catch (const OutOfMemory&) {
          failure = std::current_exception();
        }
      }).join();
      if (failure) std::rethrow_exception(failure);
      make_requests(run, kRequests - 8);
      return test::loss_of(1);
    };
  });
  EXPECT_EQ(verdicts(), std::vector<FaultVerdict>(2 * kRequests, FaultVerdict::clean_error));
}

}  // namespace
}  // namespace ohm::engine

#include "harness/sweep/body_sweep.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {
namespace {

class BodySweepTest : public testing::Test {
 protected:
  BodySweepTest() : machine_(MachineOptions()), guard_(machine_.context()) { machine_.add_gpus(); }

  Tensor block() { return empty({1024}, {DType::float32, Device::cuda(0)}); }
  std::int64_t verdicts(const BodySweepResult& result, FaultVerdict verdict) {
    return result.verdicts[static_cast<std::size_t>(verdict)];
  }

  Machine machine_;
  ContextGuard guard_;
};

TEST_F(BodySweepTest, FailsEveryRequestOfABodyThatLetsErrorsPass) {
  const BodySweepResult result = sweep_body(machine_, FaultForm::transient, [&] {
    const Tensor a = block();
    const Tensor b = block();
    const Tensor c = block();
    return BodyResult{1};
  });
  EXPECT_EQ(result.calls, 3);
  EXPECT_EQ(result.faults, 3);
  EXPECT_EQ(verdicts(result, FaultVerdict::clean_error), 3);
  EXPECT_EQ(result.first_bad_call, 0);
}

TEST_F(BodySweepTest, FindsWhatIsLeakedSwallowedAndTurnedIntoAnotherError) {
  std::vector<Tensor> kept;
  const BodySweepResult leak = sweep_body(machine_, FaultForm::transient, [&] {
    kept.push_back(block());
    const Tensor b = block();
    kept.clear();
    return BodyResult{1};
  });
  EXPECT_EQ(verdicts(leak, FaultVerdict::leak), 1);
  EXPECT_EQ(leak.first_bad_call, 2);
  EXPECT_EQ(leak.what, "4096 bytes stay allocated on cuda:0");
  kept.clear();

  const auto tried = [&](auto&& handle) {
    return sweep_body(machine_, FaultForm::transient, [&] {
      try {
        block();
      } catch (const OutOfMemory&) {
        return handle();
      }
      return BodyResult{1};
    });
  };
  EXPECT_EQ(tried([] { return BodyResult{0}; }).first_bad, FaultVerdict::swallowed);
  EXPECT_EQ(verdicts(tried([&] { return block(), BodyResult{1}; }), FaultVerdict::recovered_same),
            1);
  EXPECT_EQ(tried([&] { return block(), BodyResult{2}; }).first_bad,
            FaultVerdict::recovered_different);
  EXPECT_EQ(tried([]() -> BodyResult { throw std::runtime_error("oh"); }).first_bad,
            FaultVerdict::wrong_error);
}

TEST_F(BodySweepTest, EndsALoopThatMakesNoProgress) {
  const BodySweepResult result = sweep_body(machine_, FaultForm::persistent, [&] {
    while (true) {
      try {
        block();
        return BodyResult{1};
      } catch (const OutOfMemory&) {
      }
    }
  });
  EXPECT_EQ(result.first_bad, FaultVerdict::hang);
}

TEST_F(BodySweepTest, RefusesABodyThatFailsByItself) {
  EXPECT_THROW(sweep_body(machine_, FaultForm::transient,
                          []() -> BodyResult { throw std::runtime_error("oh"); }),
               std::invalid_argument);
}

}  // namespace
}  // namespace ohm::engine

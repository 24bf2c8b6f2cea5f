#include "runtime/optim/step_watch.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "runtime/optim/adam.h"
#include "runtime/tensor/factories.h"
#include "tests/support/test_machine.h"

namespace ohm::optim {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

/// With its gradient, 2 · `mebibytes`.
Tensor parameter_of(std::int64_t mebibytes) {
  const Shape shape = {mebibytes << 18U};
  Tensor parameter = zeros(shape, {DType::float32, Device::cuda(0)});
  parameter.set_requires_grad(true);
  parameter.set_grad(zeros(shape, {DType::float32, Device::cuda(0)}));
  return parameter;
}

std::unique_ptr<Adam> adam_of(const std::vector<Tensor>& parameters) {
  return std::make_unique<Adam>(parameters, AdamOptions());
}

/// There is room for a parameter of 16 MiB, its gradient and its state, not for a temporary.
class StepWatchTest : public testing::Test {
 protected:
  test::TestMachine machine_{{.capacity_bytes = 72 * kMiB}};
  StepWatch watch_;
};

TEST_F(StepWatchTest, SeesAStepThatAnErrorStopsHalfwayUntilAllIsWrittenAgain) {
  const Tensor parameter = parameter_of(16);
  const auto optimizer = adam_of({parameter});
  EXPECT_EQ(watch_.half_made(), "");
  EXPECT_THROW(optimizer->step(), OutOfMemory);
  EXPECT_EQ(watch_.half_made(), "Adam");
  const std::vector<Tensor>& state = optimizer->find_state(parameter)->tensors;
  state[0].storage().bump_version();
  state[1].storage().bump_version();
  EXPECT_EQ(watch_.half_made(), "Adam");
  state[2].storage().bump_version();
  EXPECT_EQ(watch_.half_made(), "");
}

TEST_F(StepWatchTest, StateGoesWithItsOptimizer) {
  const Tensor parameter = parameter_of(16);
  auto optimizer = adam_of({parameter});
  EXPECT_THROW(optimizer->step(), OutOfMemory);
  optimizer.reset();
  EXPECT_EQ(watch_.half_made(), "");
}

TEST_F(StepWatchTest, ParametersOutliveTheirOptimizer) {
  Tensor first = parameter_of(1);
  auto optimizer = adam_of({first, parameter_of(15)});
  EXPECT_THROW(optimizer->step(), OutOfMemory);
  optimizer.reset();
  EXPECT_EQ(watch_.half_made(), "Adam");
  first = Tensor();
  EXPECT_EQ(watch_.half_made(), "");
}

TEST_F(StepWatchTest, WhereTheStateHasNoRoomNothingIsWritten) {
  const Tensor parameter = parameter_of(20);
  const auto optimizer = adam_of({parameter});
  EXPECT_THROW(optimizer->step(), OutOfMemory);
  EXPECT_EQ(watch_.half_made(), "");
}

TEST_F(StepWatchTest, AStepThatEndsIsWhole) {
  const Tensor parameter = parameter_of(4);
  const auto optimizer = adam_of({parameter});
  optimizer->step();
  optimizer->step();
  EXPECT_EQ(watch_.half_made(), "");
}

}  // namespace
}  // namespace ohm::optim

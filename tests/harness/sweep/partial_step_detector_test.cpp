#include "harness/sweep/partial_step_detector.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/optim/adam.h"
#include "tests/support/test_machine.h"

namespace ohm::engine {
namespace {

using optim::Adam;
using optim::AdamOptions;

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

/// Beside the ballast there is room for parameters of 16 MiB, their gradients and states, not for a
/// temporary of that size.
class PartialStepDetectorTest : public testing::Test {
 protected:
  void expect_half_a_step(Adam& optimizer) {
    ballast_ = zeros({36 << 18}, {DType::float32, Device::cuda(0)});
    EXPECT_THROW(optimizer.step(), OutOfMemory);
    ballast_ = Tensor();
    EXPECT_EQ(detector_.built_on(), "");
  }

  test::TestMachine machine_{{.capacity_bytes = 108 * kMiB}};
  PartialStepDetector detector_;
  Tensor ballast_;
};

TEST_F(PartialStepDetectorTest, SeesAStepThatIsMadeWhereAnotherOneWasStopped) {
  const Tensor parameter = parameter_of(16);
  const auto optimizer = adam_of({parameter});
  expect_half_a_step(*optimizer);
  optimizer->step();
  EXPECT_EQ(detector_.built_on(), "Adam");
}

TEST_F(PartialStepDetectorTest, SeesNothingWhereAllIsWrittenAgain) {
  const Tensor parameter = parameter_of(16);
  const auto optimizer = adam_of({parameter});
  expect_half_a_step(*optimizer);
  for (const Tensor& tensor : optimizer->find_state(parameter)->tensors) {
    tensor.bump_version();
  }
  optimizer->step();
  EXPECT_EQ(detector_.built_on(), "");
}

TEST_F(PartialStepDetectorTest, SeesWhatIsWrittenAgainInPartOnly) {
  const Tensor parameter = parameter_of(16);
  const auto optimizer = adam_of({parameter});
  expect_half_a_step(*optimizer);
  optimizer->find_state(parameter)->tensors.back().bump_version();
  optimizer->step();
  EXPECT_EQ(detector_.built_on(), "Adam");
}

TEST_F(PartialStepDetectorTest, AStepThatFailsToGoOnIsPartialItself) {
  const Tensor parameter = parameter_of(16);
  const auto optimizer = adam_of({parameter});
  expect_half_a_step(*optimizer);
  expect_half_a_step(*optimizer);
  optimizer->step();
  EXPECT_EQ(detector_.built_on(), "Adam");
}

TEST_F(PartialStepDetectorTest, StateGoesWithItsOptimizer) {
  const Tensor parameter = parameter_of(16);
  auto optimizer = adam_of({parameter});
  expect_half_a_step(*optimizer);
  optimizer.reset();
  adam_of({parameter})->step();
  EXPECT_EQ(detector_.built_on(), "");
}

TEST_F(PartialStepDetectorTest, ParametersOutliveTheirOptimizer) {
  const Tensor first = parameter_of(1);
  const Tensor second = parameter_of(15);
  auto optimizer = adam_of({first, second});
  expect_half_a_step(*optimizer);
  optimizer.reset();
  adam_of({second})->step();
  EXPECT_EQ(detector_.built_on(), "");
  adam_of({first})->step();
  EXPECT_EQ(detector_.built_on(), "Adam");
}

TEST_F(PartialStepDetectorTest, WhereTheStateHasNoRoomNothingIsWritten) {
  const Tensor parameter = parameter_of(20);
  const auto optimizer = adam_of({parameter});
  expect_half_a_step(*optimizer);
  EXPECT_THROW(optimizer->step(), std::invalid_argument);  // the state is incomplete
  EXPECT_EQ(detector_.built_on(), "");
  optimizer->clear_state();
  EXPECT_THROW(optimizer->step(), OutOfMemory);
  EXPECT_EQ(detector_.built_on(), "");
}

}  // namespace
}  // namespace ohm::engine

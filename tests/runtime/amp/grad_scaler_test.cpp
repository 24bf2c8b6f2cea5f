#include "runtime/amp/grad_scaler.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/sgd.h"
#include "tests/support/test_machine.h"

namespace ohm::amp {
namespace {

constexpr TensorOptions kOnGpu{DType::float32, Device::cuda(0)};

class GradScalerTest : public testing::Test {
 protected:
  GradScalerTest()
      : machine_({.values = ValueMode::keeps_values}),
        parameter_(full({2}, 1.0, kOnGpu)),
        optimizer_((parameter_.set_requires_grad(true), std::vector<Tensor>{parameter_}),
                   {.lr = 0.5}) {}

  void backward_with(GradScaler& scaler, double factor) {
    optimizer_.zero_grad(true);
    backward(scaler.scale(ops::sum(ops::mul(parameter_, factor))));
  }

  test::TestMachine machine_;
  Tensor parameter_;
  optim::Sgd optimizer_;
};

TEST_F(GradScalerTest, TakesTheSameStepAsWithoutScaling) {
  GradScaler scaler({});
  backward_with(scaler, 3.0);
  EXPECT_EQ(to_doubles(parameter_.grad()), (std::vector<double>(2, 3.0 * 65536)));
  EXPECT_TRUE(scaler.step(optimizer_));
  scaler.update();
  EXPECT_EQ(to_doubles(parameter_), (std::vector<double>(2, 1.0 - 0.5 * 3.0)));
  EXPECT_EQ(scaler.get_scale(), 65536.0);
}

TEST_F(GradScalerTest, SkipsAStepWithAnInfiniteGradientAndHalvesTheScale) {
  GradScaler scaler({});
  backward_with(scaler, 1e38);
  EXPECT_FALSE(scaler.step(optimizer_));
  scaler.update();
  EXPECT_EQ(to_doubles(parameter_), (std::vector<double>(2, 1.0)));
  EXPECT_EQ(scaler.get_scale(), 32768.0);
  EXPECT_EQ(scaler.skipped_steps(), 1);
}

TEST_F(GradScalerTest, DoublesTheScaleAfterTheGrowthInterval) {
  GradScaler scaler({.init_scale = 4.0, .growth_interval = 2});
  for (int step = 0; step < 2; ++step) {
    backward_with(scaler, 0.1);
    scaler.step(optimizer_);
    scaler.update();
  }
  EXPECT_EQ(scaler.get_scale(), 8.0);
}

// Golden: PyTorch 2.6.0's own scaler, which halves 8 after the infinite step and counts one good
// one.
TEST_F(GradScalerTest, GoesOnFromTheStateOfAnother) {
  GradScaler scaler({.init_scale = 8.0, .growth_interval = 2});
  for (const double factor : {1e38, 0.1}) {
    backward_with(scaler, factor * 4);
    scaler.step(optimizer_);
    scaler.update();
  }
  const GradScalerState state = scaler.state();
  EXPECT_EQ(state.scale, 4.0);
  EXPECT_EQ(state.growth_tracker, 1);
  GradScaler before_its_first_scale({});
  before_its_first_scale.load_state(state);
  GradScaler on_the_device({});
  backward_with(on_the_device, 0.1);
  on_the_device.step(optimizer_);
  on_the_device.update();
  const std::int64_t bytes = machine_.allocated_bytes();
  on_the_device.load_state(state);
  EXPECT_EQ(machine_.allocated_bytes(), bytes);
  for (GradScaler* resumed : {&before_its_first_scale, &on_the_device}) {
    EXPECT_EQ(resumed->get_scale(), 4.0);
    backward_with(*resumed, 0.1);
    resumed->step(optimizer_);
    resumed->update();
    EXPECT_EQ(resumed->get_scale(), 8.0);
    EXPECT_EQ(resumed->state().growth_tracker, 0);
  }
}

TEST_F(GradScalerTest, RefusesAStateThatMakesNoSense) {
  GradScaler scaler({.init_scale = 8.0});
  GradScalerState state = scaler.state();
  state.growth_factor = 1.0;
  state.scale = 2.0;
  EXPECT_THROW(scaler.load_state(state), std::invalid_argument);
  EXPECT_EQ(scaler.get_scale(), 8.0);
}

TEST_F(GradScalerTest, KeepsScaleAndTrackerOnTheDeviceFromTheFirstScaleOn) {
  GradScaler scaler({});
  const std::int64_t before = machine_.allocated_bytes();
  const Tensor loss = full({}, 1.0, kOnGpu);
  const Tensor scaled = scaler.scale(loss);
  EXPECT_EQ(machine_.allocated_bytes(), before + 2 * 512 + 2 * 512);
}

TEST_F(GradScalerTest, RefusesToUnscaleTwice) {
  GradScaler scaler({});
  backward_with(scaler, 1.0);
  scaler.unscale(optimizer_);
  EXPECT_THROW(scaler.unscale(optimizer_), std::invalid_argument);
}

TEST_F(GradScalerTest, RefusesToUnscaleAfterTheStep) {
  GradScaler scaler({});
  backward_with(scaler, 1.0);
  scaler.step(optimizer_);
  EXPECT_THROW(scaler.unscale(optimizer_), std::invalid_argument);
}

// The gradients of a fused step are divided by the step itself.
TEST(GradScalerOnASmallGpu, AFusedStepThatFailsLeavesTheGradientsAsTheyWere) {
  test::TestMachine machine(
      {.capacity_bytes = std::size_t{36} << 20U, .values = ValueMode::keeps_values});
  const Tensor parameter = full({std::int64_t{3} << 20}, 1.0, kOnGpu);
  parameter.set_requires_grad(true);
  optim::Adam optimizer({parameter}, {.lr = 0.5, .form = optim::Form::fused});
  GradScaler scaler({.init_scale = 8.0});
  backward(scaler.scale(ops::sum(parameter)));
  EXPECT_THROW(scaler.step(optimizer), OutOfMemory);
  EXPECT_EQ(to_doubles(parameter.grad()).front(), 8.0);
  // The stage is as before: nothing was divided yet.
  scaler.unscale(optimizer);
  EXPECT_EQ(to_doubles(parameter.grad()).front(), 1.0);
}

TEST_F(GradScalerTest, RefusesAnUpdateWithoutAStep) {
  GradScaler scaler({});
  EXPECT_THROW(scaler.update(), std::invalid_argument);
}

TEST_F(GradScalerTest, PassesEverythingThroughWhenDisabled) {
  GradScaler scaler({.enabled = false});
  backward_with(scaler, 1.0);
  EXPECT_EQ(to_doubles(parameter_.grad()), (std::vector<double>(2, 1.0)));
  EXPECT_TRUE(scaler.step(optimizer_));
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 1.0);
}

}  // namespace
}  // namespace ohm::amp

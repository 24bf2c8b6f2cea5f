// Whole training steps of Linear(1000,2000)-ReLU-Linear(2000,10) at batch 32, to the byte: the
// figures that PyTorch 2.6 has for it.

#include <gtest/gtest.h>

#include <memory>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/loss/loss_cross_entropy.h"
#include "runtime/ops/loss/loss_nll.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/sgd.h"
#include "tests/support/test_machine.h"

namespace ohm {
namespace {

constexpr std::size_t kSmallWorkspace = 8'519'680;

class TrainingStep : public testing::Test {
 protected:
  void start(const test::MachineOptions& options = {}) {
    machine_ = std::make_unique<test::TestMachine>(options);
    machine_->context().rules = find_rule_set("pytorch-2.6");
    const nn::ParameterOptions on_gpu{Device::cuda(0)};
    net_ = std::make_shared<nn::Sequential>(
        std::vector<nn::ModulePtr>{std::make_shared<nn::Linear>(1000, 2000, true, on_gpu),
                                   std::make_shared<nn::FunctionModule>("ReLU", &ops::relu),
                                   std::make_shared<nn::Linear>(2000, 10, true, on_gpu)});
    x_ = randn({32, 1000}, {DType::float32, Device::cuda(0)});
    y_ = randint(0, 10, {32}, {DType::int64, Device::cuda(0)});
  }
  void forward() {
    out_ = net_->forward(x_);
    loss_ = ops::cross_entropy(out_, y_, std::nullopt, -100, ops::Reduction::mean);
  }
  std::int64_t allocated() { return machine_->allocated_bytes(); }
  std::int64_t peak() { return machine_->peak_bytes(); }
  void reset_peak() { machine_->gpu().reset_peak_stats(); }

  std::unique_ptr<test::TestMachine> machine_;
  nn::ModulePtr net_;
  Tensor x_;
  Tensor y_;
  Tensor out_;
  Tensor loss_;
};

TEST_F(TrainingStep, TakesTheKnownBytesAtEveryPoint) {
  start();
  EXPECT_EQ(allocated(), 8'217'600);
  out_ = net_->forward(x_);
  EXPECT_EQ(allocated(), 8'475'136);
  EXPECT_EQ(peak(), 8'729'600);
  loss_ = ops::cross_entropy(out_, y_, std::nullopt, -100, ops::Reduction::mean);
  EXPECT_EQ(allocated(), 8'477'696);
  backward(loss_);
  EXPECT_EQ(allocated(), 16'308'736);
  EXPECT_EQ(peak(), 16'565'248);
}

TEST_F(TrainingStep, HoldsTwoWorkspacesAfterBackward) {
  start({.cublas_workspace_bytes = kSmallWorkspace});
  out_ = net_->forward(x_);
  EXPECT_EQ(allocated(), 16'994'816);
  EXPECT_EQ(peak(), 18'043'392);
  loss_ = ops::cross_entropy(out_, y_, std::nullopt, -100, ops::Reduction::mean);
  EXPECT_EQ(allocated(), 16'997'376);
  backward(loss_);
  EXPECT_EQ(allocated(), 33'348'096);
  EXPECT_EQ(peak(), 33'604'608);
  EXPECT_EQ(machine_->gpu().stats().reserved_bytes[0].current, 44'040'192);
}

TEST_F(TrainingStep, AddsTwoCopiesAndATemporaryThirdForAdam) {
  start();
  optim::Adam adam(net_->parameters(), {.form = optim::Form::foreach_list});
  forward();
  backward(loss_);
  reset_peak();
  adam.step();
  EXPECT_EQ(allocated(), 32'486'912);
  EXPECT_EQ(peak(), 40'576'000);
}

TEST_F(TrainingStep, TakesNoTemporaryForFusedAdamAndTwoOfOneParameterForTheLoop) {
  start({.cublas_workspace_bytes = kSmallWorkspace});
  optim::Adam fused(net_->parameters(), {.form = optim::Form::fused});
  forward();
  backward(loss_);
  fused.step();
  // Resident state, and the step count of each of four parameters on the device.
  EXPECT_EQ(allocated(), 49'526'272 + 4 * 512);
  reset_peak();
  fused.step();
  EXPECT_EQ(peak(), allocated());
}

TEST_F(TrainingStep, TakesTwoTemporariesOfTheLargestParameterForTheAdamLoop) {
  start({.cublas_workspace_bytes = kSmallWorkspace});
  optim::Adam loop(net_->parameters(), {.form = optim::Form::for_loop});
  forward();
  backward(loss_);
  loop.step();
  EXPECT_EQ(peak(), 65'526'272);
}

TEST_F(TrainingStep, AddsOneCopyForMomentum) {
  start();
  optim::Sgd sgd(net_->parameters(), {.momentum = 0.9, .form = optim::Form::foreach_list});
  forward();
  backward(loss_);
  sgd.step();
  EXPECT_EQ(allocated(), 24'397'824);
}

TEST_F(TrainingStep, CarriesOldGradientsThroughTheForwardWhenZeroGradIsForgotten) {
  start();
  optim::Sgd sgd(net_->parameters(), {.form = optim::Form::foreach_list});
  forward();
  backward(loss_);
  sgd.step();
  reset_peak();
  out_ = net_->forward(x_);
  EXPECT_EQ(peak(), 16'820'736);
  loss_ = ops::cross_entropy(out_, y_, std::nullopt, -100, ops::Reduction::mean);
  backward(loss_);
  EXPECT_EQ(peak(), 24'573'440);
}

TEST_F(TrainingStep, HasTheSamePeakEveryTimeWhenGradientsAreDroppedFirst) {
  start();
  optim::Sgd sgd(net_->parameters(), {.form = optim::Form::foreach_list});
  forward();
  backward(loss_);
  sgd.step();
  reset_peak();
  sgd.zero_grad(true);
  reset_peak();
  out_ = net_->forward(x_);
  EXPECT_EQ(peak(), 8'731'648);
  loss_ = ops::cross_entropy(out_, y_, std::nullopt, -100, ops::Reduction::mean);
  backward(loss_);
  EXPECT_EQ(peak(), 16'565'248);
}

}  // namespace
}  // namespace ohm

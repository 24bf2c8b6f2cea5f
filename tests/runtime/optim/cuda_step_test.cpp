// Steps of optimizers on a real card: what they compute on a virtual GPU, without bringing anything
// to the host.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "runtime/amp/grad_scaler.h"
#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/cuda/kernel_module.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/optim/adadelta.h"
#include "runtime/optim/adagrad.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/adamax.h"
#include "runtime/optim/asgd.h"
#include "runtime/optim/nadam.h"
#include "runtime/optim/radam.h"
#include "runtime/optim/rmsprop.h"
#include "runtime/optim/rprop.h"
#include "runtime/optim/sgd.h"
#include "runtime/tensor/context.h"
#include "tests/support/cuda_machine.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using optim::Form;
using Make = std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)>;

/// On a GPU, and where there is a card, only there.
Tensor numbers(std::uint64_t seed) {
  Context::current().seed(seed);
  return transfer(randn({3, 5}, {DType::float32, Device::cpu()}), Device::cuda(0));
}

Tensor after_three_steps(const Make& make) {
  const Tensor parameter = numbers(1);
  parameter.set_requires_grad(true);
  const auto optimizer = make({parameter});
  for (std::uint64_t step = 0; step < 3; ++step) {
    parameter.set_grad(numbers(step + 2));
    optimizer->step();
  }
  return parameter;
}

Make adam(Form form, bool maximize) {
  return [=](std::vector<Tensor> parameters) {
    optim::AdamOptions options;
    options.lr = 0.1;
    options.weight_decay = 0.01;
    options.maximize = maximize;
    options.form = form;
    return std::make_unique<optim::Adam>(std::move(parameters), options);
  };
}

Make sgd(Form form, double momentum, bool nesterov) {
  return [=](std::vector<Tensor> parameters) {
    optim::SgdOptions options;
    options.lr = 0.1;
    options.weight_decay = 0.01;
    options.momentum = momentum;
    options.nesterov = nesterov;
    options.form = form;
    return std::make_unique<optim::Sgd>(std::move(parameters), options);
  };
}

template <class Optimizer, class Options>
Make with(Options options, Form form, bool maximize) {
  options.form = form;
  options.maximize = maximize;
  return [options](std::vector<Tensor> parameters) {
    return std::make_unique<Optimizer>(std::move(parameters), options);
  };
}

/// Those without a fused form; later steps of some differ from the first ones.
std::vector<Make> without_fused_form(Form form, bool maximize) {
  optim::AdadeltaOptions adadelta;
  optim::AdagradOptions adagrad;
  optim::AdamaxOptions adamax;
  optim::AsgdOptions asgd;
  optim::NadamOptions nadam;
  optim::RadamOptions radam;
  optim::RmspropOptions rmsprop;
  if (maximize) {
    adadelta.weight_decay = adagrad.weight_decay = adamax.weight_decay = asgd.weight_decay = 0.1;
    nadam.weight_decay = radam.weight_decay = rmsprop.weight_decay = 0.1;
    nadam.decoupled_weight_decay = true;
    asgd.t0 = 0.0;
    radam.beta2 = 0.5;
    rmsprop.centered = true;
    rmsprop.momentum = 0.9;
  }
  return {with<optim::Adadelta>(adadelta, form, maximize),
          with<optim::Adagrad>(adagrad, form, maximize),
          with<optim::Adamax>(adamax, form, maximize),
          with<optim::Asgd>(asgd, form, maximize),
          with<optim::Nadam>(nadam, form, maximize),
          with<optim::Radam>(radam, form, maximize),
          with<optim::Rmsprop>(rmsprop, form, maximize),
          with<optim::Rprop>(optim::RpropOptions(), form, maximize)};
}

void expect_same_on_cuda(const std::vector<Make>& optimizers) {
  for (std::size_t i = 0; i < optimizers.size(); ++i) {
    SCOPED_TRACE(i);
    std::vector<double> expected;
    {
      const TestMachine machine({.values = ValueMode::keeps_values});
      expected = to_doubles(after_three_steps(optimizers[i]));
    }
    const CudaMachine machine;
    const Tensor parameter = after_three_steps(optimizers[i]);
    EXPECT_EQ(machine.downloads(), 0);
    EXPECT_EQ(parameter.storage().residency(), Residency::device);
    EXPECT_EQ(to_doubles(parameter), expected);
  }
}

TEST(CudaStep, ComputesWhatItDoesOnAVirtualGpuAndStaysOnTheCard) {
  for (const Form form : {Form::foreach_list, Form::for_loop, Form::fused}) {
    SCOPED_TRACE(static_cast<int>(form));
    expect_same_on_cuda({adam(form, false), adam(form, true), sgd(form, 0, false),
                         sgd(form, 0.9, false), sgd(form, 0.9, true)});
  }
  for (const Form form : {Form::foreach_list, Form::for_loop}) {
    SCOPED_TRACE(static_cast<int>(form));
    for (const bool maximize : {false, true}) {
      SCOPED_TRACE(maximize);
      expect_same_on_cuda(without_fused_form(form, maximize));
    }
  }
}

TEST(CudaStep, AGradScalerFindsOnTheCardWhatIsNotFinite) {
  const CudaMachine machine;
  const Tensor parameter = numbers(1);
  parameter.set_requires_grad(true);
  const auto optimizer = sgd(Form::for_loop, 0, false)({parameter});
  amp::GradScaler scaler({});
  scaler.scale(ops::sum(parameter));
  for (const double value :
       {std::numeric_limits<double>::infinity(), 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const Tensor grad = numbers(2);
    fill_values(make_view(grad, {1}, {1}, 14), value);
    parameter.set_grad(grad);
    EXPECT_EQ(scaler.step(*optimizer), value == 1.0) << value;
    EXPECT_EQ(grad.storage().residency(), Residency::device) << "the host looks at the flag alone";
    scaler.update();
  }
}

}  // namespace
}  // namespace ohm::test

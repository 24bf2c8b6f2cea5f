// Optimizers, checkpoints, several GPUs and ranks: the basic guarantee. Clipping and unscaling: the
// strong one.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "runtime/amp/grad_scaler.h"
#include "runtime/autograd/autocast_guard.h"
#include "runtime/autograd/checkpoint.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/parameters/clip_grad.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/random/dropout.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/optim/registry.h"
#include "runtime/parallel/data_parallel.h"
#include "runtime/parallel/distributed_data_parallel.h"
#include "runtime/parallel/sync_batch_norm.h"
#include "tests/harness/sweep/guarantees.h"

namespace ohm::engine {
namespace {

// ---- optimizers ---------------------------------------------------------------------------------

std::vector<std::string> all_optimizer_names() {
  std::vector<std::string> names;
  for (const optim::OptimizerDef& row : optim::all_optimizers()) names.emplace_back(row.name);
  return names;
}

class EachOptimizer : public Guarantees, public testing::WithParamInterface<std::string> {
 protected:
  EachOptimizer() {
    for (const std::int64_t size : {5, 6}) {
      const Shape shape{size};
      parameters_.push_back(ones(shape, kOnGpu));
      parameters_.back().set_requires_grad(true);
      parameters_.back().set_grad(full(shape, 0.5, kOnGpu));
    }
  }

  const optim::OptimizerDef& row() const {
    const auto& rows = optim::all_optimizers();
    return *std::find_if(rows.begin(), rows.end(),
                         [](const auto& row) { return row.name == GetParam(); });
  }

  static bool is_form(std::string_view option) {
    return option == "foreach" || option == "fused" || option == "line_search_fn";
  }

  /// The forms that the optimizer has, each as the name of the option that asks for it.
  std::vector<std::string> forms() const {
    std::vector<std::string> forms = {"for_loop"};
    for (const ops::Param& param : row().params) {
      if (is_form(param.name)) forms.emplace_back(param.name);
    }
    return forms;
  }

  optim::OptimizerPtr make(const std::string& form) const {
    std::vector<ops::Value> arguments;
    for (const ops::Param& param : row().params) {
      arguments.push_back(param.fallback);
      if (param.name == "lr") arguments.back() = 0.1;
      if (param.name == "max_iter") arguments.back() = std::int64_t{2};
      if (!is_form(param.name)) continue;
      if (param.kind == ops::ParamKind::boolean) arguments.back() = param.name == form;
      if (param.name == "line_search_fn" && form == param.name) {
        arguments.back() = std::string("strong_wolfe");
      }
    }
    arguments[0] = parameters_;
    return row().make(arguments);
  }

  /// With the gradients that are there, or of a closure that makes its own.
  void take_step() {
    if (GetParam() != "LBFGS") return optimizer_->step();
    optimizer_->step([this] {
      optimizer_->zero_grad(true);
      Tensor loss = ops::sum(ops::tanh(parameters_[0]));
      loss = ops::add(loss, ops::sum(ops::pow(parameters_[1], 2.0)));
      backward(loss);
      return loss;
    });
  }

  /// Two steps from the beginning: the first one makes the state.
  void train(const std::string& form) {
    for (const Tensor& parameter : parameters_) fill_values(parameter, 1);
    optimizer_ = make(form);
    take_step();
    take_step();
    optimizer_.reset();
  }

  /// Those of second tries, each once.
  std::vector<std::string> expected_errors() const;

  void expect_whole_state() const {
    if (!optimizer_) return;
    for (const Tensor& parameter : parameters_) {
      for (const double value : to_doubles(parameter)) EXPECT_TRUE(std::isfinite(value));
      const optim::ParameterState* const state = optimizer_->find_state(parameter);
      if (state == nullptr) continue;
      for (const Tensor& tensor : state->tensors) {
        if (!tensor.defined()) continue;
        for (const double value : to_doubles(tensor)) EXPECT_TRUE(std::isfinite(value));
      }
    }
  }

  Tensors parameters_;
  optim::OptimizerPtr optimizer_;
};

TEST_P(EachOptimizer, GivesTheBasicGuarantee) {
  for (const std::string& form : forms()) {
    SCOPED_TRACE(form);
    fail_each([&] { train(form); },
              [&] {
                expect_whole_state();
                optimizer_.reset();
              });
  }
}

TEST_P(EachOptimizer, StartsAgainFromWhatWasThereBefore) {
  for (const std::string& form : forms()) {
    SCOPED_TRACE(form);
    std::string fault_free;
    const BodySweepResult result = sweep_body(machine_, FaultForm::transient, [&] {
      try {
        train(form);
      } catch (const OutOfMemory&) {
        optimizer_.reset();
        train(form);
      }
      if (fault_free.empty()) fault_free = bits_of(parameters_);
      return BodyResult{bits_of(parameters_) == fault_free};
    });
    EXPECT_EQ(result.verdicts[static_cast<std::size_t>(FaultVerdict::recovered_same)],
              result.faults)
        << name_of(result.first_bad) << " at request " << result.first_bad_call;
  }
}

// What a second try of the first step dies of, over all requests that can fail: recorded from
// PyTorch 2.6.0 and 2.15.0; docs/sweeps.md names the optimizers.
std::vector<std::string> missing_entries(const std::string& optimizer) {
  if (optimizer == "SGD" || optimizer == "Adagrad" || optimizer == "LBFGS") return {};
  if (optimizer == "Adamax") return {"exp_avg", "exp_inf"};
  if (optimizer == "Adadelta") return {"square_avg", "acc_delta"};
  if (optimizer == "RMSprop") return {"square_avg"};
  if (optimizer == "ASGD") return {"mu", "ax"};
  if (optimizer == "Rprop") return {"prev", "step_size"};
  return {"exp_avg", "exp_avg_sq"};
}

std::vector<std::string> EachOptimizer::expected_errors() const {
  if (GetParam() == "LBFGS") return {"[LBFGS] the state is incomplete"};
  std::vector<std::string> expected;
  for (const Tensor& parameter : parameters_) {
    if (GetParam() == "Adafactor") {
      expected.emplace_back(parameter.dims() > 1 ? "[Adafactor] AssertionError: row_var and col_var"
                                                 : "[Adafactor] AssertionError: variance should");
      continue;
    }
    for (const std::string& entry : missing_entries(GetParam())) {
      expected.push_back(fmt::format("[{}] KeyError: '{}': the state of a parameter of shape {} ",
                                     GetParam(), entry, parameter.shape().str()));
    }
  }
  return expected;
}

TEST_P(EachOptimizer, LeavesItsStateHalfMadeAndASecondTryNamesWhatIsMissing) {
  for (const std::string& form : forms()) {
    SCOPED_TRACE(form);
    std::vector<std::string> errors;  // several requests are made for an entry: each one once
    const auto try_again = [&] {
      try {
        take_step();
      } catch (const std::invalid_argument& error) {
        if (errors.empty() || errors.back() != error.what()) errors.emplace_back(error.what());
      }
    };
    sweep_body(machine_, FaultForm::transient, [&] {
      for (const Tensor& parameter : parameters_) fill_values(parameter, 1);
      try {
        optimizer_ = make(form);
        take_step();
      } catch (const OutOfMemory&) {
        if (optimizer_) try_again();
      }
      optimizer_.reset();
      return BodyResult{0};
    });
    const std::vector<std::string> expected = expected_errors();
    ASSERT_EQ(errors.size(), expected.size());
    for (std::size_t i = 0; i < errors.size(); ++i) {
      EXPECT_EQ(errors[i].substr(0, expected[i].size()), expected[i]);
    }
  }
}

// Nothing was updated where the making of the state failed: without what was made of it the second
// try is the first one.
TEST_P(EachOptimizer, MakesAStateThatWasClearedAnew) {
  for (const std::string& form : forms()) {
    SCOPED_TRACE(form);
    std::string fault_free;
    const auto train_clearing = [&] {
      for (const Tensor& parameter : parameters_) fill_values(parameter, 1);
      optimizer_ = make(form);
      try {
        take_step();
      } catch (const OutOfMemory&) {
        optimizer_->clear_state();
        for (const Tensor& parameter : parameters_) fill_values(parameter, 1);
        take_step();
      }
      optimizer_.reset();
      return bits_of(parameters_);
    };
    const BodySweepResult result = sweep_body(machine_, FaultForm::transient, [&] {
      const std::string bits = train_clearing();
      if (fault_free.empty()) fault_free = bits;
      return BodyResult{bits == fault_free};
    });
    const auto count = [&](FaultVerdict verdict) {
      return result.verdicts[static_cast<std::size_t>(verdict)];
    };
    // Adagrad's constructor makes the state: there is no optimizer to try again with.
    EXPECT_EQ(count(FaultVerdict::recovered_same) + count(FaultVerdict::clean_error), result.faults)
        << name_of(result.first_bad) << " at request " << result.first_bad_call;
    if (missing_entries(GetParam()).empty()) continue;
    EXPECT_GT(count(FaultVerdict::recovered_same), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(AllOptimizers, EachOptimizer, testing::ValuesIn(all_optimizer_names()),
                         [](const auto& instance) { return instance.param; });

// ---- passes -------------------------------------------------------------------------------------

nn::ModulePtr two_layers(Device device) {
  const nn::ParameterOptions options{device};
  return std::make_shared<nn::Sequential>(
      std::vector<nn::ModulePtr>{std::make_shared<nn::Linear>(4, 6, true, options),
                                 std::make_shared<nn::FunctionModule>("Tanh", &ops::tanh),
                                 std::make_shared<nn::Linear>(6, 2, true, options)});
}

struct Pass {
  std::string name;
  /// Forward and backward of the net, on cuda:0, with a batch of 6.
  std::function<void(const nn::ModulePtr& net, const Tensor& batch)> run;
};

void checkpointed(Checkpointing variant, const nn::ModulePtr& net, const Tensor& batch) {
  const auto function = [&](const Tensors& inputs) {
    return Tensors{ops::dropout(net->forward(inputs[0]), 0.5, true)};
  };
  const Tensor input = ops::tanh(batch);
  const Tensor loss = ops::sum(checkpoint(function, {input}, {.variant = variant})[0]);
  const std::string before = generators();
  try {
    backward(loss);
  } catch (const OutOfMemory&) {
    EXPECT_EQ(generators(), before);  // the function draws the numbers of its first run again
    throw;
  }
}

std::vector<Pass> all_passes() {
  return {
      {"plain", [](const auto& net, const auto& x) { backward(ops::sum(net->forward(x))); }},
      {"autocast",
       [](const auto& net, const auto& x) {
         Tensor loss;
         {
           const AutocastGuard autocast(true, DType::float16);
           loss = ops::sum(net->forward(x));
         }
         backward(loss);
       }},
      {"checkpoint",
       [](const auto& net, const auto& x) { checkpointed(Checkpointing::non_reentrant, net, x); }},
      {"reentrant_checkpoint",
       [](const auto& net, const auto& x) { checkpointed(Checkpointing::reentrant, net, x); }},
      {"data_parallel",
       [](const auto& net, const auto& x) {
         parallel::DataParallel parallel(net, {}, std::nullopt);
         backward(ops::sum(parallel.nn::Module::forward(x)));
       }},
  };
}

class EachPass : public Guarantees, public testing::WithParamInterface<Pass> {};

TEST_P(EachPass, GivesTheBasicGuarantee) {
  const nn::ModulePtr net = two_layers(Device::cuda(0));
  const Tensor batch = ones({6, 4}, kOnGpu);
  batch.set_requires_grad(true);
  Tensors leaves = net->parameters();
  leaves.push_back(batch);
  expect_whole_gradients(leaves, [&] { GetParam().run(net, batch); });
}

INSTANTIATE_TEST_SUITE_P(AllPasses, EachPass, testing::ValuesIn(all_passes()),
                         [](const auto& instance) { return instance.param.name; });

// Whichever rank it is that fails, and wherever: all end, and none of them waits for it.
TEST_F(Guarantees, ADistributedPassEndsOnAllRanks) {
  constexpr int kRanks = 3;
  int ended = 0;
  const auto rank_main = [&](int rank) {
    const Device device = Device::cuda(rank);
    parallel::DistributedDataParallel net(two_layers(device), {});
    for (int step = 0; step < 2; ++step) {
      net.zero_grad(true);
      backward(ops::mean(net.nn::Module::forward(ones({6, 4}, {DType::float32, device}))));
    }
  };
  fail_each(
      [&] {
        ended = 0;
        parallel::RankGroup::run(kRanks, [&](int rank) {
          try {
            rank_main(rank);
            ++ended;
          } catch (...) {
            ++ended;
            throw;
          }
        });
      },
      [&] { EXPECT_EQ(ended, kRanks); });
}

// What each rank does with the others: lists take buffers before 2.15, a barrier numbers.
void communicate(int rank, int ranks) {
  parallel::RankGroup& group = *parallel::RankGroup::current();
  const TensorOptions options{DType::float32, Device::cuda(rank)};
  const Tensor own = ones({4}, options);
  std::vector<Tensor> parts;
  for (int i = 0; i < ranks; ++i) parts.push_back(ones({4}, options));
  group.barrier();
  group.all_gather(parts, own, parallel::Mode::async)->wait();
  group.reduce_scatter(own, parts);
  const parallel::GroupPtr first = group.new_group({0, 1});
  if (first->rank() >= 0) first->all_reduce(ones({4}, options));
  using Direction = parallel::RankGroup::Direction;
  const Tensor received = ones({4}, options);
  group
      .begin_transfers({{Direction::send, own, (rank + 1) % ranks},
                        {Direction::receive, received, (rank + ranks - 1) % ranks}})
      ->wait();
  const nn::ParameterOptions parameters{Device::cuda(rank)};
  parallel::SyncBatchNorm norm(4, {}, parameters, nullptr);
  backward(ops::mean(norm.nn::Module::forward(randn({6, 4}, options))));
}

TEST_F(Guarantees, RanksThatCommunicateAllEnd) {
  for (const bool holds : {false, true}) {
    constexpr int kRanks = 3;
    int ended = 0;
    fail_each(
        [&] {
          ended = 0;
          Context::current().rules.collectives_hold_tensors = holds;
          parallel::RankGroup::run(kRanks, [&](int rank) {
            try {
              communicate(rank, kRanks);
              ++ended;
            } catch (...) {
              ++ended;
              throw;
            }
          });
        },
        [&] { EXPECT_EQ(ended, kRanks); });
  }
}

TEST_F(Guarantees, ClippingChangesAllGradientsOrNone) {
  const Tensors parameters = {ones({4}, kOnGpu), ones({5}, kOnGpu)};
  const Tensors gradients = {ones({4}, kOnGpu), ones({5}, kOnGpu)};
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].set_grad(gradients[i]);
  for (const bool foreach : {true, false}) {
    expect_strong([&] { ops::clip_grad_norm_(parameters, 1.0, 2.0, false, foreach); },
                  [&] { return gradients; });
  }
}

TEST_F(Guarantees, UnscalingDividesAllGradientsOrNone) {
  const nn::ModulePtr net = two_layers(Device::cuda(0));
  const auto& rows = optim::all_optimizers();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [](const optim::OptimizerDef& one) { return one.name == "SGD"; });
  std::vector<ops::Value> arguments;
  for (const ops::Param& param : row->params) arguments.push_back(param.fallback);
  arguments[0] = net->parameters();
  arguments[1] = 0.1;
  const optim::OptimizerPtr optimizer = row->make(arguments);
  for (const Tensor& parameter : net->parameters()) parameter.set_grad(ones_like(parameter));
  amp::GradScaler scaler{{}};
  scaler.scale(ones({}, kOnGpu));
  const std::int64_t allocated = machine_.allocated_bytes(0);
  std::string before;
  const auto gradients = [&] {
    Tensors grads;
    for (const Tensor& parameter : net->parameters()) grads.push_back(parameter.grad());
    return bits_of(grads);
  };
  fail_each(
      [&] {
        // The error before this one has gone, with the scalars that it held.
        EXPECT_EQ(machine_.allocated_bytes(0), allocated);
        before = gradients();
        scaler.unscale(*optimizer);
        scaler.update();
      },
      [&] { EXPECT_TRUE(gradients() == before); });
}

}  // namespace
}  // namespace ohm::engine

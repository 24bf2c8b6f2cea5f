// Every scheduler against the learning rates recorded from PyTorch
// (tests/reference/lr_schedulers.py).
#include "runtime/optim/lr_scheduler.h"
#include "runtime/optim/lr_decay.h"
#include "runtime/optim/lr_scheduler_list.h"
#include "runtime/optim/sequential_lr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/optim/reduce_on_plateau.h"
#include "runtime/optim/sgd.h"
#include "tests/support/golden.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using nlohmann::json;
using optim::LrSchedulerDef;
using optim::LrSchedulerPtr;
using optim::OptimizerPtr;

json recorded(const char* part) {
  return json::parse(read_file(golden_path("optimizers/lr_schedulers.json")))[part];
}

OptimizerPtr new_optimizer() {
  const Tensor parameter = zeros({1}, {});
  parameter.set_requires_grad(true);
  optim::SgdOptions options;
  options.lr = 0.1;
  options.momentum = 0.9;
  return std::make_shared<optim::Sgd>(std::vector<Tensor>{parameter}, options);
}

ops::Value scheduler_option(const json& value, ops::ParamKind kind) {
  switch (kind) {
    case ops::ParamKind::boolean:
      return value.get<bool>();
    case ops::ParamKind::integer:
      return value.get<std::int64_t>();
    case ops::ParamKind::number_list:
      return value.get<std::vector<double>>();
    case ops::ParamKind::string:
      return value.get<std::string>();
    default:
      return value.get<double>();
  }
}

LrSchedulerPtr made(const OptimizerPtr& optimizer, const json& scheduler) {
  const auto name = scheduler[0].get<std::string>();
  const auto& rows = optim::all_lr_schedulers();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const LrSchedulerDef& known) { return known.name == name; });
  std::vector<ops::Value> arguments;
  for (const ops::Param& param : row->params) {
    const std::string option(param.name);
    arguments.push_back(scheduler[1].contains(option)
                            ? scheduler_option(scheduler[1][option], param.kind)
                            : param.fallback);
  }
  return row->make(optimizer, arguments);
}

void expect_state(const optim::Optimizer& optimizer, const json& expected) {
  EXPECT_NEAR(optimizer.learning_rate(), expected[0].get<double>(), 1e-15);
  EXPECT_NEAR(*optimizer.momentum(), expected[1].get<double>(), 1e-14);
}

template <class Step>
void expect_states(const optim::Optimizer& optimizer, const json& states, Step&& step) {
  expect_state(optimizer, states[0]);
  for (std::size_t epoch = 1; epoch < states.size(); ++epoch) {
    SCOPED_TRACE(epoch);
    step();
    expect_state(optimizer, states[epoch]);
  }
}

TEST(LrScheduler, RatesAreThoseThatPyTorchSet) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  for (const json& each : recorded("cases")) {
    SCOPED_TRACE(each["schedulers"].dump());
    const OptimizerPtr optimizer = new_optimizer();
    std::vector<LrSchedulerPtr> schedulers;
    for (const json& scheduler : each["schedulers"]) {
      schedulers.push_back(made(optimizer, scheduler));
    }
    expect_states(*optimizer, each["after"], [&] {
      for (const LrSchedulerPtr& scheduler : schedulers) scheduler->step();
    });
  }
}

TEST(LrScheduler, EveryRowIsRecorded) {
  std::vector<std::string> names;
  for (const json& each : recorded("cases")) {
    for (const json& scheduler : each["schedulers"]) names.push_back(scheduler[0]);
  }
  for (const LrSchedulerDef& row : optim::all_lr_schedulers()) {
    EXPECT_TRUE(std::count(names.begin(), names.end(), row.name) > 0) << row.name;
  }
}

TEST(LrScheduler, SequencesHandOverAtTheirMilestones) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  for (const json& each : recorded("sequences")) {
    SCOPED_TRACE(each["schedulers"].dump());
    const OptimizerPtr optimizer = new_optimizer();
    std::vector<LrSchedulerPtr> schedulers;
    for (const json& scheduler : each["schedulers"]) {
      schedulers.push_back(made(optimizer, scheduler));
    }
    const LrSchedulerPtr sequence = optim::sequential_lr(
        optimizer, schedulers, each["milestones"].get<std::vector<std::int64_t>>());
    expect_states(*optimizer, each["after"], [&] { sequence->step(); });
  }
}

optim::ReduceLrOnPlateau::Options plateau_options(const json& given) {
  using optim::ReduceLrOnPlateau;
  ReduceLrOnPlateau::Options options;
  if (given.value("mode", "min") == "max") options.mode = ReduceLrOnPlateau::Mode::max;
  if (given.value("threshold_mode", "rel") == "abs") {
    options.threshold_mode = ReduceLrOnPlateau::Threshold::absolute;
  }
  options.factor = given.value("factor", options.factor);
  options.patience = given.value("patience", options.patience);
  options.threshold = given.value("threshold", options.threshold);
  options.cooldown = given.value("cooldown", options.cooldown);
  options.min_lr = given.value("min_lr", options.min_lr);
  options.eps = given.value("eps", options.eps);
  return options;
}

TEST(LrScheduler, PlateausLowerTheRateWhenNothingImproves) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  const json metrics = recorded("metrics");
  for (const json& each : recorded("plateaus")) {
    SCOPED_TRACE(each["options"].dump());
    const OptimizerPtr optimizer = new_optimizer();
    optim::ReduceLrOnPlateau plateau(optimizer, plateau_options(each["options"]));
    for (std::size_t epoch = 0; epoch < metrics.size(); ++epoch) {
      plateau.step(metrics[epoch]);
      EXPECT_NEAR(optimizer->learning_rate(), each["after"][epoch].get<double>(), 1e-15) << epoch;
    }
  }
}

// ---- states -------------------------------------------------------------------------------------

json recorded_states(const char* part) {
  return json::parse(read_file(golden_path("optimizers/lr_scheduler_states.json")))[part];
}

std::vector<LrSchedulerPtr> all_made(const OptimizerPtr& optimizer, const json& each,
                                     const char* part) {
  std::vector<LrSchedulerPtr> schedulers;
  for (const json& scheduler : each[part]) schedulers.push_back(made(optimizer, scheduler));
  if (!each.contains("milestones")) return schedulers;
  return {optim::sequential_lr(optimizer, schedulers,
                               each["milestones"].get<std::vector<std::int64_t>>())};
}

void load_optimizer(optim::Optimizer& optimizer, const optim::Optimizer& from) {
  optimizer.set_learning_rate(from.learning_rate());
  optimizer.set_momentum(*from.momentum());
}

constexpr int kStepsBefore = 10;

void expect_to_go_on(const json& each, const char* others) {
  SCOPED_TRACE(each["schedulers"].dump());
  const OptimizerPtr first = new_optimizer();
  const std::vector<LrSchedulerPtr> schedulers = all_made(first, each, "schedulers");
  for (int step = 0; step < kStepsBefore; ++step) {
    for (const LrSchedulerPtr& scheduler : schedulers) scheduler->step();
  }
  const OptimizerPtr second = new_optimizer();
  const std::vector<LrSchedulerPtr> loaded = all_made(second, each, others);
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    optim::load_state({loaded[i].get()}, optim::state_of({schedulers[i].get()}));
    EXPECT_EQ(loaded[i]->last_epoch(), kStepsBefore);
    EXPECT_EQ(loaded[i]->last_lr(), schedulers[i]->last_lr());
  }
  load_optimizer(*second, *first);
  expect_states(*second, each["after"], [&] {
    for (const LrSchedulerPtr& scheduler : loaded) scheduler->step();
  });
}

TEST(LrSchedulerState, ANewSchedulerGoesOnAsPyTorchsDoes) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  for (const json& each : recorded_states("cases")) expect_to_go_on(each, "others");
  for (const json& each : recorded_states("sequences")) expect_to_go_on(each, "schedulers");
}

TEST(LrSchedulerState, ANewPlateauGoesOnAsPyTorchsDoes) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  const json metrics = recorded("metrics");
  constexpr std::size_t kBefore = 8;
  for (const json& each : recorded_states("plateaus")) {
    SCOPED_TRACE(each["options"].dump());
    const OptimizerPtr first = new_optimizer();
    const OptimizerPtr second = new_optimizer();
    optim::ReduceLrOnPlateau plateau(first, plateau_options(each["options"]));
    for (std::size_t epoch = 0; epoch < kBefore; ++epoch) plateau.step(metrics[epoch]);
    optim::ReduceLrOnPlateau resumed(second, plateau_options(each["others"]));
    optim::load_state({&resumed}, optim::state_of({&plateau}));
    load_optimizer(*second, *first);
    for (std::size_t epoch = kBefore; epoch < metrics.size(); ++epoch) {
      resumed.step(metrics[epoch]);
      EXPECT_NEAR(second->learning_rate(), each["after"][epoch - kBefore].get<double>(), 1e-15)
          << epoch;
    }
  }
}

TEST(LrSchedulerState, WhatDoesNotFitIsRefusedAndChangesNothing) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  const LrSchedulerPtr scheduler = made(new_optimizer(), json{"StepLR", {{"step_size", 3}}});
  scheduler->step();
  const auto expect_refused = [&](const char* name, const optim::SchedulerValue& value) {
    EXPECT_THROW(optim::load_state({scheduler.get()},
                                   {{{"last_epoch", std::int64_t{7}}, {name, value}}, {}}),
                 std::invalid_argument)
        << name;
    EXPECT_EQ(scheduler->last_epoch(), 1) << name;
  };
  expect_refused("step_size", std::int64_t{0});
  expect_refused("step_size", 1.5);
  expect_refused("step_size", 1e300);
  expect_refused("gamma", std::string("half"));
  expect_refused("T_max", std::int64_t{3});
  expect_refused("base_lrs", std::vector<double>{0.1, 0.1});
  EXPECT_THROW(optim::load_state({scheduler.get()}, {{}, {{}}}), std::invalid_argument);
}

TEST(LrScheduler, LambdasAreFactorsOfTheBaseRate) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  const OptimizerPtr optimizer = new_optimizer();
  const auto scheduler =
      optim::lambda_lr(optimizer, [](std::int64_t epoch) { return 1.0 / double(epoch + 1); });
  EXPECT_DOUBLE_EQ(optimizer->learning_rate(), 0.1);
  scheduler->step();
  scheduler->step();
  EXPECT_DOUBLE_EQ(optimizer->learning_rate(), 0.1 / 3);
}

TEST(LrScheduler, WhatMakesNoSenseIsRefused) {
  const TestMachine machine({.values = ValueMode::keeps_values});
  EXPECT_THROW(made(new_optimizer(), json{"OneCycleLR", {{"max_lr", 0.1}}}), std::invalid_argument);
  EXPECT_THROW(made(new_optimizer(), json{"StepLR", {{"step_size", 0}}}), std::invalid_argument);
  EXPECT_THROW(optim::sequential_lr(new_optimizer(), {}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace ohm::test

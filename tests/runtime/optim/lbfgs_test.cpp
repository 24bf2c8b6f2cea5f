// LBFGS against steps recorded from PyTorch (tests/reference/lbfgs.py), and what it does without
// values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/optim/lbfgs.h"
#include "runtime/optim/registry.h"
#include "tests/support/golden.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using nlohmann::json;
using optim::OptimizerDef;

json recorded_steps() { return json::parse(read_file(golden_path("optimizers/lbfgs.json"))); }

const OptimizerDef& lbfgs_row() {
  const auto& rows = optim::all_optimizers();
  return *std::find_if(rows.begin(), rows.end(),
                       [](const OptimizerDef& row) { return row.name == "LBFGS"; });
}

ops::Value value_of(const json& value, ops::ParamKind kind) {
  if (kind == ops::ParamKind::boolean) return value.get<bool>();
  if (kind == ops::ParamKind::integer) return value.get<std::int64_t>();
  if (kind == ops::ParamKind::string) return value.get<std::string>();
  return value.get<double>();
}

optim::OptimizerPtr make_lbfgs(const std::vector<Tensor>& parameters, json options) {
  if (!options.contains("lr")) options["lr"] = 0.1;
  std::vector<ops::Value> arguments;
  for (const ops::Param& param : lbfgs_row().params) {
    const std::string name(param.name);
    arguments.push_back(options.contains(name) ? value_of(options[name], param.kind)
                                               : param.fallback);
  }
  arguments[0] = parameters;
  return lbfgs_row().make(arguments);
}

Tensor vector_of(const json& values) {
  const auto numbers = values.get<std::vector<double>>();
  return from_values(numbers, {static_cast<std::int64_t>(numbers.size())},
                     {DType::float64, Device::cuda(0)});
}

/// sum((p[0]² − c[0])²) + sum((p[1]² − c[1])²) + sum(p[0]) · sum(p[1]) / 10
class RecordedLoss {
 public:
  explicit RecordedLoss(const json& recorded)
      : sign_(recorded["options"].value("maximize", false) ? -1.0 : 1.0) {
    for (const json& values : recorded["parameters"]) {
      parameters_.push_back(vector_of(values));
      parameters_.back().set_requires_grad(true);
    }
    for (const json& values : recorded["targets"]) targets_.push_back(vector_of(values));
  }

  const std::vector<Tensor>& parameters() const { return parameters_; }

  Tensor operator()() const {
    optim::zero_grad(parameters_, true);
    Tensor loss = ops::add(part(0), part(1));
    const Tensor pair = ops::mul(ops::sum(parameters_[0]), ops::sum(parameters_[1]));
    loss = ops::mul(ops::add(loss, ops::mul(pair, 0.1)), sign_);
    backward(loss);
    return loss;
  }

 private:
  Tensor part(std::size_t i) const {
    return ops::sum(ops::pow(ops::sub(ops::pow(parameters_[i], 2.0), targets_[i]), 2.0));
  }

  double sign_;
  std::vector<Tensor> parameters_;
  std::vector<Tensor> targets_;
};

void expect_alike(double actual, const json& expected) {
  const auto number = expected.get<double>();
  EXPECT_NEAR(actual, number, 1e-6 * std::max(1.0, std::abs(number)));
}

TEST(Lbfgs, StepsAsPyTorchDoes) {
  const json recordings = recorded_steps();
  for (const json& recorded : recordings["cases"]) {
    SCOPED_TRACE(recorded["options"].dump());
    TestMachine machine({.values = ValueMode::keeps_values});
    const RecordedLoss loss(recorded);
    const optim::OptimizerPtr optimizer = make_lbfgs(loss.parameters(), recorded["options"]);
    for (std::size_t step = 0; step < recorded["losses"].size(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step + 1));
      expect_alike(optimizer->step(loss).item(), recorded["losses"][step]);
      const optim::ParameterState* const state = optimizer->find_state(loss.parameters()[0]);
      EXPECT_EQ(state->numbers[0], recorded["evaluations"][step].get<double>());
      for (std::size_t i = 0; i < loss.parameters().size(); ++i) {
        const std::vector<double> values = to_doubles(loss.parameters()[i]);
        for (std::size_t k = 0; k < values.size(); ++k) {
          expect_alike(values[k], recorded["after"][step][i][k]);
        }
      }
    }
  }
}

TEST(Lbfgs, IsRecordedWithEveryOption) {
  std::set<std::string> recorded = {"params"};
  const json recordings = recorded_steps();
  for (const json& each : recordings["cases"]) {
    for (const auto& [name, value] : each["options"].items()) recorded.insert(name);
  }
  for (const ops::Param& param : lbfgs_row().params) {
    EXPECT_TRUE(recorded.contains(std::string(param.name))) << param.name;
  }
}

TEST(Lbfgs, GoesOnFromALoadedState) {
  const json recordings = recorded_steps();
  const json& recorded = recordings["cases"][1];
  TestMachine machine({.values = ValueMode::keeps_values});
  const RecordedLoss loss(recorded);
  const optim::OptimizerPtr first = make_lbfgs(loss.parameters(), recorded["options"]);
  first->step(loss);
  first->step(loss);
  const optim::OptimizerPtr second = make_lbfgs(loss.parameters(), recorded["options"]);
  second->load_state({second->converted_state(*first->find_state(loss.parameters()[0]))});
  second->step(loss);
  const std::vector<double> values = to_doubles(loss.parameters()[0]);
  for (std::size_t k = 0; k < values.size(); ++k)
    expect_alike(values[k], recorded["after"][2][0][k]);
}

// Two parameters of 4 elements: a step of 3 iterations keeps 2 pairs, and both numbers of a pair.
TEST(Lbfgs, KeepsEveryDirectionAndTakesAllIterationsWithoutValues) {
  TestMachine machine({.values = ValueMode::size_only});
  const RecordedLoss loss({{"options", json::object()},
                           {"parameters", {{1, 2, 3, 4}, {1, 2, 3, 4}}},
                           {"targets", {{1, 2, 3, 4}, {1, 2, 3, 4}}}});
  const optim::OptimizerPtr optimizer =
      make_lbfgs(loss.parameters(), {{"max_iter", 3}, {"max_eval", 10}});
  optimizer->step(loss);
  const optim::ParameterState* const state = optimizer->find_state(loss.parameters()[0]);
  EXPECT_EQ(state->numbers[0], 3.0);
  EXPECT_EQ(state->lists[1].size(), 2U);
  EXPECT_EQ(state->lists[1][0].numel(), 8);
  EXPECT_TRUE(machine.context().gpus.at(0).assumptions.contains(Assumption::lbfgs_curvature));
}

TEST(Lbfgs, RefusesWhatItHasNoMeaningFor) {
  TestMachine machine({.values = ValueMode::keeps_values});
  const Tensor parameter = ones({2}, {DType::float32, Device::cuda(0)});
  parameter.set_requires_grad(true);
  const optim::OptimizerPtr optimizer = make_lbfgs({parameter}, json::object());
  EXPECT_THROW(optimizer->step(), std::invalid_argument);
  EXPECT_THROW(optimizer->add_group(make_lbfgs({parameter}, json::object())),
               std::invalid_argument);
  EXPECT_THROW(optimizer->step([] { return Tensor(); }), std::invalid_argument);
  EXPECT_THROW(optimizer->step([&] { return parameter; }), std::invalid_argument);
}

}  // namespace
}  // namespace ohm::test

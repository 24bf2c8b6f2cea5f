// Every optimizer against trajectories recorded from PyTorch (tests/reference/optimizers.py), in
// every form that it has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/optim/registry.h"
#include "runtime/tensor/factories.h"
#include "tests/support/golden.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using nlohmann::json;
using optim::OptimizerDef;

std::vector<json> recorded_cases() {
  return json::parse(read_file(golden_path("optimizers/trajectories.json")))["cases"]
      .get<std::vector<json>>();
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerDef& row : optim::all_optimizers()) names.emplace_back(row.name);
  return names;
}

const OptimizerDef& row_of(const std::string& name) {
  const auto& rows = optim::all_optimizers();
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const OptimizerDef& row) { return row.name == name; });
}

Tensor tensor_of(const json& values) {
  const auto numbers = values.get<std::vector<double>>();
  return from_values(numbers, {static_cast<std::int64_t>(numbers.size())},
                     {DType::float32, Device::cuda(0)});
}

ops::Value option_of(const json& value, ops::ParamKind kind) {
  if (kind == ops::ParamKind::boolean) return value.get<bool>();
  if (kind == ops::ParamKind::number_list) return value.get<std::vector<double>>();
  return value.get<double>();
}

std::vector<ops::Value> arguments_for(const OptimizerDef& row, const json& recorded,
                                      const json& form, const std::vector<Tensor>& parameters) {
  json options = recorded["options"];
  options["lr"] = 0.1;
  options.update(form);
  std::vector<ops::Value> arguments;
  for (const ops::Param& param : row.params) {
    const std::string name(param.name);
    arguments.push_back(options.contains(name) ? option_of(options[name], param.kind)
                                               : param.fallback);
  }
  arguments[0] = parameters;
  return arguments;
}

void expect_equal(const Tensor& actual, const json& expected) {
  const std::vector<double> values = to_doubles(actual);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number = expected[i].get<double>();
    EXPECT_NEAR(values[i], number, 1e-5 * std::max(1.0, std::abs(number)));
  }
}

void check_trajectory(const json& recorded, const json& form) {
  SCOPED_TRACE(recorded["options"].dump() + " " + form.dump());
  TestMachine machine({.values = ValueMode::keeps_values});
  std::vector<Tensor> parameters;
  for (const json& values : recorded["parameters"]) {
    parameters.push_back(tensor_of(values));
    parameters.back().set_requires_grad(true);
  }
  const OptimizerDef& row = row_of(recorded["optimizer"].get<std::string>());
  const auto optimizer = row.make(arguments_for(row, recorded, form, parameters));
  for (std::size_t step = 0; step < recorded["gradients"].size(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step + 1));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].set_grad(tensor_of(recorded["gradients"][step][i]));
    }
    optimizer->step();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      expect_equal(parameters[i], recorded["after"][step][i]);
    }
  }
}

class Trajectory : public testing::TestWithParam<std::string> {};

TEST_P(Trajectory, EqualsPyTorchsInEveryForm) {
  const auto& params = row_of(GetParam()).params;
  const bool can_be_fused =
      std::any_of(params.begin(), params.end(), [](const auto& p) { return p.name == "fused"; });
  int cases = 0;
  for (const json& recorded : recorded_cases()) {
    if (recorded["optimizer"] != GetParam()) continue;
    ++cases;
    check_trajectory(recorded, {{"foreach", true}});
    check_trajectory(recorded, {{"foreach", false}});
    if (can_be_fused) check_trajectory(recorded, {{"fused", true}});
  }
  EXPECT_GT(cases, 0);
}

INSTANTIATE_TEST_SUITE_P(AllOptimizers, Trajectory, testing::ValuesIn(optimizer_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test

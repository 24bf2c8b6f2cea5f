// Every optimizer against trajectories recorded from PyTorch (tests/reference/optimizers.py), in
// every form that it has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/parameters/clip_grad.h"
#include "runtime/ops/shape/view.h"
#include "runtime/optim/registry.h"
#include "tests/support/golden.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using nlohmann::json;
using optim::OptimizerDef;

json recordings() { return json::parse(read_file(golden_path("optimizers/trajectories.json"))); }

std::vector<json> recorded_cases() { return recordings()["cases"].get<std::vector<json>>(); }

// Those that step without a closure: LBFGS has a test of its own.
std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerDef& row : optim::all_optimizers()) {
    if (row.name != "LBFGS") names.emplace_back(row.name);
  }
  return names;
}

const OptimizerDef& row_of(const std::string& name) {
  const auto& rows = optim::all_optimizers();
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const OptimizerDef& row) { return row.name == name; });
}

Tensor tensor_of(const json& values, const Shape& shape = {-1}) {
  const auto numbers = values.get<std::vector<double>>();
  const Tensor line = from_values(numbers, {static_cast<std::int64_t>(numbers.size())},
                                  {DType::float32, Device::cuda(0)});
  return ops::view(line, shape);
}

// Parameters are vectors where no shapes are recorded.
Shape shape_of_parameter(const json& recorded, std::size_t parameter) {
  if (!recorded.contains("shapes")) return {-1};
  const json& sizes = recorded["shapes"][parameter];
  return {sizes[0].get<std::int64_t>(), sizes[1].get<std::int64_t>()};
}

constexpr double kTolerance = 1e-5;
ops::Value option_of(const json& value, ops::ParamKind kind) {
  if (kind == ops::ParamKind::boolean) return value.get<bool>();
  if (kind == ops::ParamKind::number_list) return value.get<std::vector<double>>();
  if (kind == ops::ParamKind::integer) return value.get<std::int64_t>();
  if (kind == ops::ParamKind::string) return value.get<std::string>();
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

void expect_equal(const Tensor& actual, const json& expected, double tolerance = kTolerance) {
  const std::vector<double> values = to_doubles(actual);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number = expected[i].get<double>();
    EXPECT_NEAR(values[i], number, tolerance * std::max(1.0, std::abs(number)));
  }
}

void check_trajectory(const json& recorded, const json& form) {
  SCOPED_TRACE(recorded["options"].dump() + " " + form.dump());
  TestMachine machine({.values = ValueMode::keeps_values});
  std::vector<Tensor> parameters;
  for (std::size_t i = 0; i < recorded["parameters"].size(); ++i) {
    parameters.push_back(tensor_of(recorded["parameters"][i], shape_of_parameter(recorded, i)));
    parameters.back().set_requires_grad(true);
  }
  const OptimizerDef& row = row_of(recorded["optimizer"].get<std::string>());
  const auto optimizer = row.make(arguments_for(row, recorded, form, parameters));
  for (std::size_t step = 0; step < recorded["gradients"].size(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step + 1));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].set_grad(
          tensor_of(recorded["gradients"][step][i], shape_of_parameter(recorded, i)));
    }
    optimizer->step();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      expect_equal(parameters[i], recorded["after"][step][i], kTolerance);
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

// Options that change no number, and those that the recorded version does not have.
const std::set<std::string_view> kUnrecorded = {"params", "lr",         "foreach",
                                                "fused",  "capturable", "decoupled_weight_decay"};
const std::set<std::string_view> kNewer = {"NAdam.maximize", "RAdam.maximize"};

TEST_P(Trajectory, IsRecordedWithEveryOption) {
  std::set<std::string> recorded;
  for (const json& each : recorded_cases()) {
    if (each["optimizer"] != GetParam()) continue;
    for (const auto& [name, value] : each["options"].items()) recorded.insert(name);
  }
  for (const ops::Param& param : row_of(GetParam()).params) {
    if (kUnrecorded.contains(param.name)) continue;
    if (kNewer.contains(GetParam() + "." + std::string(param.name))) continue;
    EXPECT_TRUE(recorded.contains(std::string(param.name))) << param.name;
  }
}

double option_or(const json& options, const std::string& name, double otherwise) {
  if (!options.contains(name)) return otherwise;
  const json& value = options[name];
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

void check_clip(const json& recorded, bool foreach) {
  TestMachine machine({.values = ValueMode::keeps_values});
  std::vector<Tensor> parameters(3);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] = tensor_of({0.0, 0.0, 0.0});
    if (i < recorded["gradients"].size())
      parameters[i].set_grad(tensor_of(recorded["gradients"][i]));
  }
  const json& options = recorded["options"];
  if (recorded["op"] == "clip_grad_value_") {
    ops::clip_grad_value_(parameters, options["clip_value"].get<double>());
  } else {
    const Tensor norm = ops::clip_grad_norm_(parameters, option_or(options, "max_norm", 0.0),
                                             option_or(options, "norm_type", 2.0), false, foreach);
    EXPECT_NEAR(norm.item(), recorded["norm"].get<double>(), 1e-5);
  }
  for (std::size_t i = 0; i < recorded["after"].size(); ++i) {
    expect_equal(parameters[i].grad(), recorded["after"][i]);
  }
  EXPECT_FALSE(parameters.back().grad().defined());
}

TEST(ClippedGradients, EqualPyTorchs) {
  const json all = recordings();
  for (const json& recorded : all["clips"]) {
    SCOPED_TRACE(recorded["op"].get<std::string>() + " " + recorded["options"].dump());
    check_clip(recorded, true);
    check_clip(recorded, false);
  }
}

INSTANTIATE_TEST_SUITE_P(AllOptimizers, Trajectory, testing::ValuesIn(optimizer_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test

// Every module of the registry against values and gradients recorded from PyTorch
// (tests/reference/modules.py).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/nn/registry.h"
#include "tests/support/recorded_modules.h"
#include "tests/support/recorded_values.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

using nlohmann::json;

void run_backward(const std::vector<Tensor>& results, const json& recorded) {
  std::vector<Tensor> roots;
  std::vector<Tensor> grads;
  for (const Tensor& result : results) {
    if (result.requires_grad()) roots.push_back(result);
  }
  for (const json& grad : recorded["result_gradients"]) grads.push_back(tensor_of(grad));
  ASSERT_EQ(roots.size(), grads.size());
  backward(roots, grads, GraphRetention::release);
}

void check_case(const json& recorded) {
  TestMachine machine({.values = ValueMode::keeps_values});
  const nn::ModulePtr module = module_for(recorded);
  module->set_training(recorded["is_training"].get<bool>());
  const std::vector<ops::Value> inputs = inputs_of(recorded);
  if (module->type_name().starts_with("Lazy")) module->forward(inputs);  // has parameters then
  set_state(module->named_parameters(), recorded["parameters"]);
  set_state(module->named_buffers(), recorded["buffers"]);
  const bool has_graph = recorded.value("has_graph", true);
  const GradModeGuard mode(has_graph);
  const std::vector<Tensor> results = results_of(module->forward(inputs));
  ASSERT_EQ(results.size(), recorded["results"].size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    expect_equal(results[i], recorded["results"][i], "result " + std::to_string(i));
  }
  if (!has_graph) return;
  run_backward(results, recorded);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const json& gradient = recorded["input_gradients"][i];
    if (gradient.is_null()) continue;
    expect_equal(std::get<Tensor>(inputs[i]).grad(), gradient, "input " + std::to_string(i));
  }
  for (const nn::NamedTensor& named : module->named_parameters()) {
    expect_equal(named.tensor.grad(), recorded["parameter_gradients"][named.name], named.name);
  }
  for (const nn::NamedTensor& named : module->named_buffers()) {
    expect_equal(named.tensor, recorded["buffers_after"][named.name], named.name);
  }
}

std::vector<std::string> module_names() {
  std::vector<std::string> names;
  for (const nn::ModuleDef& row : nn::all_modules()) names.emplace_back(row.name);
  return names;
}

class ModuleReference : public testing::TestWithParam<std::string> {};

TEST_P(ModuleReference, ValuesAndGradientsEqualPyTorchs) {
  int cases = 0;
  for (const json& recorded : recorded_modules()) {
    if (recorded["module"] != GetParam()) continue;
    ++cases;
    SCOPED_TRACE(recorded["options"].dump() +
                 (recorded["is_training"].get<bool>() ? "" : " in evaluation"));
    check_case(recorded);
  }
  EXPECT_GT(cases, 0) << "record it in tests/reference/modules.py";
}

INSTANTIATE_TEST_SUITE_P(AllModules, ModuleReference, testing::ValuesIn(module_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace ohm::test

// Every op against values and gradients recorded from PyTorch (tests/reference/generate.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/ops/op_list.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/op_samples.h"
#include "tests/support/recorded_values.h"
#include "tests/support/test_machine.h"

namespace ohm::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(OHM_RECORDINGS_DIR) / "reference")) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<json> cases_of(const std::string& family) {
  std::ifstream file(fs::path(OHM_RECORDINGS_DIR) / "reference" / (family + ".json"));
  return json::parse(file)["cases"].get<std::vector<json>>();
}

Sample arguments_of(const json& recorded, const ops::OpDef& op) {
  Sample arguments;
  for (std::size_t i = 0; i < recorded["arguments"].size(); ++i) {
    arguments.push_back(argument_of(recorded["arguments"][i], op.params[i].kind));
  }
  return arguments;
}

// The leaves that PyTorch gave gradients for: floating tensors but the constants, in order.
std::vector<Tensor> leaves_of(const ops::OpDef& op, const Sample& arguments) {
  std::vector<Tensor> leaves;
  for (const std::size_t position : differentiable(op, arguments)) {
    for (const Tensor& leaf : tensors_in(arguments[position])) leaves.push_back(leaf);
  }
  return leaves;
}

void check_case(const json& recorded) {
  const ops::OpDef* op = ops::find_op(recorded["op"].get<std::string>());
  ASSERT_NE(op, nullptr);
  const Sample arguments = arguments_of(recorded, *op);
  const bool has_gradients = recorded.contains("gradients");
  if (has_gradients) require_gradients(*op, arguments);
  const std::vector<Tensor> results = tensors_in(call_op(*op, arguments));
  ASSERT_EQ(results.size(), recorded["results"].size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    expect_equal(results[i], recorded["results"][i], "result " + std::to_string(i));
  }
  if (!has_gradients) return;
  std::vector<Tensor> grads;
  for (const json& grad : recorded["result_gradients"]) grads.push_back(tensor_of(grad));
  std::vector<Tensor> outputs;
  for (const Tensor& result : results) {
    if (result.requires_grad()) outputs.push_back(result);
  }
  ASSERT_EQ(outputs.size(), grads.size());
  backward(outputs, grads, GraphRetention::release);
  const std::vector<Tensor> leaves = leaves_of(*op, arguments);
  ASSERT_EQ(leaves.size(), recorded["gradients"].size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    expect_equal(leaves[i].grad(), recorded["gradients"][i], "gradient " + std::to_string(i));
  }
}

class Reference : public testing::TestWithParam<std::string> {};

TEST_P(Reference, ValuesAndGradientsEqualPyTorchs) {
  TestMachine machine({.values = ValueMode::keeps_values});
  const std::vector<json> cases = cases_of(GetParam());
  ASSERT_FALSE(cases.empty());
  for (const json& recorded : cases) {
    SCOPED_TRACE(recorded["name"].get<std::string>());
    check_case(recorded);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Reference, testing::ValuesIn(family_names()),
                         [](const auto& instance) { return instance.param; });

// Ops whose values PyTorch cannot be asked for in the same way, and where they are tested instead.
const std::map<std::string_view, std::string_view> kUnrecorded = {
    {"dropout", "random: dropout_test.cpp"},
    {"alpha_dropout", "random: dropout_test.cpp"},
    {"dropout1d", "random: dropout_test.cpp"},
    {"dropout2d", "random: dropout_test.cpp"},
    {"dropout3d", "random: dropout_test.cpp"},
    {"multinomial", "random: sampling_test.cpp"},
    {"bernoulli", "random: sampling_test.cpp"},
    {"normal", "random: tensor_library_test.cpp"},
    {"gumbel_softmax", "random: sampling_test.cpp"},
    {"exponential_", "random: sampling_test.cpp"},
    {"random_", "random: sampling_test.cpp"},
    {"clip_grad_norm_", "of gradients: trajectory_test.cpp"},
    {"clip_grad_value_", "of gradients: trajectory_test.cpp"},
    {"clip_grads_with_norm_", "of gradients: gradient_norm_test.cpp"},
    {"vector_to_parameters", "of parameters: parameter_vector_test.cpp"},
};

// Compared with the op that makes a new tensor in gradient_test.cpp.
bool is_form_of_another(const ops::OpDef& op) {
  const std::string_view name = op.info.name;
  return name.back() == '_' && ops::find_op(name.substr(0, name.size() - 1)) != nullptr;
}

TEST(ReferenceCoverage, EveryOpIsRecorded) {
  std::set<std::string> recorded;
  for (const std::string& family : family_names()) {
    for (const json& each : cases_of(family)) recorded.insert(each["op"]);
  }
  for (const ops::OpDef& op : ops::all_ops()) {
    if (kUnrecorded.contains(op.info.name) || is_form_of_another(op)) continue;
    EXPECT_TRUE(recorded.contains(std::string(op.info.name))) << op.info.name;
  }
}

}  // namespace
}  // namespace ohm::test

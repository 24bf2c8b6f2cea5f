#include "tests/support/recorded_modules.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/arithmetic/copy.h"
#include "runtime/nn/registry.h"
#include "tests/support/golden.h"
#include "tests/support/recorded_values.h"

namespace ohm::test {

using nlohmann::json;

namespace {

const nn::ModuleDef& row_of(const std::string& name) {
  const auto& rows = nn::all_modules();
  return *std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
}

ops::Value input_of(const json& encoded) {
  if (encoded.is_null()) return {};
  if (encoded.is_boolean()) return encoded.get<bool>();
  return tensor_of(encoded);
}

}  // namespace

const std::vector<json>& recorded_modules() {
  static const auto cases = json::parse(read_file(recording_path("modules/modules.json")))["cases"]
                                .get<std::vector<json>>();
  return cases;
}

nn::ModulePtr module_for(const json& recorded) {
  const nn::ModuleDef& row = row_of(recorded["module"].get<std::string>());
  json options = recorded["options"];
  std::vector<ops::Value> arguments;
  for (const ops::Param& param : row.params) {
    const std::string name(param.name);
    if (param.kind == ops::ParamKind::device) {
      arguments.emplace_back(Device::cuda(0));
    } else if (options.contains(name)) {
      arguments.push_back(argument_of(options[name], param.kind));
    } else {
      arguments.push_back(param.fallback);
    }
    options.erase(name);
  }
  EXPECT_TRUE(options.empty()) << "unknown options: " << options.dump();
  return row.make(arguments);
}

void set_state(const std::vector<nn::NamedTensor>& state, const json& recorded) {
  ASSERT_EQ(state.size(), recorded.size());
  for (const nn::NamedTensor& named : state) {
    ASSERT_TRUE(recorded.contains(named.name)) << named.name;
    const Tensor values = tensor_of(recorded[named.name]);
    ASSERT_EQ(named.tensor.shape().str(), values.shape().str()) << named.name;
    copy_into(named.tensor, values);
  }
}

std::vector<ops::Value> inputs_of(const json& recorded) {
  const json& all_encoded = recorded["inputs"];
  // Self-attention is one tensor's; with a graph each is to have a gradient of its own.
  const bool shares_equal_ones = !recorded.value("has_graph", true);
  std::vector<ops::Value> inputs;
  for (std::size_t i = 0; i < all_encoded.size(); ++i) {
    const bool is_same = shares_equal_ones && i > 0 && all_encoded[i] == all_encoded[i - 1];
    inputs.push_back(is_same ? inputs.back() : input_of(all_encoded[i]));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (recorded["input_gradients"][i].is_null()) continue;
    std::get<Tensor>(inputs[i]).set_requires_grad(true);
  }
  return inputs;
}

std::vector<Tensor> results_of(const ops::Value& result) {
  if (const auto* list = std::get_if<std::vector<Tensor>>(&result)) return *list;
  return {std::get<Tensor>(result)};
}

}  // namespace ohm::test

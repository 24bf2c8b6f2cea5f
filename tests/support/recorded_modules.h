// Modules and their inputs as tests/reference/modules.py wrote them, on cuda:0.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/nn/module.h"

namespace ohm::test {

/// All recorded calls: of every module of the registry at least one.
const std::vector<nlohmann::json>& recorded_modules();

/// The module with its recorded options.
nn::ModulePtr module_for(const nlohmann::json& recorded);

/// Copies the recorded values into parameters or buffers, which must be PyTorch's, name by name.
void set_state(const std::vector<nn::NamedTensor>& state, const nlohmann::json& recorded);

/// What the module is called with; leaves where a gradient is recorded.
std::vector<ops::Value> inputs_of(const nlohmann::json& recorded);

/// The tensors that a module returned.
std::vector<Tensor> results_of(const ops::Value& result);

}  // namespace ohm::test

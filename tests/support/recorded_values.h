// Tensors and arguments as the scripts in tests/reference write them, and results compared with
// them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/ops/value.h"

namespace ohm::test {

/// {"dtype": …, "shape": […], "values": […]} on cuda:0.
Tensor tensor_of(const nlohmann::json& encoded);

/// An argument of a parameter of this kind; null: not given.
ops::Value argument_of(const nlohmann::json& encoded, ops::ParamKind kind);

/// Fails unless dtype, shape and values are the recorded ones: exactly for integers and what is not
/// finite, else as close as the dtype allows. `what` names it in messages.
void expect_equal(const Tensor& actual, const nlohmann::json& recorded, const std::string& what);

}  // namespace ohm::test

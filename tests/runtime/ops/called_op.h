// An op called by its name, as scripts call it, on the host.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/ops/op_list.h"
#include "runtime/tensor/tensor.h"

namespace ohm::test {

inline const TensorOptions kDouble{DType::float64, Device::cpu()};

/// Its one result. Throws what the op throws.
inline Tensor called(const std::string& op, std::vector<ops::Value> arguments) {
  return std::get<Tensor>(ops::find_op(op)->call(arguments));
}

inline Tensor called(const std::string& op, const Tensor& input, ops::Value other) {
  return called(op, {input, std::move(other)});
}

}  // namespace ohm::test

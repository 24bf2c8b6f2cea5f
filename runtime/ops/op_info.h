// An op's name, and what autocast does to its inputs.
#pragma once

#include <cstdint>
#include <string_view>

namespace ohm::ops {

/// What autocast does to an op's floating inputs on a GPU.
enum class CastPolicy : std::uint8_t {
  none,            ///< runs in the dtype of its inputs
  low_precision,   ///< casts float32 inputs to autocast's dtype
  float32,         ///< casts half-precision inputs to float32
  float32_result,  ///< keeps its inputs and asks for a float32 result: see OpFront::result_dtype
  widest,          ///< casts to the widest dtype among the inputs
};

struct OpInfo {
  std::string_view name;
  CastPolicy cast = CastPolicy::none;
};

}  // namespace ohm::ops

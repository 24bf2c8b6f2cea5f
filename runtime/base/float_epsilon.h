// How fine floating dtypes are.
#pragma once

#include <optional>

#include "runtime/base/dtype.h"

namespace ohm {

/// Between 1 and the next number; none of other dtypes.
constexpr std::optional<double> find_epsilon(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return 0x1p-10;
    case DType::bfloat16:
      return 0x1p-7;
    case DType::float32:
      return 0x1p-23;
    case DType::float64:
      return 0x1p-52;
    default:
      return std::nullopt;
  }
}

}  // namespace ohm

// The limits of floating dtypes, as torch.finfo has them.
#pragma once

#include <array>
#include <limits>

#include "runtime/base/dtype.h"

namespace ohm {

struct FloatLimits {
  DType dtype;
  double eps;  ///< between 1 and the next number
  double max;
  double tiny;  ///< the smallest normal number
  double resolution;
};

inline constexpr std::array<FloatLimits, 4> kFloatLimits = {{
    {DType::float16, 0x1p-10, 65504.0, 0x1p-14, 1e-3},
    {DType::bfloat16, 0x1p-7, 0x1.FEp127, 0x1p-126, 1e-2},
    {DType::float32, 0x1p-23, std::numeric_limits<float>::max(), 0x1p-126, 1e-6},
    {DType::float64, 0x1p-52, std::numeric_limits<double>::max(), 0x1p-1022, 1e-15},
}};

/// nullptr for other dtypes.
constexpr const FloatLimits* find_float_limits(DType dtype) {
  for (const FloatLimits& limits : kFloatLimits) {
    if (limits.dtype == dtype) return &limits;
  }
  return nullptr;
}

}  // namespace ohm

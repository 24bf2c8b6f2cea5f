// Element-wise functions with numbers that int64 holds and no double does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "runtime/arithmetic/whole_scalars.h"
#include "runtime/base/dtype.h"
#include "runtime/base/wrapping.h"

namespace ohm::ops {

/// x + factor · y
struct WholeScaledSum {
  std::int64_t factor;
  template <class T>
  T operator()(T x, T y) const {
    return wrapping_sum(x, wrapping_product(convert_element<T>(factor), y));
  }
};

/// x + factor · y · z
struct WholeAddcmul {
  std::int64_t factor;
  template <class T>
  T operator()(T x, T y, T z) const {
    return WholeScaledSum{factor}(x, wrapping_product(y, z));
  }
};

/// Where the running call's alpha is such a number, and the result of `dtype` int64. Term: that of
/// arithmetic.h, whose source includes this.
template <class Term>
std::optional<WholeScaledSum> whole_scaled_sum(const Term& term, DType dtype) {
  const std::optional<std::int64_t> alpha = whole_scalar(term.alpha, dtype);
  if (!alpha) return std::nullopt;
  return WholeScaledSum{term.is_subtracted ? wrapping_negation(*alpha) : *alpha};
}

/// `number` under the mask.
struct WholeMaskedFill {
  std::int64_t number;
  template <class T>
  T operator()(T x, T mask) const {
    return mask != T(0) ? convert_element<T>(number) : x;
  }
};

/// The upper bound counts where both are crossed.
struct WholeClamp {
  std::int64_t min;
  std::int64_t max;
  template <class T>
  T operator()(T x) const {
    return std::min(std::max(x, convert_element<T>(min)), convert_element<T>(max));
  }
};

}  // namespace ohm::ops

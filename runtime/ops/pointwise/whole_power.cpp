#include "runtime/ops/pointwise/whole_power.h"

#include <cmath>
#include <stdexcept>

#include "runtime/base/wrapping.h"

namespace ohm::ops {
namespace {

struct WholePower {
  template <class T>
  T operator()(T base, T exponent) const {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      if (exponent < 0) return of_inverse(base, exponent);
      std::int64_t power = 1;
      for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1) power = wrapping_product(power, base);
        base = wrapping_product(base, base);
      }
      return power;
    } else {
      return static_cast<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    }
  }

  static std::int64_t of_inverse(std::int64_t base, std::int64_t exponent) {
    if (base == 1) return 1;
    if (base != -1) return 0;
    return exponent % 2 == 0 ? 1 : -1;
  }
};

}  // namespace

void raise_whole(const OpInfo& info, const Tensor& out, const TensorOrNumber& base,
                 const TensorOrNumber& exponent) {
  if (is_number(exponent) && number_of(exponent) < 0.0) {
    throw std::invalid_argument(
        fmt::format("[{}] Integers to negative integer powers are not allowed.", info.name));
  }
  map_elements(out, out.dtype(), WholePower(), input_of(base), input_of(exponent));
}

}  // namespace ohm::ops

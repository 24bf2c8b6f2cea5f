#include "runtime/ops/whole_power.h"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/binary_kernel.h"

namespace ohm::ops {
namespace {

std::int64_t to_the(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  std::uint64_t result = 1;
  auto factor = static_cast<std::uint64_t>(base);
  for (; exponent > 0; exponent /= 2, factor *= factor) {
    if (exponent % 2 != 0) result *= factor;
  }
  return static_cast<std::int64_t>(result);
}

// Loops compute whole numbers in int64; they are compiled for the other types, too.
struct WholePower {
  template <class T>
  T operator()(T base, T exponent) const {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      return to_the(base, exponent);
    } else {
      return base;
    }
  }
};

DType whole_dtype(const OpInfo& info, const Tensor& tensor, const TensorOrNumber& other) {
  const DType dtype = result_dtype(tensor, other);
  if (dtype != DType::boolean) return dtype;
  throw std::invalid_argument(fmt::format("[{}] not implemented for bool", info.name));
}

}  // namespace

Tensor whole_power(const OpInfo& info, const Tensor& base, const TensorOrNumber& exponent) {
  const DType dtype = whole_dtype(info, base, exponent);
  if (is_number(exponent) && number_of(exponent) < 0.0) {
    throw std::invalid_argument(
        fmt::format("[{}] Integers to negative integer powers are not allowed.", info.name));
  }
  return binary_new(info, base, exponent, dtype, WholePower());
}

Tensor whole_power(const OpInfo& info, Number base, const Tensor& exponent) {
  const DType dtype = whole_dtype(info, exponent, base);
  Tensor out = empty_for(exponent, base, dtype, info);
  // The base as a number on the device, but for 1: the result is filled then.
  const Tensor number =
      base.value == 1.0 ? Tensor() : full({}, base.value, {DType::int64, exponent.device()});
  map_elements(out, dtype, WholePower(), base.value, exponent);
  return out;
}

}  // namespace ohm::ops

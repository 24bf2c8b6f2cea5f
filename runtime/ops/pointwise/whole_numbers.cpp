#include "runtime/ops/pointwise/whole_numbers.h"

#include <fmt/core.h>

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kBitwiseNot{"bitwise_not"};
constexpr OpInfo kBitwiseAnd{"bitwise_and"};
constexpr OpInfo kBitwiseOr{"bitwise_or"};
constexpr OpInfo kBitwiseXor{"bitwise_xor"};
constexpr OpInfo kLeftShift{"bitwise_left_shift"};
constexpr OpInfo kRightShift{"bitwise_right_shift"};
constexpr OpInfo kGcd{"gcd"};
constexpr OpInfo kLcm{"lcm"};

void refuse_fractions(const OpInfo& info, DType dtype) {
  if (!is_floating(dtype)) return;
  throw std::invalid_argument(
      fmt::format("[{}] expected whole numbers, got {}", info.name, name_of(dtype)));
}

// Loops compute whole numbers in int64; they are compiled for the other types, too.
template <class F>
auto of_integers(F fn) {
  return [fn](auto x, auto y) {
    using T = decltype(x);
    if constexpr (std::is_same_v<T, std::int64_t>) {
      return static_cast<std::int64_t>(fn(x, y));
    } else {
      return x;
    }
  };
}

DType whole_number_dtype(const OpInfo& info, const Tensor& input, const TensorOrNumber& other) {
  const DType dtype = result_dtype(input, other);
  refuse_fractions(info, dtype);
  if (dtype == DType::boolean) {
    throw std::invalid_argument(fmt::format("[{}] is not there for bools", info.name));
  }
  return dtype;
}

template <class F>
Tensor whole_number(const OpInfo& info, const Tensor& input, const TensorOrNumber& other, F fn) {
  const OpFront front(info);
  const DType dtype = whole_number_dtype(info, input, other);
  return binary_new(info, input, other, dtype, of_integers(fn));
}

// `of_bools` has kernels.
template <class F, class OfBools>
Tensor bit_by_bit(const OpInfo& info, const Tensor& input, const TensorOrNumber& other, F fn,
                  OfBools of_bools) {
  const OpFront front(info);
  const DType dtype = result_dtype(input, other);
  refuse_fractions(info, dtype);
  if (dtype == DType::boolean) return binary_new(info, input, other, dtype, of_bools);
  return binary_new(info, input, other, dtype, of_integers(fn));
}

// ---- one element --------------------------------------------------------------------------------

constexpr std::int64_t kBits = 64;

std::int64_t left_shifted(std::int64_t x, std::int64_t places) {
  if (places < 0 || places >= kBits) return 0;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) << places);
}

// Of too many places the sign is left.
std::int64_t right_shifted(std::int64_t x, std::int64_t places) {
  return x >> (places < 0 || places >= kBits ? kBits - 1 : places);
}

std::int64_t flipped_bits(std::int64_t x, std::int64_t) { return ~x; }
std::int64_t both_bits(std::int64_t x, std::int64_t y) { return x & y; }
std::int64_t either_bit(std::int64_t x, std::int64_t y) { return x | y; }
std::int64_t one_bit_alone(std::int64_t x, std::int64_t y) { return x ^ y; }

std::uint64_t magnitude(std::int64_t x) {
  const auto bits = static_cast<std::uint64_t>(x);
  return x < 0 ? std::uint64_t{0} - bits : bits;
}

std::int64_t common_divisor(std::int64_t x, std::int64_t y) {
  return static_cast<std::int64_t>(std::gcd(magnitude(x), magnitude(y)));
}

std::int64_t common_multiple(std::int64_t x, std::int64_t y) {
  const std::uint64_t divisor = std::gcd(magnitude(x), magnitude(y));
  if (divisor == 0) return 0;
  return static_cast<std::int64_t>(magnitude(x) / divisor * magnitude(y));
}

// ---- ops ----------------------------------------------------------------------------------------

Tensor bitwise_left_shift(const Tensor& input, const TensorOrNumber& other) {
  return whole_number(kLeftShift, input, other, &left_shifted);
}
Tensor bitwise_right_shift(const Tensor& input, const TensorOrNumber& other) {
  return whole_number(kRightShift, input, other, &right_shifted);
}
Tensor gcd(const Tensor& input, const Tensor& other) {
  return whole_number(kGcd, input, other, &common_divisor);
}
Tensor lcm(const Tensor& input, const Tensor& other) {
  return whole_number(kLcm, input, other, &common_multiple);
}

}  // namespace

Tensor bitwise_not(const Tensor& input) {
  const OpFront front(kBitwiseNot);
  const DType dtype = input.dtype();
  refuse_fractions(kBitwiseNot, dtype);
  if (dtype == DType::boolean) {
    return binary_new(kBitwiseNot, input, Number(0), dtype, functors::Equal());
  }
  return binary_new(kBitwiseNot, input, Number(0), dtype, of_integers(&flipped_bits));
}
Tensor bitwise_and(const Tensor& input, const TensorOrNumber& other) {
  return bit_by_bit(kBitwiseAnd, input, other, &both_bits, functors::Both());
}
Tensor bitwise_or(const Tensor& input, const TensorOrNumber& other) {
  return bit_by_bit(kBitwiseOr, input, other, &either_bit, functors::Either());
}
Tensor bitwise_xor(const Tensor& input, const TensorOrNumber& other) {
  return bit_by_bit(kBitwiseXor, input, other, &one_bit_alone, functors::EitherAlone());
}

std::vector<OpDef> whole_number_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kBitwiseNot, kBoth, &bitwise_not, {"input"}),
      define(kBitwiseAnd, kBoth, &bitwise_and, {"input", "other"}),
      define(kBitwiseOr, kBoth, &bitwise_or, {"input", "other"}),
      define(kBitwiseXor, kBoth, &bitwise_xor, {"input", "other"}),
      define(kLeftShift, kBoth, &bitwise_left_shift, {"input", "other"}),
      define(kRightShift, kBoth, &bitwise_right_shift, {"input", "other"}),
      define(kGcd, kBoth, &gcd, {"input", "other"}),
      define(kLcm, kBoth, &lcm, {"input", "other"}),
  };
}

}  // namespace ohm::ops

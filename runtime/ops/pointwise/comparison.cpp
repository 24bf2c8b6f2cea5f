#include "runtime/ops/pointwise/comparison.h"

#include <limits>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kIsFinite{"isfinite"};
constexpr OpInfo kIsInf{"isinf"};
constexpr OpInfo kIsNan{"isnan"};
constexpr OpInfo kIsPosInf{"isposinf"};
constexpr OpInfo kIsNegInf{"isneginf"};
constexpr OpInfo kEq{"eq"};
constexpr OpInfo kNe{"ne"};
constexpr OpInfo kLt{"lt"};
constexpr OpInfo kLe{"le"};
constexpr OpInfo kGt{"gt"};
constexpr OpInfo kGe{"ge"};
constexpr OpInfo kLogicalNot{"logical_not"};
constexpr OpInfo kLogicalAnd{"logical_and"};
constexpr OpInfo kLogicalOr{"logical_or"};
constexpr OpInfo kLogicalXor{"logical_xor"};

template <class F>
Tensor compare(const OpInfo& info, const Tensor& input, const TensorOrNumber& other, F&& fn) {
  const OpFront front(info);
  Tensor out = empty_for(input, other, DType::boolean, info);
  map_elements(out, result_dtype(input, other), fn, input, input_of(other));
  return out;
}

// The same for every element.
Tensor answered(const OpInfo& info, const Tensor& input, bool answer) {
  const OpFront front(info);
  Tensor out = empty_for_loop(input.shape(), {&input}, {DType::boolean, input.device()});
  fill_values(out, answer ? 1.0 : 0.0);
  return out;
}

// Not-a-number is.
Tensor unlike_itself(const Tensor& input) {
  const OpFront front(kIsNan);
  Tensor out = empty_for_loop(input.shape(), {&input}, {DType::boolean, input.device()});
  map_elements(out, input.dtype(), functors::Unequal(), input, input);
  return out;
}

// Whether an element is this infinity: whole numbers are not.
Tensor equals_infinity(const OpInfo& info, const Tensor& input, double infinity) {
  if (!is_floating(input.dtype())) return answered(info, input, false);
  return compare(info, input, infinity, functors::Equal());
}
Tensor isposinf(const Tensor& input) {
  return equals_infinity(kIsPosInf, input, std::numeric_limits<double>::infinity());
}
Tensor isneginf(const Tensor& input) {
  return equals_infinity(kIsNegInf, input, -std::numeric_limits<double>::infinity());
}

}  // namespace

Tensor eq(const Tensor& input, const TensorOrNumber& other) {
  return compare(kEq, input, other, functors::Equal());
}
Tensor ne(const Tensor& input, const TensorOrNumber& other) {
  return compare(kNe, input, other, functors::Unequal());
}
Tensor lt(const Tensor& input, const TensorOrNumber& other) {
  return compare(kLt, input, other, functors::Less());
}
Tensor le(const Tensor& input, const TensorOrNumber& other) {
  return compare(kLe, input, other, functors::LessOrEqual());
}
Tensor gt(const Tensor& input, const TensorOrNumber& other) {
  return compare(kGt, input, other, functors::Greater());
}
Tensor ge(const Tensor& input, const TensorOrNumber& other) {
  return compare(kGe, input, other, functors::GreaterOrEqual());
}

Tensor isfinite(const Tensor& input) {
  if (!is_floating(input.dtype())) {
    return answered(kIsFinite, input, true);
  }
  // The size of x, whether it is not infinite, whether x is a number: three temporaries.
  const OpFront front(kIsFinite);
  const Tensor size = map_new(input, functors::Abs());
  const Tensor is_bounded = ne(size, std::numeric_limits<double>::infinity());
  const Tensor is_number = eq(input, input);
  Tensor out = empty_for_loop(input.shape(), {&input}, {DType::boolean, input.device()});
  map_elements(out, DType::boolean, functors::Both(), is_bounded, is_number);
  return out;
}
Tensor isinf(const Tensor& input) {
  const OpFront front(kIsInf);
  if (!is_floating(input.dtype())) {
    return answered(kIsInf, input, false);
  }
  const Tensor size = map_new(input, functors::Abs());
  return eq(size, std::numeric_limits<double>::infinity());
}
Tensor isnan(const Tensor& input) { return unlike_itself(input); }

Tensor logical_not(const Tensor& input) {
  return compare(kLogicalNot, input, 0.0, functors::Equal());
}
Tensor logical_and(const Tensor& input, const Tensor& other) {
  return compare(kLogicalAnd, input, other, functors::Both());
}
Tensor logical_or(const Tensor& input, const Tensor& other) {
  return compare(kLogicalOr, input, other, functors::Either());
}

Tensor logical_xor(const Tensor& input, const Tensor& other) {
  return compare(kLogicalXor, input, other, functors::EitherAlone());
}

std::vector<OpDef> comparison_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kEq, kBoth, &eq, {"input", "other"}),
      define(kNe, kBoth, &ne, {"input", "other"}),
      define(kLt, kBoth, &lt, {"input", "other"}),
      define(kLe, kBoth, &le, {"input", "other"}),
      define(kGt, kBoth, &gt, {"input", "other"}),
      define(kGe, kBoth, &ge, {"input", "other"}),
      define(kIsFinite, kBoth, &isfinite, {"input"}),
      define(kIsInf, kBoth, &isinf, {"input"}),
      define(kIsNan, kBoth, &isnan, {"input"}),
      define(kIsPosInf, kBoth, &isposinf, {"input"}),
      define(kIsNegInf, kBoth, &isneginf, {"input"}),
      define(kLogicalNot, kBoth, &logical_not, {"input"}),
      define(kLogicalAnd, kBoth, &logical_and, {"input", "other"}),
      define(kLogicalOr, kBoth, &logical_or, {"input", "other"}),
      define(kLogicalXor, kBoth, &logical_xor, {"input", "other"}),
  };
}

}  // namespace ohm::ops

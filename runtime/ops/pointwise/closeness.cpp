#include "runtime/ops/pointwise/closeness.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/autograd/grad_mode.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/reduction.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kEqual{"equal"};
constexpr OpInfo kIsClose{"isclose"};

// What is answered here and now.
void require_values(const OpInfo& info, const Tensor& input) {
  if (!lacks_values(input)) return;
  throw std::invalid_argument(
      fmt::format("[{}] the answer depends on values, which a size-only device does not keep: "
                  "values = true keeps them",
                  info.name));
}

void require_tolerance(const char* name, double tolerance) {
  if (tolerance >= 0.0) return;
  throw std::invalid_argument(fmt::format(
      "[isclose] {} must be greater than or equal to zero, but got {}", name, tolerance));
}

Tensor allowed_distance(const Tensor& other, double rtol, double atol) {
  const Tensor part = mul(other, rtol);
  const Tensor size = abs(part);
  return add(size, atol);
}

Tensor distance(const Tensor& input, const Tensor& other) {
  const Tensor difference = sub(input, other);
  return abs(difference);
}

// first = first op second, seen by no graph.
template <class F>
void combine_into(const Tensor& first, const Tensor& second, F&& fn) {
  map_elements(first, DType::boolean, fn, first, second);
}

void mark_both_nan(const Tensor& close, const Tensor& input, const Tensor& other) {
  if (!(close.shape() == input.shape())) {  // it is written over
    throw std::invalid_argument(
        fmt::format("[isclose] output with shape {} doesn't match the broadcast shape {}",
                    input.shape().str(), close.shape().str()));
  }
  const Tensor is_nan = isnan(input);
  {
    const Tensor is_other_nan = isnan(other);
    combine_into(is_nan, is_other_nan, functors::Both());
  }
  combine_into(close, is_nan, functors::Either());
}

bool is_one_place(const Tensor& a, const Tensor& b) {
  return &a.storage() == &b.storage() && a.impl()->offset == b.impl()->offset &&
         a.dtype() == b.dtype() && a.strides() == b.strides();
}

}  // namespace

bool equal(const Tensor& input, const Tensor& other) {
  const OpFront front(kEqual);
  const GradModeGuard no_graph(false);
  require_same_device(input, other, kEqual);
  if (!(input.shape() == other.shape())) return false;
  if (input.numel() == 0 || is_one_place(input, other)) return true;
  require_values(kEqual, input);
  const Tensor each = eq(input, other);
  return all(each).item() != 0.0;
}

Tensor isclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan) {
  const OpFront front(kIsClose);
  require_same_device(input, other, kIsClose);
  if (input.dtype() != other.dtype()) {
    throw std::invalid_argument(fmt::format("[isclose] {} did not match {}", name_of(input.dtype()),
                                            name_of(other.dtype())));
  }
  require_tolerance("rtol", rtol);
  require_tolerance("atol", atol);
  Tensor close = eq(input, other);
  const bool is_real = is_floating(input.dtype());
  if (equal_nan && is_real) mark_both_nan(close, input, other);
  if (rtol == 0.0 && atol == 0.0) return close;
  const Tensor expected = is_real ? other : to_dtype(other, DType::float32);
  const Tensor allowed = allowed_distance(expected, rtol, atol);
  const Tensor actual = distance(input, expected);
  const Tensor is_near = isfinite(actual);
  {
    const Tensor is_allowed = le(actual, allowed);
    combine_into(is_near, is_allowed, functors::Both());
  }
  combine_into(close, is_near, functors::Either());
  return close;
}

bool allclose(const Tensor& input, const Tensor& other, double rtol, double atol, bool equal_nan) {
  require_values(kIsClose, input);
  const Tensor each = isclose(input, other, rtol, atol, equal_nan);
  return all(each).item() != 0.0;
}

std::vector<OpDef> closeness_ops() {
  return {define(kIsClose, kFunction | kMethod, &isclose,
                 {"input", "other", {"rtol", 1e-5}, {"atol", 1e-8}, {"equal_nan", false}})};
}

}  // namespace ohm::ops

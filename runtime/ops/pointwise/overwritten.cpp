#include "runtime/ops/pointwise/overwritten.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/float_epsilon.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/inplace_unary.h"
#include "runtime/ops/shape/rearrange.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kTriuInplace{"triu_"};
constexpr OpInfo kTrilInplace{"tril_"};
constexpr OpInfo kClampMinInplace{"clamp_min_"};
constexpr OpInfo kClampMaxInplace{"clamp_max_"};
constexpr OpInfo kBernoulliInplace{"bernoulli_"};
constexpr OpInfo kExponentialInplace{"exponential_"};
constexpr OpInfo kRandomInplace{"random_"};
constexpr OpInfo kLogicalAndInplace{"logical_and_"};
constexpr OpInfo kLogicalOrInplace{"logical_or_"};
constexpr OpInfo kLogicalXorInplace{"logical_xor_"};
constexpr OpInfo kLogicalNotInplace{"logical_not_"};

// ---- triangles ----------------------------------------------------------------------------------

// Zeros where the column is below the row's first one, or above the last one that is kept.
void clear_outside(const Tensor& input, std::int64_t diagonal, bool keeps_upper) {
  if (!input.has_values()) return;
  const std::int64_t rows = input.shape()[input.dims() - 2];
  const std::int64_t columns = input.shape()[input.dims() - 1];
  std::int64_t number = 0;
  visit_dtype(input.dtype(), [&]<class T>(TypeTag<T>) {
    T* const elements = input.data<T>();
    for_each_offset(input.shape(), input.strides(), [&](std::int64_t offset) {
      const std::int64_t line = number % columns - number / columns % rows;
      if (keeps_upper ? line < diagonal : line > diagonal) elements[offset] = T();
      ++number;
    });
  });
}

Tensor triangle_over(const OpInfo& info, std::string_view node, const Tensor& input,
                     std::int64_t diagonal, bool keeps_upper) {
  const OpFront front(info);
  if (input.dims() < 2) {
    throw std::invalid_argument(fmt::format("[{}] needs at least 2 dimensions, but got {}",
                                            info.name, input.shape().str()));
  }
  Recorder record = Recorder::overwriting(info.name, node, {&input});
  begin_inplace_write(input, info.name);
  clear_outside(input, diagonal, keeps_upper);
  record.attach_differentiable(input, [diagonal, keeps_upper](BackwardCall& call) {
    return TensorList{keeps_upper ? triu(call.grad(), diagonal) : tril(call.grad(), diagonal)};
  });
  return input;
}

Tensor triu_(const Tensor& input, std::int64_t diagonal) {
  return triangle_over(kTriuInplace, "TriuBackward", input, diagonal, true);
}
Tensor tril_(const Tensor& input, std::int64_t diagonal) {
  return triangle_over(kTrilInplace, "TrilBackward", input, diagonal, false);
}

// ---- bounds -------------------------------------------------------------------------------------

Tensor clamp_min_(const Tensor& input, const TensorOrNumber& min) {
  return clamp_by_(input, min, std::nullopt);
}
Tensor clamp_max_(const Tensor& input, const TensorOrNumber& max) {
  return clamp_by_(input, std::nullopt, max);
}

// ---- draws --------------------------------------------------------------------------------------

// What was there has no influence on what is: its gradient is zeros.
template <class Draw>
Tensor drawn_over(const OpInfo& info, std::string_view node, const Tensor& input, Draw draw) {
  const OpFront front(info);
  Recorder record = Recorder::overwriting(info.name, node, {&input});
  begin_inplace_write(input, info.name);
  draw();
  if (record.is_needed()) {
    record.attach(input, [](BackwardCall& call) { return TensorList{zeros_like(call.grad())}; });
  }
  return input;
}

Tensor bernoulli_(const Tensor& input, double p) {
  if (!(p >= 0.0 && p <= 1.0)) {
    throw std::invalid_argument(
        fmt::format("[bernoulli_] expects p to be in [0, 1], but got p={}", p));
  }
  require_floating(input, kBernoulliInplace);
  return drawn_over(kBernoulliInplace, "BernoulliBackward", input,
                    [&] { fill_bernoulli(input, p, 1.0); });
}

// How many integers, from 0 on, a dtype holds without a gap.
std::int64_t integers_of(DType dtype) {
  if (const std::optional<double> epsilon = find_epsilon(dtype)) {
    return static_cast<std::int64_t>(2.0 / *epsilon) + 1;
  }
  if (dtype == DType::boolean) return 2;
  const auto bits = 8 * item_bytes(dtype) - (dtype == DType::uint8 ? 0 : 1);
  return bits == 63 ? std::numeric_limits<std::int64_t>::max() : std::int64_t{1} << bits;
}

// One number alone is where the draws end.
Tensor random_(const Tensor& input, std::optional<std::int64_t> from,
               std::optional<std::int64_t> to) {
  const std::int64_t low = to ? from.value_or(0) : 0;
  const std::int64_t high = to ? *to : from.value_or(integers_of(input.dtype()));
  require_few_integers(low, high, kRandomInplace.name);
  return drawn_over(kRandomInplace, "RandomBackward", input,
                    [&] { fill_integers(input, low, high); });
}

// ---- truth values -------------------------------------------------------------------------------

void require_fit(const OpInfo& info, const Tensor& input, const TensorOrNumber& other) {
  const Tensor* const tensor = std::get_if<Tensor>(&other);
  if (tensor == nullptr) return;
  require_same_device(input, *tensor, info);
  if (!(broadcast_shapes(input.shape(), tensor->shape(), info.name.data()) == input.shape())) {
    throw std::invalid_argument(
        fmt::format("[{}] output with shape {} doesn't match the broadcast shape of {}", info.name,
                    input.shape().str(), tensor->shape().str()));
  }
  require_no_partial_overlap(input, *tensor, info.name);
}

template <class F>
void write_truth(const OpInfo& info, const Tensor& input, const TensorOrNumber& other, F fn) {
  begin_inplace_write(input, info.name);
  map_elements(input, result_dtype(input, other), fn, input, input_of(other));
}

// They have no gradient.
template <class F>
Tensor truth_over(const OpInfo& info, const Tensor& input, const TensorOrNumber& other, F fn) {
  const OpFront front(info);
  require_fit(info, input, other);
  const Recorder record = Recorder::overwriting(info.name, "NotImplemented", {&input});
  if (record.is_needed()) {
    throw std::invalid_argument(fmt::format(
        "[{}] is not there for tensors that require grad: detach() it first", info.name));
  }
  write_truth(info, input, other, fn);
  return input;
}

Tensor logical_and_(const Tensor& input, const Tensor& other) {
  return truth_over(kLogicalAndInplace, input, other, functors::Both());
}
Tensor logical_or_(const Tensor& input, const Tensor& other) {
  return truth_over(kLogicalOrInplace, input, other, functors::Either());
}
Tensor logical_xor_(const Tensor& input, const Tensor& other) {
  return truth_over(kLogicalXorInplace, input, other, functors::EitherAlone());
}
Tensor logical_not_(const Tensor& input) {
  return truth_over(kLogicalNotInplace, input, Number(0), functors::Equal());
}

}  // namespace

// −log(1 − u) / lambda of uniform draws.
Tensor exponential_(const Tensor& input, double lambda) {
  if (!(lambda > 0.0)) {
    throw std::invalid_argument(
        fmt::format("[exponential_] expects lambda > 0.0, but found lambda={}", lambda));
  }
  require_floating(input, kExponentialInplace);
  return drawn_over(kExponentialInplace, "ExponentialBackward", input, [&] {
    fill_uniform(input, 0.0, 1.0);
    map_floating(
        input, input.dtype(), [lambda](double u) { return -std::log1p(-u) / lambda; }, input);
  });
}

std::vector<OpDef> overwritten_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName diagonal{"diagonal", std::int64_t{0}};
  return {
      define(kTriuInplace, kMethod, &triu_, {"input", diagonal}),
      define(kTrilInplace, kMethod, &tril_, {"input", diagonal}),
      define(kClampMinInplace, kBoth, &clamp_min_, {"input", "min"}),
      define(kClampMaxInplace, kBoth, &clamp_max_, {"input", "max"}),
      define(kBernoulliInplace, kMethod, &bernoulli_, {"input", {"p", 0.5}}),
      define(kExponentialInplace, kMethod, &exponential_, {"input", {"lambd", 1.0}}),
      define(kRandomInplace, kMethod, &random_, {"input", "from", "to"}),
      define(kLogicalAndInplace, kMethod, &logical_and_, {"input", "other"}),
      define(kLogicalOrInplace, kMethod, &logical_or_, {"input", "other"}),
      define(kLogicalXorInplace, kMethod, &logical_xor_, {"input", "other"}),
      define(kLogicalNotInplace, kMethod, &logical_not_, {"input"}),
  };
}

}  // namespace ohm::ops

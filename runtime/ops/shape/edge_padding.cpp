#include "runtime/ops/shape/edge_padding.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/shape/arrangement.h"
#include "runtime/ops/shape/slice.h"

namespace ohm::ops {
namespace {

using functors::Beyond;

[[noreturn]] void refuse(const std::string& text) { throw std::invalid_argument("[pad] " + text); }

int padded_dims(const Shape& pad) { return pad.dims() / 2; }

// The pairs of `pad` begin with the last dimension's.
int dim_of_pair(const Tensor& input, int pair) { return input.dims() - 1 - pair; }

void require_pairs(const Tensor& input, const Shape& pad, const std::string& mode) {
  const int count = padded_dims(pad);
  const int further = input.dims() - count;
  const bool fits =
      pad.dims() % 2 == 0 && count >= 1 && count <= 3 && (further == 1 || further == 2);
  if (fits) return;
  refuse(
      fmt::format("mode \"{}\" pads the last dimensions of [N, C, …] or [C, …], one to three of "
                  "them: {} does not fit an input of shape {}",
                  mode, pad.str(), input.shape().str()));
}

// The result's shape. `limit`: by how much a dimension may be padded.
template <class Limit>
Shape padded_shape(const Tensor& input, const Shape& pad, const Limit& limit) {
  Shape sizes = input.shape();
  for (int pair = 0; pair < padded_dims(pad); ++pair) {
    const int dim = dim_of_pair(input, pair);
    const std::int64_t size = input.shape()[dim];
    const std::int64_t before = pad[2 * pair];
    const std::int64_t after = pad[2 * pair + 1];
    const std::int64_t largest = limit(size);
    if (before > largest || after > largest) {
      refuse(fmt::format("padding ({}, {}) is more than dimension {} of {} allows: {}", before,
                         after, dim, input.shape().str(), largest));
    }
    const bool is_too_large = __builtin_add_overflow(size, before, &sizes[dim]) ||
                              __builtin_add_overflow(sizes[dim], after, &sizes[dim]);
    if (is_too_large || sizes[dim] < 1) {
      refuse(fmt::format("{} leaves nothing of dimension {} of {}", pad.str(), dim,
                         input.shape().str()));
    }
  }
  return sizes;
}

// ---- mirrored edges, and the last elements again ------------------------------------------------

struct EdgePlan {
  Beyond beyond;
  int dims;  ///< that are padded
  Shape input;
  Shape output;
  Shape before;  ///< of each dimension
};

EdgePlan edge_plan(const Tensor& input, const Shape& pad, Beyond beyond) {
  constexpr std::int64_t kLargestSize = std::int64_t{1} << 48U;
  require_floating(input, kPad);
  const auto limit = [&](std::int64_t size) {
    return beyond == Beyond::reflected ? size - 1 : kLargestSize;
  };
  EdgePlan plan{beyond, padded_dims(pad), input.shape(), padded_shape(input, pad, limit),
                Shape(input.dims(), 0)};
  for (int pair = 0; pair < plan.dims; ++pair) {
    const int dim = dim_of_pair(input, pair);
    if (input.shape()[dim] < 1) refuse("nothing can be taken from an input without elements");
    plan.before[dim] = pad[2 * pair];
  }
  return plan;
}

functors::Arrangement edge_arrangement(const EdgePlan& plan, const Tensor& out,
                                       const Tensor& input) {
  functors::Arrangement arrangement = arrangement_of(out, input);
  arrangement.beyond = plan.beyond;
  for (int dim = 0; dim < out.dims(); ++dim) arrangement.shifts[dim] = -plan.before[dim];
  return arrangement;
}

Tensor with_edges(const EdgePlan& plan, const Tensor& given) {
  Tensor out = empty(plan.output, options_of(given));
  const Tensor input = plan.beyond == Beyond::reflected ? row_major(given) : given;
  if (!out.has_values()) return out;
  run_floating_rows(functors::Rearranged{edge_arrangement(plan, out, input), 0.0}, out.dtype(),
                    thread_for_each(out.numel()), {{out}, {input}});
  return out;
}

Tensor edge_gradient(const EdgePlan& plan, const Tensor& incoming) {
  Tensor out = empty(plan.input, options_of(incoming));
  const bool is_copied = plan.beyond == Beyond::reflected && plan.dims < 3;
  const Tensor grad = is_copied ? row_major(incoming) : incoming;
  if (!out.has_values()) return out;
  functors::RearrangedBackward backward{edge_arrangement(plan, grad, out), {}};
  std::copy(grad.strides().begin(), grad.strides().end(), backward.grad.of);
  run_floating_rows(backward, out.dtype(), thread_for_each(out.numel()), {{out}, {grad}});
  return out;
}

Tensor pad_by_edges(const EdgePlan& plan, const Tensor& input);

// As edge_gradient(), with a graph: the gradient does not depend on the input's values.
Tensor recorded_edge_gradient(const EdgePlan& plan, const Tensor& grad, const Tensor& input) {
  Recorder record("EdgePadBackwardBackward", {&grad, &input});
  Tensor out = edge_gradient(plan, grad);
  record.attach_differentiable(out, [plan](BackwardCall& call) {
    TensorList grads(2);
    if (call.needs(0)) grads[0] = pad_by_edges(plan, call.grad());
    if (call.needs(1)) grads[1] = zeros(plan.input, options_of(call.grad()));
    return grads;
  });
  return out;
}

Tensor pad_by_edges(const EdgePlan& plan, const Tensor& input) {
  Recorder record("EdgePadBackward", {&input});
  record.save(input);
  Tensor out = with_edges(plan, input);
  record.attach_differentiable(out, [plan](BackwardCall& call) {
    return TensorList{call.is_recorded() ? recorded_edge_gradient(plan, call.grad(), call.saved(0))
                                         : edge_gradient(plan, call.grad())};
  });
  return out;
}

// ---- the other end ------------------------------------------------------------------------------

Tensor range_of(const Tensor& tensor, int dim, std::int64_t start, std::int64_t end) {
  return slice(tensor, dim, start, end, 1);
}

struct Sides {
  std::int64_t before;
  std::int64_t after;

  std::int64_t zeros_before() const { return std::max<std::int64_t>(before, 0); }
  std::int64_t zeros_after() const { return std::max<std::int64_t>(after, 0); }
};

Sides sides_of(const Shape& pad, int pair) { return {pad[2 * pair], pad[2 * pair + 1]}; }

// The input goes where it stands in the result, less what negative padding cuts off.
void write_input(const Tensor& out, const Tensor& input, const Shape& pad) {
  Tensor target = out;
  Tensor source = input;
  for (int pair = 0; pair < padded_dims(pad); ++pair) {
    const int dim = dim_of_pair(input, pair);
    const Sides sides = sides_of(pad, pair);
    target = range_of(target, dim, sides.zeros_before(), out.shape()[dim] - sides.zeros_after());
    source = range_of(source, dim, std::max<std::int64_t>(-sides.before, 0),
                      input.shape()[dim] - std::max<std::int64_t>(-sides.after, 0));
  }
  copy_(target, source);
}

// Both sides of a dimension from what is written already.
void write_sides(const Tensor& out, int dim, const Sides& sides) {
  const std::int64_t size = out.shape()[dim];
  if (sides.before > 0) {
    const std::int64_t end = size - sides.zeros_after();
    copy_(range_of(out, dim, 0, sides.before), range_of(out, dim, end - sides.before, end));
  }
  if (sides.after > 0) {
    const std::int64_t start = sides.zeros_before();
    copy_(range_of(out, dim, size - sides.after, size),
          range_of(out, dim, start, start + sides.after));
  }
}

Tensor pad_around(const Tensor& input, const Shape& pad) {
  const Shape sizes = padded_shape(input, pad, [](std::int64_t size) { return size; });
  Tensor out = empty(sizes, options_of(input));
  write_input(out, input, pad);
  for (int pair = 0; pair < padded_dims(pad); ++pair) {
    write_sides(out, dim_of_pair(input, pair), sides_of(pad, pair));
  }
  return out;
}

}  // namespace

Tensor pad_from_input(const Tensor& input, const Shape& pad, const std::string& mode) {
  if (mode != "reflect" && mode != "replicate" && mode != "circular") {
    refuse(fmt::format("Unrecognised padding mode {}", mode));
  }
  require_pairs(input, pad, mode);
  if (mode == "circular") return pad_around(input, pad);
  const Beyond beyond = mode == "reflect" ? Beyond::reflected : Beyond::extended;
  return pad_by_edges(edge_plan(input, pad, beyond), input);
}

}  // namespace ohm::ops

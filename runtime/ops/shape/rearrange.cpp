#include "runtime/ops/shape/rearrange.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/arrangement.h"
#include "runtime/ops/shape/edge_padding.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kFlip{"flip"};
constexpr OpInfo kRoll{"roll"};
constexpr OpInfo kTriu{"triu"};
constexpr OpInfo kTril{"tril"};
constexpr OpInfo kRepeat{"repeat"};

// The dimensions as they lie in the memory of `out`, from the outermost to the innermost: its
// elements are written in that order.
functors::Arrangement in_memory_order(const functors::Arrangement& logical, const Tensor& out) {
  std::vector<int> order(static_cast<std::size_t>(out.dims()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return out.strides()[a] > out.strides()[b]; });
  functors::Arrangement arrangement = logical;
  arrangement.mirrored = 0;
  int to = 0;
  for (const int from : order) {
    arrangement.sizes[to] = logical.sizes[from];
    arrangement.input_sizes[to] = logical.input_sizes[from];
    arrangement.input_strides[to] = logical.input_strides[from];
    arrangement.shifts[to] = logical.shifts[from];
    if (contains(logical.mirrored, from)) arrangement.mirrored = with(arrangement.mirrored, to);
    ++to;
  }
  return arrangement;
}

// Elements that the arrangement leaves out become `fill`. Pre-condition: `out` is dense, and
// row-major where triangles are meant.
void fetch(const Tensor& out, const Tensor& input, const functors::Arrangement& arrangement,
           double fill) {
  if (!out.has_values()) return;
  const functors::Rearranged rearranged{
      out.is_contiguous() ? arrangement : in_memory_order(arrangement, out), fill};
  run_rows(rearranged, out.dtype(), thread_for_each(out.numel()), {{out}, {input}});
}

Shape negated(const Shape& shape) {
  Shape result = shape;
  for (int dim = 0; dim < shape.dims(); ++dim) result[dim] = -result[dim];
  return result;
}

// Along one dimension, by less than its size, either way.
Tensor rolled(const Tensor& given, int dim, std::int64_t shift) {
  const Tensor input = row_major(given);
  Tensor out = empty(input.shape(), options_of(input));
  functors::Arrangement arrangement = arrangement_of(out, input);
  arrangement.beyond = functors::Beyond::repeated;
  for (int each = 0; each < input.dims(); ++each) {
    arrangement.shifts[each] = input.shape()[each] - (each == dim ? shift : 0);
  }
  fetch(out, input, arrangement, 0.0);
  return out;
}

// One dimension after the other.
struct Roll {
  Shape shifts;
  Shape dims;

  Tensor operator()(const Tensor& input) const {
    Tensor result = input;
    for (int i = 0; i < dims.dims(); ++i) {
      result = rolled(result, static_cast<int>(dims[i]), shifts[i]);
    }
    return result;
  }
  Roll back() const { return {negated(shifts), dims}; }
};

Roll checked_roll(const Tensor& input, const Shape& shifts, const Shape& dims) {
  if (shifts.dims() != dims.dims()) {
    throw std::invalid_argument(fmt::format("[roll] shifts {} and dims {} must be of one length",
                                            shifts.str(), dims.str()));
  }
  Roll roll{shifts, dims};
  for (int i = 0; i < dims.dims(); ++i) {
    const int dim = wrap_dim(dims[i], input.dims(), "roll");
    roll.dims[i] = dim;
    roll.shifts[i] = shifts[i] % std::max<std::int64_t>(1, input.shape()[dim]);
  }
  return roll;
}

// All elements as one line, whatever their dimensions.
Tensor line_rolled(const Tensor& input, const Shape& shifts) {
  const Tensor rows = row_major(input);
  const Tensor line = make_view(rows, {input.numel()}, {1}, rows.impl()->offset);
  const Tensor moved = checked_roll(line, shifts, Shape{0})(line);
  Tensor out =
      make_view(moved, input.shape(), contiguous_strides(input.shape()), moved.impl()->offset);
  out.impl()->is_view = false;
  return out;
}

Tensor rolled_as_one_line(const Tensor& input, const Shape& shifts) {
  Tensor out = line_rolled(input, shifts);
  if (Recorder record("RollBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [back = negated(shifts)](BackwardCall& call) {
      return TensorList{call.is_recorded() ? rolled_as_one_line(call.grad(), back)
                                           : line_rolled(call.grad(), back)};
    });
  }
  return out;
}

enum class Triangle : bool { upper, lower };

Tensor triangle_of(const Tensor& input, std::int64_t diagonal, Triangle kept) {
  Tensor out = empty(input.shape(), options_of(input));
  const int row = input.dims() - 2;
  // Beyond the corners nothing changes any more.
  const std::int64_t line = std::clamp(diagonal, -input.shape()[row], input.shape()[row + 1]);
  functors::Arrangement arrangement = arrangement_of(out, input);
  arrangement.is_triangle = true;
  arrangement.lowest_diagonal = kept == Triangle::upper ? line : -input.shape()[row];
  arrangement.highest_diagonal = kept == Triangle::upper ? input.shape()[row + 1] : line;
  fetch(out, input, arrangement, 0.0);
  return out;
}

Tensor triangle(const OpInfo& info, std::string_view node, const Tensor& input,
                std::int64_t diagonal, Triangle kept) {
  const OpFront front(info);
  if (input.dims() < 2) {
    throw std::invalid_argument(fmt::format("[{}] needs at least 2 dimensions, but got {}",
                                            info.name, input.shape().str()));
  }
  Tensor out = triangle_of(input, diagonal, kept);
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.attach_differentiable(out, [&info, node, diagonal, kept](BackwardCall& call) {
      const bool is_recorded = call.is_recorded();
      return TensorList{is_recorded ? triangle(info, node, call.grad(), diagonal, kept)
                                    : triangle_of(call.grad(), diagonal, kept)};
    });
  }
  return out;
}

// How far each dimension starts before its first element, and how long it becomes.
struct Padding {
  Shape before;
  Shape sizes;
};

Padding padding_of(const Shape& shape, const Shape& pad) {
  if (pad.dims() % 2 != 0 || pad.dims() > 2 * shape.dims()) {
    throw std::invalid_argument(fmt::format(
        "[pad] {} is not a list of pairs for the last dimensions of {}", pad.str(), shape.str()));
  }
  const bool adds = std::any_of(pad.begin(), pad.end(), [](std::int64_t n) { return n > 0; });
  const bool may_be_empty = !adds || Context::current().rules.pads_to_nothing;
  Padding result{Shape(shape.dims(), 0), shape};
  for (int i = 0; i < pad.dims() / 2; ++i) {
    const int dim = shape.dims() - 1 - i;
    std::int64_t& size = result.sizes[dim];
    result.before[dim] = pad[2 * i];
    const bool is_too_large = __builtin_add_overflow(size, pad[2 * i], &size) ||
                              __builtin_add_overflow(size, pad[2 * i + 1], &size);
    if (is_too_large) {
      throw std::invalid_argument(
          fmt::format("[pad] {} makes dimension {} of {} too large", pad.str(), dim, shape.str()));
    }
    if (size < 0 || (size == 0 && !may_be_empty)) {
      throw std::invalid_argument(fmt::format("[pad] {} makes dimension {} of {} {}", pad.str(),
                                              dim, shape.str(), size < 0 ? "negative" : "empty"));
    }
  }
  return result;
}

// What only loses elements is a copy of the rest as it lies.
Tensor empty_padded(const Tensor& input, const Padding& padding) {
  for (int dim = 0; dim < input.dims(); ++dim) {
    const std::int64_t after = padding.sizes[dim] - input.shape()[dim] - padding.before[dim];
    if (padding.before[dim] > 0 || after > 0) {
      return empty(padding.sizes, options_of(input), memory_format_of(input));
    }
  }
  return empty_like(make_view(input, padding.sizes, input.strides(), input.impl()->offset));
}

Tensor padded(const Tensor& input, const Padding& padding, double value) {
  Tensor out = empty_padded(input, padding);
  functors::Arrangement arrangement = arrangement_of(out, input);
  for (int dim = 0; dim < input.dims(); ++dim) arrangement.shifts[dim] = -padding.before[dim];
  fetch(out, input, arrangement, value);
  return out;
}

// The gradient of a repeated tensor: its copies added up, which stand in dimensions of their own.
Tensor repeat_gradient(const Tensor& grad, const Shape& shape, const Shape& repeats) {
  Shape sizes;
  Shape copies;
  const int leading = repeats.dims() - shape.dims();
  for (int dim = 0; dim < repeats.dims(); ++dim) {
    if (repeats[dim] != 1 || dim < leading) {
      copies.push_back(sizes.dims());
      sizes.push_back(repeats[dim]);
    }
    if (dim >= leading) sizes.push_back(shape[dim - leading]);
  }
  const Tensor spread = reshape(grad, sizes);
  return copies.empty() ? spread : sum(spread, copies, false, std::nullopt);
}

}  // namespace

Tensor flipped(const Tensor& input, DimMask mirrored) {
  Tensor out = empty_like(input);
  functors::Arrangement arrangement = arrangement_of(out, input);
  arrangement.mirrored = mirrored;
  fetch(out, input, arrangement, 0.0);
  return out;
}

Tensor flip(const Tensor& input, const Shape& dims) {
  const OpFront front(kFlip);
  DimMask mirrored = 0;
  for (const std::int64_t dim : dims)
    mirrored = with(mirrored, wrap_dim(dim, input.dims(), "flip"));
  Tensor out = flipped(input, mirrored);
  if (Recorder record("FlipBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [mirrored, dims](BackwardCall& call) {
      return TensorList{call.is_recorded() ? flip(call.grad(), dims)
                                           : flipped(call.grad(), mirrored)};
    });
  }
  return out;
}

Tensor roll(const Tensor& input, const Shape& shifts, const std::optional<Shape>& dims) {
  const OpFront front(kRoll);
  if (!dims) return rolled_as_one_line(input, shifts);
  const Roll forth = checked_roll(input, shifts, *dims);
  Tensor out = dims->empty() ? copy_of(input) : forth(input);
  if (Recorder record("RollBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [back = forth.back()](BackwardCall& call) {
      return TensorList{call.is_recorded() ? roll(call.grad(), back.shifts, back.dims)
                                           : back(call.grad())};
    });
  }
  return out;
}

Tensor triu(const Tensor& input, std::int64_t diagonal) {
  return triangle(kTriu, "TriuBackward", input, diagonal, Triangle::upper);
}

Tensor tril(const Tensor& input, std::int64_t diagonal) {
  return triangle(kTril, "TrilBackward", input, diagonal, Triangle::lower);
}

Tensor repeat(const Tensor& input, const Shape& repeats) {
  const OpFront front(kRepeat);
  const int leading = repeats.dims() - input.dims();
  bool fits = leading >= 0;
  for (const std::int64_t count : repeats) fits = fits && count >= 0;
  if (!fits) {
    throw std::invalid_argument(fmt::format("[repeat] {} does not fit an input of shape {}",
                                            repeats.str(), input.shape().str()));
  }
  Shape sizes = repeats;
  Shape from_sizes(repeats.dims(), 1);
  Shape from_strides(repeats.dims(), 0);
  for (int dim = leading; dim < repeats.dims(); ++dim) {
    from_sizes[dim] = input.shape()[dim - leading];
    from_strides[dim] = input.strides()[dim - leading];
    if (__builtin_mul_overflow(sizes[dim], from_sizes[dim], &sizes[dim])) {
      throw std::invalid_argument(fmt::format("[repeat] {} of an input of shape {} are too many",
                                              repeats.str(), input.shape().str()));
    }
  }
  const Tensor source = make_view(input, from_sizes, from_strides, input.impl()->offset);
  Tensor out = empty(sizes, options_of(input));
  functors::Arrangement arrangement = arrangement_of(out, source);
  arrangement.beyond = functors::Beyond::repeated;
  fetch(out, source, arrangement, 0.0);
  if (Recorder record("RepeatBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [shape = input.shape(), repeats](BackwardCall& call) {
      return TensorList{repeat_gradient(call.grad(), shape, repeats)};
    });
  }
  return out;
}

Tensor pad(const Tensor& input, const Shape& pad, const std::string& mode, double value) {
  const OpFront front(kPad);
  if (mode != "constant") {
    if (value != 0.0) {
      throw std::invalid_argument(
          fmt::format("[pad] Padding mode \"{}\" doesn't take in value argument", mode));
    }
    return pad_from_input(input, pad, mode);
  }
  const Padding padding = padding_of(input.shape(), pad);
  Tensor out = padded(input, padding, value);
  if (Recorder record("ConstantPadNdBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [shape = input.shape(), before = padding.before,
                                       back = negated(pad), mode](BackwardCall& call) {
      return TensorList{call.is_recorded() ? ops::pad(call.grad(), back, mode, 0.0)
                                           : padded(call.grad(), {negated(before), shape}, 0.0)};
    });
  }
  return out;
}

std::vector<OpDef> rearrange_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName diagonal{"diagonal", std::int64_t{0}};
  return {
      define(kFlip, kBoth, &flip, {"input", "dims"}),
      define(kRoll, kBoth, &roll, {"input", "shifts", "dims"}),
      define(kTriu, kBoth, &triu, {"input", diagonal}),
      define(kTril, kBoth, &tril, {"input", diagonal}),
      define(kRepeat, kMethod, &repeat, {"input", "repeats"}),
      define(kPad, kFunctional, &pad,
             {"input", "pad", {"mode", std::string("constant")}, {"value", 0.0}}),
  };
}

}  // namespace ohm::ops

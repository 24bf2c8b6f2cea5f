// Other names and other arguments for views and copies.
#include "runtime/ops/shape/alias.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMovedim{"movedim"};
constexpr OpInfo kSwapaxes{"swapaxes"};
constexpr OpInfo kUnflatten{"unflatten"};
constexpr OpInfo kExpandAs{"expand_as"};
constexpr OpInfo kViewAs{"view_as"};
constexpr OpInfo kReshapeAs{"reshape_as"};
constexpr OpInfo kRavel{"ravel"};
constexpr OpInfo kBroadcastTo{"broadcast_to"};
constexpr OpInfo kBroadcastTensors{"broadcast_tensors"};
constexpr OpInfo kMeshgrid{"meshgrid"};
constexpr OpInfo kSumToSize{"sum_to_size"};
constexpr OpInfo kTile{"tile"};
constexpr OpInfo kRepeatInterleave{"repeat_interleave"};
constexpr OpInfo kClampMin{"clamp_min"};
constexpr OpInfo kClampMax{"clamp_max"};

Tensor movedim(const Tensor& input, const Shape& source, const Shape& destination) {
  if (source.dims() != destination.dims()) {
    throw std::invalid_argument(
        fmt::format("[movedim] {} and {} must have one dimension each for the same moves",
                    source.str(), destination.str()));
  }
  Shape order(input.dims(), -1);
  std::uint32_t moved = 0;
  for (int i = 0; i < source.dims(); ++i) {
    const int from = wrap_dim(source[i], input.dims(), "movedim");
    const int to = wrap_dim(destination[i], input.dims(), "movedim");
    const std::uint32_t bit = 1U << static_cast<unsigned>(from);
    if (order.empty() || order[to] >= 0 || (moved & bit) != 0) {
      throw std::invalid_argument("[movedim] a dimension is moved twice, or two to one place");
    }
    moved |= bit;
    order[to] = from;
  }
  int next = 0;
  for (int place = 0; place < order.dims(); ++place) {
    if (order[place] >= 0) continue;
    while (((moved >> static_cast<unsigned>(next)) & 1U) != 0) ++next;
    order[place] = next++;
  }
  return permute(input, order);
}

Tensor swapaxes(const Tensor& input, std::int64_t axis0, std::int64_t axis1) {
  return transpose(input, axis0, axis1);
}

Tensor unflatten(const Tensor& input, std::int64_t dim, const Shape& sizes) {
  const int position = wrap_dim(dim, input.dims(), "unflatten");
  if (input.dims() == 0) throw std::invalid_argument("[unflatten] a number has no dimensions");
  const Shape inner = inferred_shape(sizes, input.shape()[position], "unflatten");
  Shape shape;
  for (int i = 0; i < input.dims(); ++i) {
    if (i != position) shape.push_back(input.shape()[i]);
    if (i != position) continue;
    for (const std::int64_t size : inner) shape.push_back(size);
  }
  return view(input, shape);
}

Tensor expand_as(const Tensor& input, const Tensor& other) {
  require_same_device(input, other, kExpandAs);
  return expand(input, other.shape());
}

Tensor view_as(const Tensor& input, const Tensor& other) {
  require_same_device(input, other, kViewAs);
  return view(input, other.shape());
}

Tensor broadcast_to(const Tensor& input, const Shape& size) { return expand(input, size); }

Tensor reshape_as(const Tensor& input, const Tensor& other) {
  require_same_device(input, other, kReshapeAs);
  return reshape(input, other.shape());
}

Tensor ravel(const Tensor& input) { return view(contiguous(input), Shape{-1}); }

std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& tensors) {
  Shape shape;
  for (const Tensor& tensor : tensors) {
    require_same_device(tensors[0], tensor, kBroadcastTensors);
    shape = broadcast_shapes(shape, tensor.shape(), "broadcast_tensors");
  }
  std::vector<Tensor> results;
  for (const Tensor& tensor : tensors) {
    results.push_back(tensor.shape() == shape ? tensor : expand(tensor, shape));
  }
  return results;
}

// What the sizes would be broadcast from.
Tensor sum_to_size(const Tensor& input, const Shape& size) {
  const int leading = input.dims() - size.dims();
  bool is_expandable = leading >= 0;
  Shape summed;
  for (int dim = 0; is_expandable && dim < input.dims(); ++dim) {
    const std::int64_t wanted = dim < leading ? 1 : size[dim - leading];
    const std::int64_t given = input.shape()[dim];
    is_expandable = dim < leading || wanted == 1 || wanted == given;
    if (dim < leading || (wanted == 1 && given != 1)) summed.push_back(dim);
  }
  if (!is_expandable) {
    throw std::invalid_argument(fmt::format("[sum_to_size] size {} is not expandable to size {}.",
                                            size.str(), input.shape().str()));
  }
  if (size.empty()) return sum(input);
  if (summed.empty()) return input;
  const Tensor sums = sum(input, summed, true, std::nullopt);
  return leading > 0 ? view(sums, size) : sums;
}

Tensor tile(const Tensor& input, const Shape& dims) {
  Shape repeats = dims;
  while (repeats.dims() < input.dims()) repeats.insert(0, 1);
  return repeat(input, repeats);
}

// Each entry of `dim` as often, one after the other.
Tensor repeat_interleave(const Tensor& input, std::int64_t repeats,
                         std::optional<std::int64_t> dim) {
  const OpFront front(kRepeatInterleave);
  if (repeats < 0) {
    throw std::invalid_argument(
        fmt::format("[repeat_interleave] repeats must not be negative: {}", repeats));
  }
  const Tensor source = dim ? input : flatten(input, 0, -1);
  const int position = wrap_dim(dim.value_or(0), source.dims(), "repeat_interleave");
  if (source.dims() == 0) throw std::invalid_argument("[repeat_interleave] a number has no dims");
  Shape wide = source.shape();
  wide.insert(position + 1, repeats);
  Shape shape = source.shape();
  if (__builtin_mul_overflow(shape[position], repeats, &shape[position])) {
    throw std::invalid_argument("[repeat_interleave] there are too many repeats");
  }
  return view(clone_row_major(expand(unsqueeze(source, position + 1), wide)), shape);
}

Tensor clamp_min(const Tensor& input, const TensorOrNumber& min) {
  return clamp_by(input, min, std::nullopt);
}
Tensor clamp_max(const Tensor& input, const TensorOrNumber& max) {
  return clamp_by(input, std::nullopt, max);
}

}  // namespace

// Each of the lines along a dimension of its own, the first two the other way round for "xy".
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, const std::string& indexing) {
  if (indexing != "ij" && indexing != "xy") {
    throw std::invalid_argument(fmt::format(
        "[meshgrid] indexing must be one of \"xy\" or \"ij\", but received: {}", indexing));
  }
  const bool swaps = indexing == "xy" && tensors.size() >= 2;
  std::vector<Tensor> lines = tensors;
  if (swaps) std::swap(lines[0], lines[1]);
  Shape shape;
  for (const Tensor& line : lines) {
    require_same_device(lines[0], line, kMeshgrid);
    if (line.dims() > 1) {
      throw std::invalid_argument(
          fmt::format("[meshgrid] expected scalar or 1D tensors, but got {}", line.shape().str()));
    }
    shape.push_back(line.numel());
  }
  std::vector<Tensor> grids;
  for (int i = 0; i < shape.dims(); ++i) {
    Shape alone(shape.dims(), 1);
    alone[i] = shape[i];
    grids.push_back(expand(view(lines[static_cast<std::size_t>(i)], alone), shape));
  }
  if (swaps) std::swap(grids[0], grids[1]);
  return grids;
}

std::vector<OpDef> alias_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kMovedim, kBoth, &movedim, {"input", "source", "destination"}),
      define(kSwapaxes, kBoth, &swapaxes, {"input", "axis0", "axis1"}),
      define(kUnflatten, kBoth, &unflatten, {"input", "dim", "sizes"}),
      define(kExpandAs, kMethod, &expand_as, {"input", ParamName::constant("other")}),
      define(kViewAs, kMethod, &view_as, {"input", ParamName::constant("other")}),
      define(kReshapeAs, kMethod, &reshape_as, {"input", ParamName::constant("other")}),
      define(kRavel, kBoth, &ravel, {"input"}),
      define(kBroadcastTo, kBoth, &broadcast_to, {"input", "size"}),
      define(kBroadcastTensors, kPythonFunction, &broadcast_tensors, {"tensors"}),
      define(kMeshgrid, kPythonFunction, &meshgrid, {"tensors", {"indexing", std::string("ij")}}),
      define(kSumToSize, kMethod, &sum_to_size, {"input", "size"}),
      define(kTile, kBoth, &tile, {"input", "dims"}),
      define(kRepeatInterleave, kBoth, &repeat_interleave, {"input", "repeats", "dim"}),
      define(kClampMin, kBoth, &clamp_min, {"input", "min"}),
      define(kClampMax, kBoth, &clamp_max, {"input", "max"}),
  };
}

}  // namespace ohm::ops

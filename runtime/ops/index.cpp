#include "runtime/ops/index.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/dim_mask.h"
#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/index_places.h"
#include "runtime/ops/nonzero.h"
#include "runtime/ops/sorting_scratch.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kIndex{"index"};

// ---- where the index tensors stand --------------------------------------------------------------

/// The dimensions of an input that have an index tensor, and the others.
struct Dims {
  Shape indexed;
  Shape others;
  int before = 0;  ///< of the others, how many come before the indices in the result
};

[[noreturn]] void refuse_dims(const Shape& dims, std::size_t indices, const Shape& shape) {
  throw std::invalid_argument(fmt::format(
      "[index] {} index tensors cannot stand for the dimensions {} of an input of shape "
      "{}: expected one for each, in their order",
      indices, dims.str(), shape.str()));
}

Dims dims_of(const Shape& shape, std::size_t indices, const std::optional<Shape>& given) {
  Dims dims;
  for (std::size_t i = 0; !given && i < indices; ++i) {
    if (static_cast<int>(i) == shape.dims()) refuse_dims({}, indices, shape);
    dims.indexed.push_back(static_cast<std::int64_t>(i));
  }
  for (int i = 0; given && i < given->dims(); ++i) {
    if (shape.dims() == 0) refuse_dims(*given, indices, shape);
    dims.indexed.push_back(wrap_dim((*given)[i], shape.dims(), kIndex.name.data()));
    if (i > 0 && dims.indexed[i] <= dims.indexed[i - 1]) refuse_dims(*given, indices, shape);
  }
  const int count = dims.indexed.dims();
  if (count == 0 || static_cast<std::size_t>(count) != indices) {
    refuse_dims(given.value_or(Shape()), indices, shape);
  }
  for (int dim = 0, next = 0; dim < shape.dims(); ++dim) {
    if (next < count && dims.indexed[next] == dim) {
      ++next;
    } else {
      dims.others.push_back(dim);
    }
  }
  const bool are_neighbours = dims.indexed[count - 1] - dims.indexed[0] == count - 1;
  dims.before = are_neighbours ? static_cast<int>(dims.indexed[0]) : 0;
  return dims;
}

/// Dimensions in another order. A view.
Tensor permuted(const Tensor& tensor, const Shape& order) {
  Shape sizes;
  Shape strides;
  for (int i = 0; i < order.dims(); ++i) {
    sizes.push_back(tensor.shape()[static_cast<int>(order[i])]);
    strides.push_back(tensor.strides()[static_cast<int>(order[i])]);
  }
  return make_view(tensor, sizes, strides, tensor.impl()->offset);
}

Tensor with_indexed_first(const Tensor& tensor, const Dims& dims) {
  Shape order = dims.indexed;
  for (int i = 0; i < dims.others.dims(); ++i) order.push_back(dims.others[i]);
  return permuted(tensor, order);
}

// Of a result, or of its gradient: what the indices have, then the others. A view.
Tensor with_indices_first(const Tensor& result, const Dims& dims) {
  const int index_dims = result.dims() - dims.others.dims();
  Shape order;
  for (int i = 0; i < index_dims; ++i) order.push_back(dims.before + i);
  for (int i = 0; i < dims.others.dims(); ++i) {
    order.push_back(i < dims.before ? i : index_dims + i);
  }
  return permuted(result, order);
}

// Each as a view of the shape that all of them broadcast to.
std::vector<Tensor> broadcast_together(const std::vector<Tensor>& indices) {
  Shape shape = indices[0].shape();
  for (const Tensor& index : indices) shape = broadcast_shapes(shape, index.shape(), "index");
  std::vector<Tensor> views;
  for (const Tensor& index : indices) views.push_back(broadcast_view(index, shape));
  return views;
}

// A kernel of a GPU walks through all index tensors alike.
std::vector<Tensor> laid_out_alike(const std::vector<Tensor>& indices) {
  const bool are_alike = std::all_of(indices.begin(), indices.end(), [&](const Tensor& index) {
    return index.strides() == indices[0].strides();
  });
  if (are_alike || indices[0].device().is_cpu()) return indices;
  std::vector<Tensor> copies;
  for (const Tensor& index : indices) copies.push_back(row_major(index));
  return copies;
}

// `whole` has its indexed dimensions first; `indices` are of one shape.
functors::SlicePlaces places_in(const Tensor& whole, const std::vector<Tensor>& indices) {
  functors::SlicePlaces places;
  places.leading = static_cast<int>(indices.size());
  std::uint32_t leading = 0;
  for (int dim = 0; dim < places.leading; ++dim) {
    leading = with(leading, dim);
    places.sizes[dim] = whole.shape()[dim];
    places.strides[dim] = whole.strides()[dim];
    places.index[dim] = strided_index_of(indices[static_cast<std::size_t>(dim)], 0, false);
  }
  places.slice = strided_index_of(whole, leading, false);
  for (int dim = places.leading; dim < whole.dims(); ++dim)
    places.width = places.width * whole.shape()[dim];
  return places;
}

// What a kernel reads beside its first input.
std::vector<RowArgument> inputs_of(const Tensor& first, const std::vector<Tensor>& indices) {
  std::vector<RowArgument> inputs = {first};
  inputs.insert(inputs.end(), indices.begin(), indices.end());
  return inputs;
}

// ---- masks --------------------------------------------------------------------------------------

/// Index tensors, and the dimensions that each of them stands for.
struct Subscript {
  std::vector<Tensor> indices;
  std::optional<Shape> dims;
};

bool is_mask(const Tensor& index) { return index.dtype() == DType::boolean; }

void require_mask_shape(const Tensor& mask, const Shape& shape, int first) {
  for (int dim = 0; dim < mask.dims(); ++dim) {
    const int of_input = first + dim;
    if (of_input < shape.dims() && mask.shape()[dim] == shape[of_input]) continue;
    throw std::invalid_argument(
        fmt::format("[index] The shape of the mask {} at index {} does not match the shape of the "
                    "indexed tensor "
                    "{} at index {}",
                    mask.shape().str(), dim, shape.str(), of_input));
  }
}

// Where each index stands: a mask takes as many dimensions as it has.
Shape places_of_indices(const Shape& shape, const Subscript& given) {
  Shape places;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < given.indices.size(); ++i) {
    if (!given.dims) {
      places.push_back(next);
      next += is_mask(given.indices[i]) ? given.indices[i].dims() : 1;
    } else if (static_cast<int>(i) < given.dims->dims() && shape.dims() > 0) {
      const std::int64_t dim = (*given.dims)[static_cast<int>(i)];
      places.push_back(wrap_dim(dim, shape.dims(), kIndex.name.data()));
    } else {
      refuse_dims(*given.dims, given.indices.size(), shape);
    }
  }
  return places;
}

// A mask gives the places where it is true, an index for each of its dimensions.
Subscript without_masks(const Tensor& input, const Subscript& given) {
  if (std::none_of(given.indices.begin(), given.indices.end(), is_mask)) return given;
  const Shape places = places_of_indices(input.shape(), given);
  Subscript expanded{{}, Shape()};
  for (std::size_t i = 0; i < given.indices.size(); ++i) {
    const Tensor& index = given.indices[i];
    const std::int64_t first = places[static_cast<int>(i)];
    if (!is_mask(index)) {
      expanded.indices.push_back(index);
      expanded.dims->push_back(first);
      continue;
    }
    if (index.dims() == 0) throw std::invalid_argument("[index] a mask needs dimensions");
    require_mask_shape(index, input.shape(), static_cast<int>(first));
    const Tensor chosen = nonzero(index);
    for (int dim = 0; dim < index.dims(); ++dim) {
      expanded.indices.push_back(
          make_view(chosen, {chosen.shape()[0]}, {chosen.strides()[0]}, dim * chosen.strides()[1]));
      expanded.dims->push_back(first + dim);
    }
  }
  return expanded;
}

// ---- elements -----------------------------------------------------------------------------------

// Index tensors may be the host's.
std::vector<Tensor> all_on_device_of(const Tensor& input, const std::vector<Tensor>& indices) {
  std::vector<Tensor> moved;
  for (const Tensor& index : indices) {
    moved.push_back(to(index, input.device(), std::nullopt, Transfer::blocking, std::nullopt));
  }
  return moved;
}

// The loop reads a slice again and again where an index has its dimensions, and the index for each
// element of a slice.
Tensor empty_for_slices(const Tensor& input, const Dims& dims, const Tensor& index) {
  Shape sizes;
  Shape of_slices;
  Shape of_index;
  const auto add_others = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      const int dim = static_cast<int>(dims.others[i]);
      sizes.push_back(input.shape()[dim]);
      of_slices.push_back(input.strides()[dim]);
      of_index.push_back(0);
    }
  };
  add_others(0, dims.before);
  for (int dim = 0; dim < index.dims(); ++dim) {
    sizes.push_back(index.shape()[dim]);
    of_slices.push_back(0);
    of_index.push_back(index.strides()[dim]);
  }
  add_others(dims.before, dims.others.dims());
  const Tensor slices = make_view(input, sizes, of_slices, input.impl()->offset);
  const Tensor spread = make_view(index, sizes, of_index, index.impl()->offset);
  return empty_for_loop(sizes, {&slices, &spread}, options_of(input));
}

void gather_slices(const Tensor& out, const Tensor& input, const std::vector<Tensor>& indices,
                   const Dims& dims) {
  if (!out.has_values() || !indices[0].has_values()) return;
  // Indices of a subscript, and they alone, may count from the end.
  const Tensor whole = with_indexed_first(input, dims);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    require_places(kIndex, indices[i], {whole.shape()[static_cast<int>(i)], true});
  }
  if (!input.has_values()) return;
  const functors::GatheredSlices gathered{
      places_in(whole, indices), strided_index_of(with_indices_first(out, dims), 0, false)};
  run_rows(gathered, out.dtype(), thread_for_each(out.numel()), {{out}, inputs_of(whole, indices)});
}

Tensor indexed(const Tensor& input, const std::vector<Tensor>& given, const Dims& dims) {
  std::vector<Tensor> moved = all_on_device_of(input, broadcast_together(given));
  std::vector<Tensor> indices = laid_out_alike(moved);
  Tensor out = empty_for_slices(input, dims, indices[0]);
  gather_slices(out, input, indices, dims);
  // The last copy goes first.
  while (!indices.empty()) indices.pop_back();
  while (!moved.empty()) moved.pop_back();
  return out;
}

// ---- gradients ----------------------------------------------------------------------------------

// The temporaries of the kernel that adds gradients up in the order of their places.
class PlaceScratch {
 public:
  /// `whole`: with its indexed dimensions first, in a copy where that is another order. `indices`
  /// go once their places are known.
  PlaceScratch(const Tensor& whole, std::int64_t count, std::vector<Tensor>& indices,
               const Tensor& gradients)
      : options_{DType::int64, whole.device()}, count_(count) {
    places_ = places_of(indices[0]);
    // Those of further indices are added to the first's.
    for (std::size_t i = 1; i < indices.size(); ++i) places_of(indices[i]);
    indices.clear();
    gradients_ = row_major(gradients);
    if (!whole.is_contiguous()) whole_ = empty(whole.shape(), options_of(whole));
    if (gradients.numel() == 0) return;  // nothing to sort
    sorted_ = numbers();
    order_ = numbers();
    const Tensor range = numbers();
    const Tensor sort = empty_bytes(sort_scratch_bytes(count, 8, whole.device()), whole.device());
  }

 private:
  Tensor numbers() const { return empty({count_}, options_); }

  // The host computes those of its own, and they are copied.
  Tensor places_of(const Tensor& index) const {
    const Tensor wrapped = index.device() == options_.device ? numbers() : Tensor();
    return numbers();
  }

  TensorOptions options_;
  std::int64_t count_;
  Tensor places_;
  Tensor gradients_;
  Tensor whole_;
  Tensor sorted_;
  Tensor order_;
};

void add_slices(const Tensor& sums, const Tensor& incoming, const std::vector<Tensor>& indices,
                const Dims& dims) {
  if (!sums.has_values() || incoming.numel() == 0) return;
  const bool are_elsewhere = sums.cuda_backend() != nullptr &&
                             std::any_of(indices.begin(), indices.end(), [&](const Tensor& index) {
                               return !(sums.device() == index.device());
                             });
  if (are_elsewhere) return add_slices(sums, incoming, all_on_device_of(sums, indices), dims);
  const std::int64_t count = indices[0].numel();
  const Tensor addends = with_indices_first(incoming, dims);
  const functors::ScatteredSlices scattered{places_in(with_indexed_first(sums, dims), indices),
                                            strided_index_of(addends, 0, false), count};
  const std::int64_t slices = sums.numel() / scattered.places.width;
  run_rows(scattered, sums.dtype(), owners_of(sums, scattered.places.width, slices),
           {{sums}, inputs_of(incoming, indices)});
}

Tensor index_gradient(const Tensor& incoming, const Shape& shape, const Subscript& given) {
  Tensor sums = zeros(shape, options_of(incoming));
  std::vector<Tensor> indices;
  Dims dims;
  {
    const Subscript expanded = without_masks(sums, given);
    dims = dims_of(shape, expanded.indices.size(), expanded.dims);
    indices = broadcast_together(expanded.indices);
  }
  add_slices(sums, incoming, indices, dims);
  if (sums.device().is_cuda()) {
    // Neighbours stay where they are.
    const bool is_moved = dims.before == 0;
    const PlaceScratch scratch(is_moved ? with_indexed_first(sums, dims) : sums, indices[0].numel(),
                               indices, incoming);
  }
  return sums;
}

Tensor index_values(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape, {DType::int64, Device::cpu()});
}

std::vector<Sample> indexed_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor rows = index_values({2, 0, 2}, {3});
  const Tensor columns = index_values({1, 1, 3}, {3});
  return {{randn({3, 4}, options), std::vector<Tensor>{rows}},
          {randn({3, 4}, options), std::vector<Tensor>{rows, columns}},
          {randn({2, 3, 4}, options), std::vector<Tensor>{rows, columns}, Shape{1, 2}},
          {randn({3, 2, 4}, options), std::vector<Tensor>{rows, columns}, Shape{0, -1}}};
}

// As index_gradient(), with a graph: what is chosen of its gradient is that of `grad`.
Tensor recorded_index_gradient(const Tensor& grad, const Shape& shape, const Subscript& subscript) {
  Recorder record("IndexPutImplBackward", {&grad});
  for (const Tensor& each : subscript.indices) record.save(each);
  Tensor out;
  {
    const GradModeGuard no_graph(false);
    out = index_gradient(grad, shape, subscript);
  }
  record.attach_differentiable(
      out, [count = subscript.indices.size(), dims = subscript.dims](BackwardCall& call) {
        std::vector<Tensor> indices;
        for (std::size_t i = 0; i < count; ++i) indices.push_back(call.saved(i));
        return TensorList{index(call.grad(), indices, dims)};
      });
  return out;
}

}  // namespace

Tensor index(const Tensor& input, const std::vector<Tensor>& given,
             const std::optional<Shape>& given_dims) {
  const OpFront front(kIndex);
  for (const Tensor& each : given) {
    if (is_mask(each)) {
      require_same_device(input, each, kIndex);
    } else {
      require_index(kIndex, each.device().is_cpu() ? each : input, each);
    }
  }
  Recorder record("IndexBackward", {&input});
  for (const Tensor& each : given) record.save(each);
  const Subscript subscript = without_masks(input, {given, given_dims});
  const std::vector<Tensor>& indices = subscript.indices;
  const Dims dims = dims_of(input.shape(), indices.size(), subscript.dims);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto dim = static_cast<int>(dims.indexed[static_cast<int>(i)]);
    if (input.shape()[dim] != 0 || indices[i].numel() == 0) continue;
    throw std::invalid_argument("[index] index is out of bounds for dimension with size 0");
  }
  Tensor out = indexed(input, indices, dims);
  record.attach_differentiable(
      out, [shape = input.shape(), count = given.size(), given_dims](BackwardCall& call) {
        Subscript saved{{}, given_dims};
        for (std::size_t i = 0; i < count; ++i) saved.indices.push_back(call.saved(i));
        return TensorList{recorded_index_gradient(call.grad(), shape, saved)};
      });
  return out;
}

std::vector<OpDef> index_ops() {
  return {define(kIndex, kMethod, &index, {"input", "indices", "dims"}, indexed_samples)};
}

}  // namespace ohm::ops

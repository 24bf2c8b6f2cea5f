#include "runtime/ops/indexing/subscript.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/base/dim_mask.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/indexing/nonzero.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/shape/view.h"
#include "runtime/ops/sorting/sorting_scratch.h"

namespace ohm::ops {
namespace {

[[noreturn]] void refuse_dims(const OpInfo& info, const Shape& dims, std::size_t indices,
                              const Shape& shape) {
  throw std::invalid_argument(
      fmt::format("[{}] {} index tensors cannot stand for the dimensions {} of an input of shape "
                  "{}: expected one for each, in their order",
                  info.name, indices, dims.str(), shape.str()));
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

void require_mask_shape(const OpInfo& info, const Tensor& mask, const Shape& shape, int first) {
  for (int dim = 0; dim < mask.dims(); ++dim) {
    const int of_input = first + dim;
    if (of_input < shape.dims() && mask.shape()[dim] == shape[of_input]) continue;
    throw std::invalid_argument(
        fmt::format("[{}] The shape of the mask {} at index {} does not match the shape of the "
                    "indexed tensor "
                    "{} at index {}",
                    info.name, mask.shape().str(), dim, shape.str(), of_input));
  }
}

// Where each index stands: a mask takes as many dimensions as it has.
Shape places_of_indices(const OpInfo& info, const Shape& shape, const Subscript& given) {
  Shape places;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < given.indices.size(); ++i) {
    if (!given.dims) {
      places.push_back(next);
      next += is_index_mask(given.indices[i]) ? given.indices[i].dims() : 1;
    } else if (static_cast<int>(i) < given.dims->dims() && shape.dims() > 0) {
      const std::int64_t dim = (*given.dims)[static_cast<int>(i)];
      places.push_back(wrap_dim(dim, shape.dims(), info.name.data()));
    } else {
      refuse_dims(info, *given.dims, given.indices.size(), shape);
    }
  }
  return places;
}

// Kernels read int64.
Tensor wide_on_device(const Tensor& index) {
  const bool is_cast = index.device().is_cuda() && index.dtype() == DType::int32;
  return is_cast ? cast(index, DType::int64) : index;
}

// The number of the last slice behind the indices.
std::int64_t largest_slice(const Tensor& target, const IndexedDims& dims) {
  std::int64_t width = 1;
  for (int i = dims.before; i < dims.others.dims(); ++i) {
    width *= target.shape()[static_cast<int>(dims.others[i])];
  }
  return target.numel() == 0 ? 0 : (target.numel() - 1) / width;
}

}  // namespace

IndexedDims dims_of(const OpInfo& info, const Shape& shape, std::size_t indices,
                    const std::optional<Shape>& given) {
  IndexedDims dims;
  for (std::size_t i = 0; !given && i < indices; ++i) {
    if (static_cast<int>(i) == shape.dims()) refuse_dims(info, {}, indices, shape);
    dims.indexed.push_back(static_cast<std::int64_t>(i));
  }
  for (int i = 0; given && i < given->dims(); ++i) {
    if (shape.dims() == 0) refuse_dims(info, *given, indices, shape);
    dims.indexed.push_back(wrap_dim((*given)[i], shape.dims(), info.name.data()));
    if (i > 0 && dims.indexed[i] <= dims.indexed[i - 1]) refuse_dims(info, *given, indices, shape);
  }
  const int count = dims.indexed.dims();
  if (count == 0 || static_cast<std::size_t>(count) != indices) {
    refuse_dims(info, given.value_or(Shape()), indices, shape);
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

Tensor with_indexed_first(const Tensor& tensor, const IndexedDims& dims) {
  Shape order = dims.indexed;
  for (int i = 0; i < dims.others.dims(); ++i) order.push_back(dims.others[i]);
  return permuted(tensor, order);
}

// Of a result, or of its gradient: what the indices have, then the others. A view.
Tensor with_indices_first(const Tensor& result, const IndexedDims& dims) {
  const int index_dims = result.dims() - dims.others.dims();
  Shape order;
  for (int i = 0; i < index_dims; ++i) order.push_back(dims.before + i);
  for (int i = 0; i < dims.others.dims(); ++i) {
    order.push_back(i < dims.before ? i : index_dims + i);
  }
  return permuted(result, order);
}

// Each as a view of the shape that all of them broadcast to.
std::vector<Tensor> broadcast_together(const OpInfo& info, const std::vector<Tensor>& indices) {
  Shape shape = indices[0].shape();
  for (const Tensor& index : indices)
    shape = broadcast_shapes(shape, index.shape(), info.name.data());
  std::vector<Tensor> views;
  for (const Tensor& index : indices) {
    views.push_back(wide_on_device(broadcast_view(index, shape)));
  }
  return views;
}

std::vector<Tensor> on_device_of(const Tensor& input, const std::vector<Tensor>& indices) {
  std::vector<Tensor> moved;
  for (const Tensor& index : indices) {
    moved.push_back(
        wide_on_device(to(index, input.device(), std::nullopt, Transfer::blocking, std::nullopt)));
  }
  return moved;
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

bool is_index_mask(const Tensor& index) { return index.dtype() == DType::boolean; }

// A mask gives the places where it is true, an index for each of its dimensions.
Subscript without_masks(const OpInfo& info, const Tensor& input, const Subscript& given) {
  if (std::none_of(given.indices.begin(), given.indices.end(), is_index_mask)) return given;
  const Shape places = places_of_indices(info, input.shape(), given);
  Subscript expanded{{}, Shape()};
  for (std::size_t i = 0; i < given.indices.size(); ++i) {
    const Tensor& index = given.indices[i];
    const std::int64_t first = places[static_cast<int>(i)];
    if (!is_index_mask(index)) {
      expanded.indices.push_back(index);
      expanded.dims->push_back(first);
      continue;
    }
    if (index.dims() == 0)
      throw std::invalid_argument(fmt::format("[{}] a mask needs dimensions", info.name));
    require_mask_shape(info, index, input.shape(), static_cast<int>(first));
    const Tensor chosen = nonzero(index);
    for (int dim = 0; dim < index.dims(); ++dim) {
      expanded.indices.push_back(
          make_view(chosen, {chosen.shape()[0]}, {chosen.strides()[0]}, dim * chosen.strides()[1]));
      expanded.dims->push_back(first + dim);
    }
  }
  return expanded;
}

Tensor mask_over(const OpInfo& info, const Tensor& input, const Subscript& given) {
  const Tensor& mask = given.indices[0];
  const int first = static_cast<int>(places_of_indices(info, input.shape(), given)[0]);
  require_mask_shape(info, mask, input.shape(), first);
  Shape sizes = mask.shape();
  Shape strides = mask.strides();
  for (int dim = first + mask.dims(); dim < input.dims(); ++dim) {
    sizes.push_back(1);
    strides.push_back(0);
  }
  return make_view(mask, sizes, strides, mask.impl()->offset);
}

void require_indices(const OpInfo& info, const Tensor& input, const std::vector<Tensor>& indices) {
  for (const Tensor& index : indices) {
    if (is_index_mask(index)) {
      require_same_device(input, index, info);
    } else {
      require_index(info, index.device().is_cpu() ? index : input, index);
    }
  }
}

Shape subscript_shape(const Tensor& input, const Tensor& index, const IndexedDims& dims) {
  Shape shape;
  for (int i = 0; i < dims.before; ++i)
    shape.push_back(input.shape()[static_cast<int>(dims.others[i])]);
  for (const std::int64_t size : index.shape()) shape.push_back(size);
  for (int i = dims.before; i < dims.others.dims(); ++i)
    shape.push_back(input.shape()[static_cast<int>(dims.others[i])]);
  return shape;
}

void require_named_places(const OpInfo& info, const Tensor& input,
                          const std::vector<Tensor>& indices, const IndexedDims& dims) {
  // Indices of a subscript, and they alone, may count from the end.
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto dim = static_cast<int>(dims.indexed[static_cast<int>(i)]);
    require_places(info, indices[i], {input.shape()[dim], true});
  }
}

void add_slices(const Tensor& sums, const Tensor& incoming, const std::vector<Tensor>& indices,
                const IndexedDims& dims) {
  if (!sums.has_values() || incoming.numel() == 0) return;
  const bool are_elsewhere = sums.cuda_backend() != nullptr &&
                             std::any_of(indices.begin(), indices.end(), [&](const Tensor& index) {
                               return !(sums.device() == index.device());
                             });
  if (are_elsewhere) return add_slices(sums, incoming, on_device_of(sums, indices), dims);
  const std::int64_t count = indices[0].numel();
  const Tensor addends = with_indices_first(incoming, dims);
  const functors::ScatteredSlices scattered{places_in(with_indexed_first(sums, dims), indices),
                                            strided_index_of(addends, 0, false), count};
  const std::int64_t slices = sums.numel() / scattered.places.width;
  run_rows(scattered, sums.dtype(), owners_of(sums, scattered.places.width, slices),
           {{sums}, inputs_of(incoming, indices)});
}

Tensor PlaceScratch::numbers() const { return empty({count_}, options_); }

// The host computes those of its own, and they are copied.
Tensor PlaceScratch::places_of(const Tensor& index) const {
  const Tensor wrapped = index.device() == options_.device ? numbers() : Tensor();
  return numbers();
}

// Both ends, each with whether it is a place: what they say is known before.
void PlaceScratch::look_at_bounds(const Tensor& index) const {
  const bool is_elsewhere = !(index.device() == options_.device);  // the host looks at its own
  if (check_ == IndexCheck::none || index.numel() == 0 || is_elsewhere) return;
  const NoGradGuard no_graph;
  if (!Context::current().rules.looks_for_both_extrema) {
    for (const auto find : {static_cast<Tensor (*)(const Tensor&)>(&max),
                            static_cast<Tensor (*)(const Tensor&)>(&min)}) {
      const Tensor end = find(index);
      const Tensor is_place = lt(end, Number(0));
    }
    return;
  }
  Tensor smallest = empty({}, options_of(index));
  const Tensor largest = empty({}, options_of(index));
  {
    const Tensor dense = row_major(index);
    const ReductionScratch scratch(dense, all_dims(dense.dims()),
                                   {2 * item_bytes(index.dtype()), true});
  }
  for (int end = 0; end < 2; ++end) {
    const Tensor is_place = empty({}, {DType::boolean, index.device()});
  }
  smallest = Tensor();
}

PlaceScratch::PlaceScratch(const Tensor& target, const IndexedDims& dims, IndexCheck check,
                           std::vector<Tensor>& indices, const Tensor& addends)
    : options_{DType::int64, target.device()}, check_(check), count_(indices[0].numel()) {
  // Neighbours stay where they are.
  const Tensor whole = dims.before == 0 ? with_indexed_first(target, dims) : target;
  look_at_bounds(indices[0]);
  places_ = places_of(indices[0]);
  // Those of further indices are added to the first's.
  for (std::size_t i = 1; i < indices.size(); ++i) {
    look_at_bounds(indices[i]);
    places_of(indices[i]);
  }
  indices.clear();
  addends_ = row_major(addends);
  if (!whole.is_contiguous()) whole_ = empty(whole.shape(), options_of(whole));
  if (addends.numel() == 0) return;  // nothing to sort
  sorted_ = numbers();
  order_ = numbers();
  const Tensor range = numbers();
  const Tensor sort =
      empty_bytes(place_sort_scratch_bytes(count_, largest_slice(target, dims), whole.device()),
                  whole.device());
}

}  // namespace ohm::ops

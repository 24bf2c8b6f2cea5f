#include "runtime/ops/indexing/index.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/indexing/subscript.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kIndex{"index"};

// ---- elements -----------------------------------------------------------------------------------

// The loop reads a slice again and again where an index has its dimensions, and the index for each
// element of a slice: there it has dimensions of size 1, which order those of the slice that are of
// size 1, too, by the strides that reshaping gives them.
Tensor empty_for_slices(const Tensor& input, const IndexedDims& dims, const Tensor& index) {
  Shape sizes;
  Shape of_slices;
  Shape ones;
  Shape of_index;
  const auto add_others = [&](int from, int to, std::int64_t index_stride) {
    for (int i = from; i < to; ++i) {
      const int dim = static_cast<int>(dims.others[i]);
      sizes.push_back(input.shape()[dim]);
      of_slices.push_back(input.strides()[dim]);
      ones.push_back(1);
      of_index.push_back(index_stride);
    }
  };
  const int last = index.dims() - 1;
  add_others(0, dims.before, last < 0 ? 1 : index.shape()[0] * index.strides()[0]);
  for (int dim = 0; dim <= last; ++dim) {
    sizes.push_back(index.shape()[dim]);
    of_slices.push_back(0);
    ones.push_back(index.shape()[dim]);
    of_index.push_back(index.strides()[dim]);
  }
  add_others(dims.before, dims.others.dims(), last < 0 ? 1 : index.strides()[last]);
  const Tensor slices = make_view(input, sizes, of_slices, input.impl()->offset);
  const Tensor spread = make_view(index, ones, of_index, index.impl()->offset);
  return empty_for_loop(sizes, {&slices, &spread}, options_of(input));
}

void gather_slices(const Tensor& out, const Tensor& input, const std::vector<Tensor>& indices,
                   const IndexedDims& dims) {
  if (!out.has_values() || !indices[0].has_values()) return;
  const Tensor whole = with_indexed_first(input, dims);
  require_named_places(kIndex, input, indices, dims);
  if (!input.has_values()) return;
  const functors::GatheredSlices gathered{
      places_in(whole, indices), strided_index_of(with_indices_first(out, dims), 0, false)};
  run_rows(gathered, out.dtype(), thread_for_each(out.numel()), {{out}, inputs_of(whole, indices)});
}

Tensor indexed(const Tensor& input, const std::vector<Tensor>& given, const IndexedDims& dims) {
  std::vector<Tensor> moved = on_device_of(input, broadcast_together(kIndex, given));
  std::vector<Tensor> indices = laid_out_alike(moved);
  Tensor out = empty_for_slices(input, dims, indices[0]);
  gather_slices(out, input, indices, dims);
  // The last copy goes first.
  while (!indices.empty()) indices.pop_back();
  while (!moved.empty()) moved.pop_back();
  return out;
}

// ---- gradients ----------------------------------------------------------------------------------

Tensor index_gradient(const Tensor& incoming, const Shape& shape, const Subscript& given) {
  Tensor sums = zeros(shape, options_of(incoming));
  std::vector<Tensor> indices;
  IndexedDims dims;
  {
    const Subscript expanded = without_masks(kIndex, sums, given);
    dims = dims_of(kIndex, shape, expanded.indices.size(), expanded.dims);
    indices = broadcast_together(kIndex, expanded.indices);
  }
  add_slices(sums, incoming, indices, dims);
  if (sums.device().is_cuda()) {
    const PlaceScratch scratch(sums, dims, IndexCheck::none, indices, incoming);
  }
  return sums;
}

// As index_gradient(), with a graph: what is chosen of its gradient is that of `grad`.
Tensor recorded_index_gradient(const Tensor& grad, const Shape& shape, const Subscript& subscript) {
  Recorder record("IndexPutImplBackward", {&grad});
  record.save_list(subscript.indices);
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

// Where there are no values, they are as good as 0.
std::int64_t place_in(const Tensor& index) {
  return index.has_values() ? static_cast<std::int64_t>(index.item()) : 0;
}

}  // namespace

Tensor index(const Tensor& input, const std::vector<Tensor>& given,
             const std::optional<Shape>& given_dims) {
  const OpFront front(kIndex);
  require_indices(kIndex, input, given);
  Recorder record("IndexBackward", {&input});
  record.save_list(given);
  const Subscript subscript = without_masks(kIndex, input, {given, given_dims});
  const std::vector<Tensor>& indices = subscript.indices;
  const IndexedDims dims = dims_of(kIndex, input.shape(), indices.size(), subscript.dims);
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

bool is_one_place(const Tensor& index) {
  return index.dims() == 0 && !is_differentiable(index.dtype()) &&
         index.dtype() != DType::boolean && index.dtype() != DType::uint8;
}

Tensor subscripted(const Tensor& input, const std::vector<Tensor>& given,
                   const std::optional<Shape>& given_dims) {
  if (std::none_of(given.begin(), given.end(), &is_one_place)) {
    return index(input, given, given_dims);
  }
  Tensor part = input;
  std::vector<Tensor> others;
  Shape dims;
  std::int64_t gone = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    const std::int64_t dim = (given_dims ? (*given_dims)[static_cast<int>(i)] : number) - gone;
    if (is_one_place(given[i])) {
      part = select(part, dim, place_in(given[i]));
      ++gone;
    } else {
      others.push_back(given[i]);
      dims.push_back(dim);
    }
  }
  return others.empty() ? part : index(part, others, dims);
}

std::vector<OpDef> index_ops() {
  return {define(kIndex, kMethod, &subscripted, {"input", "indices", "dims"})};
}

}  // namespace ohm::ops

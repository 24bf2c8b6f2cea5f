#include "runtime/ops/indexing.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/index_places.h"
#include "runtime/ops/sorting_scratch.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kGather{"gather"};
constexpr OpInfo kIndexSelect{"index_select"};
constexpr OpInfo kIndex{"index"};
constexpr OpInfo kScatterAdd{"scatter_add", CastPolicy::widest};
constexpr OpInfo kMaskedFill{"masked_fill"};
constexpr OpInfo kMaskedFillInplace{"masked_fill_"};

// Pre-condition: every index is a place.
void gather_into(const Tensor& out, const Tensor& input, int dim, const Tensor& index) {
  const bool is_scalar = input.dims() == 0;
  Shape strides = input.strides();
  if (!is_scalar) strides[dim] = 0;
  const Tensor begins = make_view(input, index.shape(), strides, input.impl()->offset);
  const functors::Gathered gathered{
      strided_index_of(index, 0, false), strided_index_of(begins, 0, false),
      is_scalar ? 1 : input.strides()[dim], is_scalar ? 1 : input.shape()[dim]};
  run_rows(gathered, out.dtype(), thread_for_each(out.numel()), {{out}, {index, input}});
}

Tensor gathered(const OpInfo& info, const Tensor& input, int dim, const Tensor& index) {
  Tensor out = empty(index.shape(), options_of(input));
  if (!out.has_values() || !input.has_values()) return out;
  require_places(info, index, {input.dims() == 0 ? 1 : input.shape()[dim]}, out);
  gather_into(out, input, dim, index);
  return out;
}

// ---- index tensors for leading dimensions -------------------------------------------------------

// Each as a view of the shape that all of them broadcast to.
std::vector<Tensor> broadcast_together(const std::vector<Tensor>& indices) {
  Shape shape = indices[0].shape();
  for (const Tensor& index : indices) shape = broadcast_shapes(shape, index.shape(), "index");
  std::vector<Tensor> views;
  for (const Tensor& index : indices) {
    const Shape strides = broadcast_strides(index.shape(), index.strides(), shape);
    views.push_back(make_view(index, shape, strides, index.impl()->offset));
  }
  return views;
}

// `indices` are of one shape and name slices of `whole`.
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

// The temporaries of the kernel that adds gradients up in the order of their places.
class PlaceScratch {
 public:
  PlaceScratch(const Tensor& like, std::int64_t count, const Tensor& gradients)
      : options_{DType::int64, like.device()}, count_(count) {
    Tensor wrapped = numbers();
    places_ = numbers();
    wrapped = Tensor();
    gradients_ = row_major(gradients);
    sorted_ = numbers();
    order_ = numbers();
    const Tensor range = numbers();
    const Tensor sort =
        empty({sort_scratch_bytes(count, 8, like.device())}, {DType::uint8, like.device()});
  }

 private:
  Tensor numbers() const { return empty({count_}, options_); }

  TensorOptions options_;
  std::int64_t count_;
  Tensor places_;
  Tensor gradients_;
  Tensor sorted_;
  Tensor order_;
};

Tensor index_gradient(const Tensor& incoming, const Shape& shape,
                      const std::vector<Tensor>& given) {
  Tensor whole = zeros(shape, options_of(incoming));
  const std::vector<Tensor> indices = broadcast_together(given);
  const std::int64_t count = indices[0].numel();
  if (whole.device().is_cuda()) {
    const PlaceScratch scratch(whole, count, incoming);
  }
  if (!whole.has_values() || incoming.numel() == 0) return whole;
  const functors::ScatteredSlices sums{places_in(whole, indices),
                                       strided_index_of(incoming, 0, false), count};
  const std::int64_t slices = whole.numel() / sums.places.width;
  run_rows(sums, whole.dtype(), owners_of(whole, sums.places.width, slices),
           {{whole}, inputs_of(incoming, indices)});
  return whole;
}

// The loop reads a slice again and again where an index has its dimensions, and the index for each
// element of a slice.
Tensor empty_for_slices(const Tensor& input, const std::vector<Tensor>& indices) {
  Shape sizes = indices[0].shape();
  Shape of_slices(sizes.dims(), 0);
  Shape of_index = indices[0].strides();
  for (int dim = static_cast<int>(indices.size()); dim < input.dims(); ++dim) {
    sizes.push_back(input.shape()[dim]);
    of_slices.push_back(input.strides()[dim]);
    of_index.push_back(0);
  }
  const Tensor slices = make_view(input, sizes, of_slices, input.impl()->offset);
  const Tensor index = make_view(indices[0], sizes, of_index, indices[0].impl()->offset);
  return empty_for_loop(sizes, {&slices, &index}, options_of(input));
}

Tensor indexed(const Tensor& input, const std::vector<Tensor>& given) {
  const std::vector<Tensor> indices = broadcast_together(given);
  Tensor out = empty_for_slices(input, indices);
  if (!out.has_values() || !indices[0].has_values()) return out;
  // Indices of a subscript, and they alone, may count from the end.
  for (std::size_t i = 0; i < indices.size(); ++i) {
    require_places(kIndex, indices[i], {input.shape()[static_cast<int>(i)], true}, out);
  }
  if (!input.has_values()) return out;
  const functors::GatheredSlices gathered{places_in(input, indices)};
  run_rows(gathered, out.dtype(), thread_for_each(out.numel()), {{out}, inputs_of(input, indices)});
  return out;
}

// ---- masks --------------------------------------------------------------------------------------

void require_mask(const OpInfo& info, const Tensor& input, const Tensor& mask) {
  require_same_device(input, mask, info);
  if (mask.dtype() != DType::boolean) {
    throw std::invalid_argument(
        fmt::format("[{}] expected a bool mask, not {}", info.name, name_of(mask.dtype())));
  }
  if (broadcast_shapes(input.shape(), mask.shape(), info.name.data()) == input.shape()) return;
  throw std::invalid_argument(fmt::format("[{}] a mask of shape {} does not broadcast to {}",
                                          info.name, mask.shape().str(), input.shape().str()));
}

void fill_where(const Tensor& target, const Tensor& mask, double value) {
  map_elements(target, target.dtype(), functors::MaskedFill{value}, target, mask);
}

Tensor filled_copy(const Tensor& input, const Tensor& mask, double value) {
  Tensor out = empty(input.shape(), options_of(input));
  copy_into(out, input);
  fill_where(out, mask, value);
  return out;
}

Recorder record_masked_fill(const Tensor& input, const Tensor& mask) {
  Recorder record("MaskedFillBackward", {&input});
  record.save(mask);
  return record;
}

void attach_masked_fill(Recorder& record, const Tensor& out) {
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor mask = call.saved(0);
    if (call.is_recorded()) return TensorList{masked_fill(call.grad(), mask, 0.0)};
    return TensorList{filled_copy(call.grad(), mask, 0.0)};
  });
}

Tensor numbers(const std::vector<double>& values, const Shape& shape) {
  return from_values(values, shape, {DType::int64, Device::cpu()});
}

Tensor indexed_matrix() { return randn({3, 4}, {DType::float64, Device::cpu()}); }

}  // namespace

Tensor gather(const Tensor& input, std::int64_t dim, const Tensor& index) {
  const OpFront front(kGather);
  const int position = gathered_dim(kGather, input, dim, index);
  Recorder record("GatherBackward", {&input});
  record.save(index);
  record.save(input);  // for its shape alone
  Tensor out = gathered(kGather, input, position, index);
  record.attach_differentiable(out, [position](BackwardCall& call) {
    const Shape shape = call.saved(1).shape();
    Tensor whole = zeros(shape, options_of(call.grad()));
    if (call.is_recorded()) {
      return TensorList{scatter_add(whole, position, call.saved(0), call.grad())};
    }
    add_at(whole, position, call.saved(0), call.grad());
    return TensorList{whole};
  });
  return out;
}

Tensor index_select(const Tensor& input, std::int64_t dim, const Tensor& index) {
  const OpFront front(kIndexSelect);
  require_index(kIndexSelect, input, index);
  const int position = wrap_dim(dim, input.dims(), "index_select");
  if (index.dims() > 1 || input.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[index_select] the index must have one dimension: {}", index.shape().str()));
  }
  Recorder record("IndexSelectBackward", {&input});
  record.save(index);
  Tensor out =
      gathered(kIndexSelect, input, position, spread_index(index, input.shape(), position));
  record.attach(out, [shape = input.shape(), position](BackwardCall& call) {
    Tensor whole = zeros(shape, options_of(call.grad()));
    add_at(whole, position, spread_index(call.saved(0), shape, position), call.grad());
    return TensorList{whole};
  });
  return out;
}

Tensor index(const Tensor& input, const std::vector<Tensor>& indices) {
  const OpFront front(kIndex);
  if (indices.empty() || static_cast<int>(indices.size()) > input.dims()) {
    throw std::invalid_argument(fmt::format("[index] {} index tensors for an input of shape {}",
                                            indices.size(), input.shape().str()));
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    require_index(kIndex, input, indices[i]);
    if (input.shape()[static_cast<int>(i)] != 0 || indices[i].numel() == 0) continue;
    throw std::invalid_argument("[index] index is out of bounds for dimension with size 0");
  }
  Recorder record("IndexBackward", {&input});
  for (const Tensor& each : indices) record.save(each);
  Tensor out = indexed(input, indices);
  record.attach(out, [shape = input.shape(), count = indices.size()](BackwardCall& call) {
    std::vector<Tensor> saved;
    for (std::size_t i = 0; i < count; ++i) saved.push_back(call.saved(i));
    return TensorList{index_gradient(call.grad(), shape, saved)};
  });
  return out;
}

Tensor scatter_add(const Tensor& given, std::int64_t dim, const Tensor& index,
                   const Tensor& given_source) {
  const OpFront front(kScatterAdd);
  const std::vector<Tensor> operands = front.widest({given, given_source});
  const Tensor& input = operands[0];
  const Tensor& source = operands[1];
  require_same_device(input, source, kScatterAdd);
  const int position = gathered_dim(kScatterAdd, input, dim, index);
  if (!(source.shape() == index.shape()) || source.dtype() != input.dtype()) {
    throw std::invalid_argument(
        fmt::format("[scatter_add] index {} and source {} do not belong to "
                    "an input of dtype {}",
                    index.shape().str(), describe(source), name_of(input.dtype())));
  }
  Recorder record("ScatterAddBackward", {&input, &source});
  record.save(record.needs(1) ? index : Tensor());
  Tensor out = copy_with_places(kScatterAdd, input, position, index);
  add_at(out, position, index, source);
  record.attach_differentiable(out, [position](BackwardCall& call) {
    TensorList grads{call.needs(0) ? call.grad() : Tensor(), Tensor()};
    if (call.needs(1)) {
      const Tensor places = call.saved(0);
      grads[1] = call.is_recorded() ? gather(call.grad(), position, places)
                                    : gathered(kScatterAdd, call.grad(), position, places);
    }
    return grads;
  });
  return out;
}

Tensor masked_fill(const Tensor& input, const Tensor& mask, double value) {
  const OpFront front(kMaskedFill);
  require_mask(kMaskedFill, input, mask);
  Recorder record = record_masked_fill(input, mask);
  Tensor out = filled_copy(input, mask, value);
  attach_masked_fill(record, out);
  return out;
}

Tensor masked_fill_(const Tensor& input, const Tensor& mask, double value) {
  const OpFront front(kMaskedFillInplace);
  require_mask(kMaskedFillInplace, input, mask);
  Recorder record = record_masked_fill(input, mask);
  begin_inplace_write(input, kMaskedFillInplace.name);
  fill_where(input, mask, value);
  attach_masked_fill(record, input);
  return input;
}

std::vector<OpDef> indexing_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const auto one = std::int64_t{1};
  const std::vector<ParamName> along = {"input", "dim", "index"};
  const std::vector<ParamName> masked = {"input", "mask", "value"};
  return {
      define(kGather, kBoth, &gather, along,
             [one] {
               return std::vector<Sample>{
                   {indexed_matrix(), one, numbers({0, 3, 3, 1, 2, 2}, {3, 2})}};
             }),
      define(kIndexSelect, kBoth, &index_select, along,
             [one] {
               return std::vector<Sample>{
                   {indexed_matrix(), one, numbers({3, 0, 3}, {3})},
                   {indexed_matrix(), std::int64_t{0}, numbers({2, 1}, {2})}};
             }),
      define(kIndex, kMethod, &index, {"input", "indices"},
             [] {
               const Tensor rows = numbers({2, 0, 2}, {3});
               return std::vector<Sample>{
                   {indexed_matrix(), std::vector<Tensor>{rows}},
                   {indexed_matrix(), std::vector<Tensor>{rows, numbers({1, 1, 3}, {3})}}};
             }),
      define(kScatterAdd, kBoth, &scatter_add, {"input", "dim", "index", "source"},
             [one] {
               return std::vector<Sample>{{indexed_matrix(), one,
                                           numbers({0, 3, 3, 1, 2, 2}, {3, 2}),
                                           randn({3, 2}, {DType::float64, Device::cpu()})}};
             }),
      define(kMaskedFill, kBoth, &masked_fill, masked,
             [] {
               return std::vector<Sample>{
                   {indexed_matrix(),
                    from_values({1, 0, 0, 1}, {4}, {DType::boolean, Device::cpu()}), 2.0}};
             }),
      define(kMaskedFillInplace, kMethod, &masked_fill_, masked),
  };
}

}  // namespace ohm::ops

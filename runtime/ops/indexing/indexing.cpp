#include "runtime/ops/indexing/indexing.h"

#include <array>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/arithmetic/whole_scalars.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/whole_functors.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/shared_elements.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kGather{"gather"};
constexpr OpInfo kTakeAlongDim{"take_along_dim"};
constexpr OpInfo kIndexSelect{"index_select"};
constexpr OpInfo kScatterAdd{"scatter_add", CastPolicy::widest};

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
  require_places(info, index, {input.dims() == 0 ? 1 : input.shape()[dim]});
  gather_into(out, input, dim, index);
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
  if (const std::optional<std::int64_t> whole = whole_scalar(value, target.dtype())) {
    return map_elements(target, target.dtype(), WholeMaskedFill{*whole}, target, mask);
  }
  map_elements(target, target.dtype(), functors::MaskedFill{value}, target, mask);
}

// Where several elements are one in memory each true one fills it.
void fill_shared_where(const Tensor& target, const Tensor& mask, double value) {
  if (!target.has_values()) return;
  const std::array<Shape, 2> strides = {
      target.strides(), broadcast_strides(mask.shape(), mask.strides(), target.shape())};
  const bool* const chosen = mask.data<const bool>();
  const std::optional<std::int64_t> whole = whole_scalar(value, target.dtype());
  visit_dtype(target.dtype(), [&]<class T>(TypeTag<T>) {
    T* const elements = target.data<T>();
    const T number = whole ? convert_element<T>(*whole) : convert_element<T>(value);
    for_each_offsets<2>(target.shape(), strides, [&](const auto& at) {
      if (chosen[at[1]]) elements[at[0]] = number;
    });
  });
}

Tensor filled_copy(const Tensor& input, const Tensor& mask, double value) {
  Tensor out = empty(input.shape(), options_of(input));
  copy_into(out, input);
  fill_where(out, mask, value);
  return out;
}

constexpr std::string_view kMaskedFillNode = "MaskedFillBackward";

void attach_masked_fill(Recorder& record, const Tensor& out) {
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor mask = call.saved(0);
    if (call.is_recorded()) return TensorList{masked_fill(call.grad(), mask, 0.0)};
    return TensorList{filled_copy(call.grad(), mask, 0.0)};
  });
}

}  // namespace

// PyTorch's scatter_add_ to zeros.
Tensor scattered_sum(const Tensor& source, int dim, const Tensor& index, const Shape& shape) {
  Tensor whole = zeros(shape, options_of(source));
  Recorder record("ScatterAddBackward", {&source});
  record.save(index);
  add_at(whole, dim, index, source);
  record.attach_differentiable(whole, [dim](BackwardCall& call) {
    return TensorList{gather(call.grad(), dim, call.saved(0))};
  });
  return whole;
}

Tensor gather(const Tensor& input, std::int64_t dim, const Tensor& index) {
  const OpFront front(kGather);
  const int position = gathered_dim(kGather, input, dim, index);
  Recorder record("GatherBackward", {&input});
  record.save(index);
  record.save(input);  // for its shape alone
  Tensor out = gathered(kGather, input, position, index);
  record.attach_differentiable(out, [position](BackwardCall& call) {
    const Shape shape = call.saved(1).shape();
    return TensorList{scattered_sum(call.grad(), position, call.saved(0), shape)};
  });
  return out;
}

Tensor take_along_dim(const Tensor& input, const Tensor& indices, std::optional<std::int64_t> dim) {
  const OpFront front(kTakeAlongDim);
  require_same_device(input, indices, kTakeAlongDim);
  if (!dim) return gather(view(input, {-1}), 0, view(indices, {-1}));
  if (input.dims() != indices.dims()) {
    throw std::invalid_argument(fmt::format(
        "[take_along_dim] input and indices should have the same number of dimensions, but got {} "
        "dimensions for input, and {} dimensions for indices",
        input.dims(), indices.dims()));
  }
  if (indices.dtype() != DType::int64) {
    throw std::invalid_argument(fmt::format(
        "[take_along_dim] dtype of indices should be Long but got {}", name_of(indices.dtype())));
  }
  if (input.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[take_along_dim] dim {} of a tensor without dimensions", *dim));
  }
  const int position = wrap_dim(*dim, input.dims(), kTakeAlongDim.name.data());
  // Each is as long as the other in all dimensions but this one.
  const auto widened = [position](const Tensor& tensor, const Tensor& other) {
    Shape theirs = other.shape();
    theirs[position] = tensor.shape()[position];
    return expand(tensor, broadcast_shapes(tensor.shape(), theirs, kTakeAlongDim.name.data()));
  };
  const Tensor wide = widened(input, indices);
  const Tensor wide_indices = widened(indices, input);
  const std::int64_t size = input.shape()[position];
  if (size == 0 || !Context::current().rules.take_along_dim_wraps_indices) {
    return gather(wide, position, wide_indices);
  }
  return gather(wide, position, remainder(wide_indices, size));
}

namespace {

// PyTorch's index_add_ to zeros, which keeps its source too.
Tensor added_to_zeros(const Tensor& source, int dim, const Tensor& index, const Shape& shape) {
  Tensor whole = zeros(shape, options_of(source));
  Recorder record("IndexAddBackward", {&source});
  record.save(index);
  record.save(source);
  add_at(whole, dim, spread_index(index, shape, dim), source);
  record.attach_differentiable(whole, [dim](BackwardCall& call) {
    return TensorList{index_select(call.grad(), dim, call.saved(0))};
  });
  return whole;
}

}  // namespace

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
  record.attach_differentiable(out, [shape = input.shape(), position](BackwardCall& call) {
    return TensorList{added_to_zeros(call.grad(), position, call.saved(0), shape)};
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
  Recorder record(kMaskedFillNode, {&input});
  record.save(mask);
  Tensor out = filled_copy(input, mask, value);
  attach_masked_fill(record, out);
  return out;
}

Tensor masked_fill_(const Tensor& input, const Tensor& mask, double value) {
  const OpFront front(kMaskedFillInplace);
  require_mask(kMaskedFillInplace, input, mask);
  Recorder record = Recorder::overwriting(kMaskedFillInplace.name, kMaskedFillNode, {&input});
  record.save(mask);
  // PyTorch warns of an expanded tensor, and fills it.
  input.bump_version();
  if (has_elements_in_one_place(input)) {
    fill_shared_where(input, mask, value);
  } else {
    fill_where(input, mask, value);
  }
  attach_masked_fill(record, input);
  return input;
}

std::vector<OpDef> indexing_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const std::vector<ParamName> along = {"input", "dim", "index"};
  return {
      define(kGather, kBoth, &gather, along),
      define(kTakeAlongDim, kBoth, &take_along_dim, {"input", "indices", "dim"}),
      define(kIndexSelect, kBoth, &index_select, along),
      define(kScatterAdd, kBoth, &scatter_add, {"input", "dim", "index", "source"}),
  };
}

}  // namespace ohm::ops

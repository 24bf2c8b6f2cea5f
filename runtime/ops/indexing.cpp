#include "runtime/ops/indexing.h"

#include <algorithm>

#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/formulas/arithmetic.h"
#include "runtime/ops/host_values.h"
#include "runtime/ops/index_places.h"
#include "runtime/ops/sorting_scratch.h"
#include "runtime/tensor/arithmetic.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kGather{"gather"};
constexpr OpInfo kIndexSelect{"index_select"};
constexpr OpInfo kIndex{"index"};
constexpr OpInfo kScatterAdd{"scatter_add"};
constexpr OpInfo kMaskedFill{"masked_fill"};
constexpr OpInfo kMaskedFillInplace{"masked_fill_"};

}  // namespace

void require_index(const OpInfo& info, const Tensor& input, const Tensor& index) {
  require_same_device(input, index, info);
  if (index.dtype() == DType::int64 || index.dtype() == DType::int32) return;
  throw std::invalid_argument(fmt::format("[{}] expected an index of dtype int64 or int32, not {}",
                                          info.name, name_of(index.dtype())));
}

void require_place(const OpInfo& info, std::int64_t index, std::int64_t size) {
  if (index >= 0 && index < size) return;
  throw std::invalid_argument(
      fmt::format("[{}] index {} is out of bounds for a size of {}", info.name, index, size));
}

int gathered_dim(const OpInfo& info, const Tensor& input, std::int64_t dim, const Tensor& index) {
  require_index(info, input, index);
  const int position = wrap_dim(dim, input.dims(), info.name.data());
  bool fits = index.dims() == input.dims();
  for (int i = 0; fits && i < input.dims(); ++i) {
    fits = i == position || index.shape()[i] <= input.shape()[i];
  }
  if (!fits) {
    throw std::invalid_argument(fmt::format("[{}] an index of shape {} does not fit an input of {}",
                                            info.name, index.shape().str(), input.shape().str()));
  }
  return position;
}

void add_at(const OpInfo& info, const Tensor& target, int dim, const Tensor& index,
            const Tensor& source, double factor) {
  if (!target.has_values() || !source.has_values()) return;
  visit_dtype(target.dtype(), [&]<class T>(TypeTag<T>) {
    const std::vector<double> values = to_doubles(source);
    T* data = target.data<T>();
    for_each_place(info, target, dim, index, [&](std::int64_t offset, std::int64_t number) {
      const double sum =
          convert_element<double>(data[offset]) + factor * values[static_cast<std::size_t>(number)];
      data[offset] = convert_element<T>(sum);
    });
  });
}

Tensor spread_index(const Tensor& index, const Shape& shape, int dim) {
  Shape sizes = shape;
  Shape strides(shape.dims(), 0);
  sizes[dim] = index.numel();
  strides[dim] = index.dims() == 0 ? 1 : index.strides()[0];
  return make_view(index, sizes, strides, index.impl()->offset);
}

namespace {

Tensor gathered(const OpInfo& info, const Tensor& input, int dim, const Tensor& index) {
  Tensor out = empty(index.shape(), options_of(input));
  if (!out.has_values() || !input.has_values()) return out;
  visit_dtype(input.dtype(), [&]<class T>(TypeTag<T>) {
    for_each_place(info, input, dim, index, [&](std::int64_t offset, std::int64_t number) {
      out.data<T>()[number] = input.data<const T>()[offset];
    });
  });
  return out;
}

// ---- index tensors for leading dimensions -------------------------------------------------------

// The indices as one: the number of the chosen slice, when the leading dimensions are seen as one.
struct SliceIndex {
  Shape shape;                       ///< of the indices, broadcast
  std::vector<std::int64_t> slices;  ///< empty without values
  std::int64_t slice_count = 1;
  std::int64_t slice_numel = 1;
};

SliceIndex slice_index(const Shape& input, const std::vector<Tensor>& indices) {
  SliceIndex result{indices[0].shape(), {}, 1, 1};
  for (const Tensor& index : indices) {
    result.shape = broadcast_shapes(result.shape, index.shape(), "index");
  }
  const auto leading = static_cast<int>(indices.size());
  for (int dim = 0; dim < input.dims(); ++dim) {
    (dim < leading ? result.slice_count : result.slice_numel) *= input[dim];
  }
  if (!indices[0].has_values()) return result;
  result.slices.assign(static_cast<std::size_t>(result.shape.numel()), 0);
  for (int dim = 0; dim < leading; ++dim) {
    const Operand<std::int64_t> places(indices[static_cast<std::size_t>(dim)], result.shape);
    std::size_t next = 0;
    for_each_offset(result.shape, places.strides(), [&](std::int64_t offset) {
      std::int64_t& slice = result.slices[next++];
      // Indices of a subscript, and they alone, may count from the end.
      const std::int64_t given = places.data()[offset];
      const std::int64_t place = given < 0 ? given + input[dim] : given;
      if (place < 0 || place >= input[dim]) require_place(kIndex, given, input[dim]);
      slice = slice * input[dim] + place;
    });
  }
  return result;
}

// The temporaries of the kernel that adds gradients up in the order of their places.
class PlaceScratch {
 public:
  explicit PlaceScratch(const Tensor& like, std::int64_t count)
      : options_{DType::int64, like.device()}, count_(count) {
    Tensor wrapped = numbers();
    places_ = numbers();
    wrapped = Tensor();
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
  Tensor sorted_;
  Tensor order_;
};

Tensor index_gradient(const Tensor& incoming, const Shape& shape,
                      const std::vector<Tensor>& indices) {
  Tensor whole = zeros(shape, options_of(incoming));
  const SliceIndex chosen = slice_index(shape, indices);
  if (whole.device().is_cuda()) {
    const Tensor grad = row_major(incoming);
    const PlaceScratch scratch(whole, chosen.shape.numel());
  }
  if (!whole.has_values()) return whole;
  const std::vector<double> values = to_doubles(incoming);
  std::vector<double> sums(static_cast<std::size_t>(whole.numel()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto width = static_cast<std::size_t>(chosen.slice_numel);
    sums[static_cast<std::size_t>(chosen.slices[i / width]) * width + i % width] += values[i];
  }
  store_values(whole, sums);
  return whole;
}

Tensor indexed(const Tensor& input, const SliceIndex& chosen, int leading) {
  Shape shape = chosen.shape;
  for (int dim = leading; dim < input.dims(); ++dim) shape.push_back(input.shape()[dim]);
  Tensor out = empty(shape, options_of(input));
  if (!out.has_values() || !input.has_values()) return out;
  const Operand<double> data(input, input.shape());
  std::vector<double> flat;
  for_each_offset(input.shape(), data.strides(),
                  [&](std::int64_t offset) { flat.push_back(data.data()[offset]); });
  visit_dtype(out.dtype(), [&]<class T>(TypeTag<T>) {
    const auto width = static_cast<std::size_t>(chosen.slice_numel);
    for (std::size_t i = 0; i < chosen.slices.size() * width; ++i) {
      const std::size_t from = static_cast<std::size_t>(chosen.slices[i / width]) * width;
      out.data<T>()[i] = convert_element<T>(flat[from + i % width]);
    }
  });
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
  visit_dtype(target.dtype(), [&]<class T>(TypeTag<T>) {
    map_binary<T, T>(target, target, mask, formulas::Filled{value});
  });
}

Tensor filled_copy(const Tensor& input, const Tensor& mask, double value) {
  Tensor out = copy_of(input);
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

Tensor matrix() { return randn({3, 4}, {DType::float64, Device::cpu()}); }

}  // namespace

Tensor gather(const Tensor& input, std::int64_t dim, const Tensor& index) {
  const OpFront front(kGather);
  const int position = gathered_dim(kGather, input, dim, index);
  Recorder record("GatherBackward", {&input});
  record.save(index);
  Tensor out = gathered(kGather, input, position, index);
  record.attach_differentiable(out, [shape = input.shape(), position](BackwardCall& call) {
    Tensor whole = zeros(shape, options_of(call.grad()));
    if (call.is_recorded()) {
      return TensorList{scatter_add(whole, position, call.saved(0), call.grad())};
    }
    add_at(kGather, whole, position, call.saved(0), call.grad());
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
    add_at(kIndexSelect, whole, position, spread_index(call.saved(0), shape, position),
           call.grad());
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
  for (const Tensor& each : indices) require_index(kIndex, input, each);
  const SliceIndex chosen = slice_index(input.shape(), indices);
  Recorder record("IndexBackward", {&input});
  for (const Tensor& each : indices) record.save(each);
  Tensor out = indexed(input, chosen, static_cast<int>(indices.size()));
  record.attach(out, [shape = input.shape(), count = indices.size()](BackwardCall& call) {
    std::vector<Tensor> saved;
    for (std::size_t i = 0; i < count; ++i) saved.push_back(call.saved(i));
    return TensorList{index_gradient(call.grad(), shape, saved)};
  });
  return out;
}

Tensor scatter_add(const Tensor& input, std::int64_t dim, const Tensor& index,
                   const Tensor& source) {
  const OpFront front(kScatterAdd);
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
  Tensor out = copy_of(input);
  add_at(kScatterAdd, out, position, index, source);
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
               return std::vector<Sample>{{matrix(), one, numbers({0, 3, 3, 1, 2, 2}, {3, 2})}};
             }),
      define(kIndexSelect, kBoth, &index_select, along,
             [one] {
               return std::vector<Sample>{{matrix(), one, numbers({3, 0, 3}, {3})},
                                          {matrix(), std::int64_t{0}, numbers({2, 1}, {2})}};
             }),
      define(kIndex, kMethod, &index, {"input", "indices"},
             [] {
               const Tensor rows = numbers({2, 0, 2}, {3});
               return std::vector<Sample>{
                   {matrix(), std::vector<Tensor>{rows}},
                   {matrix(), std::vector<Tensor>{rows, numbers({1, 1, 3}, {3})}}};
             }),
      define(kScatterAdd, kBoth, &scatter_add, {"input", "dim", "index", "source"},
             [one] {
               return std::vector<Sample>{{matrix(), one, numbers({0, 3, 3, 1, 2, 2}, {3, 2}),
                                           randn({3, 2}, {DType::float64, Device::cpu()})}};
             }),
      define(kMaskedFill, kBoth, &masked_fill, masked,
             [] {
               return std::vector<Sample>{
                   {matrix(), from_values({1, 0, 0, 1}, {4}, {DType::boolean, Device::cpu()}),
                    2.0}};
             }),
      define(kMaskedFillInplace, kMethod, &masked_fill_, masked),
  };
}

}  // namespace ohm::ops

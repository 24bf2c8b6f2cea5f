#include "runtime/ops/indexing/index_put.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/index.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/indexing/subscript.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kIndexPut{"index_put", CastPolicy::widest};
constexpr OpInfo kIndexPutInplace{"index_put_"};

/// One call: where, and whether what is there stays.
struct Placement {
  Subscript subscript;
  bool accumulates = false;
};

// One number of the host is written into a tensor of a GPU.
bool is_number_of_host(const Tensor& values) {
  return values.dims() == 0 && values.device().is_cpu() && !values.requires_grad();
}

void require_values_for(const OpInfo& info, const Tensor& input, const Tensor& values) {
  const bool is_within_reach = values.device() == input.device() || is_number_of_host(values);
  if (is_within_reach && values.dtype() == input.dtype()) return;
  throw std::invalid_argument(
      fmt::format("[{}] values must be of the input's dtype and on its device, got {} for {}",
                  info.name, describe(values), describe(input)));
}

void require_elements(const OpInfo& info, const Tensor& input, const std::vector<Tensor>& indices,
                      const IndexedDims& dims) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto dim = static_cast<int>(dims.indexed[static_cast<int>(i)]);
    if (input.shape()[dim] != 0 || indices[i].numel() == 0) continue;
    throw std::invalid_argument(
        fmt::format("[{}] index is out of bounds for dimension with size 0", info.name));
  }
}

Tensor spread_values(const OpInfo& info, const Tensor& values, const Shape& shape) {
  if (broadcast_shapes(values.shape(), shape, info.name.data()) == shape) {
    return broadcast_view(values, shape);
  }
  throw std::invalid_argument(
      fmt::format("[{}] shape mismatch: values of shape {} cannot be broadcast to the indexed "
                  "elements of shape {}",
                  info.name, values.shape().str(), shape.str()));
}

// The offsets of the elements of one slice.
std::vector<std::int64_t> offsets_of_slice(const Tensor& whole, int leading) {
  Shape sizes;
  Shape strides;
  for (int dim = leading; dim < whole.dims(); ++dim) {
    sizes.push_back(whole.shape()[dim]);
    strides.push_back(whole.strides()[dim]);
  }
  std::vector<std::int64_t> offsets;
  for_each_offset(sizes, strides, [&](std::int64_t offset) { offsets.push_back(offset); });
  return offsets;
}

// Where each named slice starts.
std::vector<std::int64_t> starts_of_slices(const Tensor& whole,
                                           const std::vector<Tensor>& indices) {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(indices[0].numel()));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto dim = static_cast<int>(i);
    const std::vector<std::int64_t> places = to_integers(indices[i]);
    for (std::size_t k = 0; k < starts.size(); ++k) {
      const std::int64_t place = places[k] < 0 ? places[k] + whole.shape()[dim] : places[k];
      starts[k] += place * whole.strides()[dim];
    }
  }
  return starts;
}

// Writes the values, one after the other: of those with one place the last one stays.
void write_slices(const Tensor& out, const Tensor& values, const std::vector<Tensor>& indices,
                  const IndexedDims& dims) {
  if (!out.has_values() || lacks_values(values) || values.numel() == 0) return;
  const Tensor whole = with_indexed_first(out, dims);
  const std::vector<std::int64_t> slice = offsets_of_slice(whole, static_cast<int>(indices.size()));
  const std::vector<std::int64_t> starts = starts_of_slices(whole, indices);
  const Tensor source = with_indices_first(values, dims);
  visit_dtype(out.dtype(), [&]<class T>(TypeTag<T>) {
    T* const elements = whole.data<T>();
    const T* const written = source.data<const T>();
    std::size_t number = 0;
    for_each_offset(source.shape(), source.strides(), [&](std::int64_t offset) {
      elements[starts[number / slice.size()] + slice[number % slice.size()]] = written[offset];
      ++number;
    });
  });
}

// The kernel that adds looks at the indices, sorts their places and reads a row-major input.
void take_adding_scratch(const Tensor& out, const Tensor& values, std::vector<Tensor>& indices,
                         const IndexedDims& dims) {
  if (!out.device().is_cuda()) return;
  const Tensor dense = row_major(out);
  const PlaceScratch scratch(dense, dims, IndexCheck::bounds, indices, values);
}

// One mask alone, of which no place has to be looked for where a number is written.
bool is_under_mask(const Placement& placement) {
  const std::vector<Tensor>& indices = placement.subscript.indices;
  return !placement.accumulates && indices.size() == 1 && is_index_mask(indices[0]);
}

void fill_under_mask(const OpInfo& info, const Tensor& out, const Tensor& number,
                     const Subscript& subscript) {
  const NoGradGuard no_graph;
  masked_fill_(out, mask_over(info, out, subscript), number.item());
}

void put_values(const OpInfo& info, const Tensor& out, const Tensor& given,
                const Placement& placement) {
  if (given.numel() == 1 && given.device().is_cpu() && is_under_mask(placement)) {
    return fill_under_mask(info, out, given, placement.subscript);
  }
  const Tensor values = to(given, out.device(), std::nullopt);
  const Subscript subscript = without_masks(info, out, placement.subscript);
  const IndexedDims dims = dims_of(info, out.shape(), subscript.indices.size(), subscript.dims);
  require_elements(info, out, subscript.indices, dims);
  std::vector<Tensor> indices = broadcast_together(info, subscript.indices);
  const Tensor spread = spread_values(info, values, subscript_shape(out, indices[0], dims));
  if (out.has_values() && indices[0].has_values()) {
    require_named_places(info, out, indices, dims);
  }
  if (placement.accumulates) {
    // Views, which hold no casts.
    std::vector<Tensor> named;
    for (const Tensor& index : subscript.indices) {
      named.push_back(broadcast_view(index, indices[0].shape()));
    }
    take_adding_scratch(out, spread, indices, dims);
    add_slices(out, spread, named, dims);
    return;
  }
  indices = laid_out_alike(on_device_of(out, indices));
  write_slices(out, spread, indices, dims);
  // The first copy goes first.
  for (Tensor& index : indices) index = Tensor();
}

// `shape`, `device`: of the values.
TensorList put_gradients(const BackwardCall& call, std::size_t count, const Placement& placement,
                         const Shape& shape, Device device) {
  std::vector<Tensor> indices;
  for (std::size_t i = 0; i < count; ++i) indices.push_back(call.saved(i));
  const std::optional<Shape>& dims = placement.subscript.dims;
  TensorList grads{Tensor(), Tensor()};
  if (call.needs(0) && placement.accumulates) grads[0] = call.grad();
  if (call.needs(0) && !placement.accumulates) {
    const Tensor nothing = zeros(shape, {call.grad().dtype(), device});
    grads[0] = index_put(call.grad(), indices, nothing, false, dims);
  }
  if (call.needs(1)) grads[1] = index(call.grad(), indices, dims);
  return grads;
}

Tensor put(const OpInfo& info, const Tensor& input, const Tensor& values,
           const Placement& placement, bool is_inplace) {
  const OpFront front(info);
  const std::vector<Tensor>& indices = placement.subscript.indices;
  require_indices(info, input, indices);
  require_values_for(info, input, values);
  if (is_inplace) require_no_partial_overlap(input, values, info.name);
  constexpr const char* kNode = "IndexPutBackward";
  Recorder record = is_inplace ? Recorder::overwriting(info.name, kNode, {&input, &values})
                               : Recorder(kNode, {&input, &values});
  record.save_list(indices);
  const Tensor out = is_inplace ? input : copy_of(input);
  if (is_inplace) begin_inplace_write(input, info.name);
  put_values(info, out, values, placement);
  const Placement kept{{{}, placement.subscript.dims}, placement.accumulates};
  record.attach_differentiable(
      out, [kept, count = indices.size(), shape = values.shape(), device = values.device()](
               BackwardCall& call) { return put_gradients(call, count, kept, shape, device); });
  return out;
}

// ---- a number -----------------------------------------------------------------------------------

Tensor tensor_of_number(const Tensor& input, const Number& value, Device device) {
  return full({}, value.value, {input.dtype(), device});
}

bool is_place_on_device_of(const Tensor& input, const std::vector<Tensor>& indices) {
  return indices.size() == 1 && input.device().is_cuda() && indices[0].dtype() == DType::int64 &&
         indices[0].device() == input.device();
}

void fill_places(const Tensor& out, const Tensor& number, const Subscript& subscript) {
  const std::vector<Tensor>& indices = subscript.indices;
  const IndexedDims dims = dims_of(kIndexPutInplace, out.shape(), 1, subscript.dims);
  require_elements(kIndexPutInplace, out, indices, dims);
  if (out.has_values() && indices[0].has_values()) {
    require_named_places(kIndexPutInplace, out, indices, dims);
  }
  write_slices(out, broadcast_view(number, subscript_shape(out, indices[0], dims)), indices, dims);
}

Tensor filled_at(const Tensor& input, const Tensor& index, const std::optional<Shape>& dims,
                 const Number& value, bool is_inplace) {
  const OpFront front(kIndexPutInplace);
  constexpr const char* kNode = "IndexFillBackward";
  Recorder record = is_inplace ? Recorder::overwriting(kIndexPutInplace.name, kNode, {&input})
                               : Recorder(kNode, {&input});
  record.save(index);
  const Tensor out = is_inplace ? input : copy_of(input);
  if (is_inplace) begin_inplace_write(input, kIndexPutInplace.name);
  fill_places(out, tensor_of_number(input, value, Device::cpu()), {{index}, dims});
  record.attach_differentiable(out, [dims](BackwardCall& call) {
    return TensorList{filled_at(call.grad(), call.saved(0), dims, Number(0), false)};
  });
  return out;
}

Shape without_leading_ones(const Shape& shape) {
  Shape rest;
  for (const std::int64_t size : shape) {
    if (size != 1 || !rest.empty()) rest.push_back(size);
  }
  return rest;
}

}  // namespace

Tensor index_put(const Tensor& input, const std::vector<Tensor>& indices, const Tensor& values,
                 bool accumulate, const std::optional<Shape>& dims) {
  const OpFront front(kIndexPut);
  const std::vector<Tensor> operands = front.widest({input, values});
  return put(kIndexPut, operands[0], operands[1], {{indices, dims}, accumulate}, false);
}

Tensor index_put_(const Tensor& input, const std::vector<Tensor>& indices,
                  const TensorOrNumber& values, bool accumulate, const std::optional<Shape>& dims) {
  const Placement placement{{indices, dims}, accumulate};
  const Number* const number = std::get_if<Number>(&values);
  if (number == nullptr) {
    return put(kIndexPutInplace, input, std::get<Tensor>(values), placement, true);
  }
  require_indices(kIndexPutInplace, input, indices);
  const bool is_filled = Context::current().rules.numbers_fill_indices;
  if (is_filled && is_under_mask(placement)) {
    const Tensor mask = mask_over(kIndexPutInplace, input, placement.subscript);
    return masked_fill_(input, mask, number->value);
  }
  if (is_filled && !accumulate && is_place_on_device_of(input, indices)) {
    return filled_at(input, indices[0], dims, *number, true);
  }
  const Device device = is_filled ? input.device() : Device::cpu();
  return put(kIndexPutInplace, input, tensor_of_number(input, *number, device), placement, true);
}

void set_at(const Tensor& input, const Tensor& index, const TensorOrNumber& values) {
  const bool selects = is_one_place(index);
  const Tensor part = selects ? subscripted(input, {index}) : Tensor();
  const Tensor* const tensor = std::get_if<Tensor>(&values);
  if (tensor == nullptr) {
    selects ? fill_(part, std::get<Number>(values).value)
            : index_put_(input, {index}, values, false);
    return;
  }
  const Shape rest = without_leading_ones(tensor->shape());
  const Tensor source = rest == tensor->shape() ? *tensor : view(*tensor, rest);
  selects ? copy_(part, source) : index_put_(input, {index}, source, false);
}

std::vector<OpDef> index_put_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName accumulate{"accumulate", false};
  return {define(kIndexPut, kBoth, &index_put, {"input", "indices", "values", accumulate, "dims"}),
          define(kIndexPutInplace, kBoth, &index_put_,
                 {"input", "indices", "values", accumulate, "dims"})};
}

}  // namespace ohm::ops

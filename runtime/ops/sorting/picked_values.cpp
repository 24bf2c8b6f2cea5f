#include "runtime/ops/sorting/picked_values.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

// The gradient of picked values: zeros with each value's gradient where it came from.
Tensor scattered_gradient(const Tensor& grad, const Tensor& indices, const Shape& shape, int dim) {
  Tensor whole = zeros(shape, options_of(grad));
  if (!whole.has_values()) return whole;
  // Where the picked dimension was dropped, it is one of size 1.
  const auto as_picked = [&](const Tensor& tensor) {
    if (tensor.dims() == shape.dims()) return tensor;
    Shape sizes(shape.dims(), 1);
    Shape strides(shape.dims(), 1);
    for (int i = 0; i < tensor.dims(); ++i) {
      const int to = i < dim ? i : i + 1;
      sizes[to] = tensor.shape()[i];
      strides[to] = tensor.strides()[i];
    }
    return make_view(tensor, sizes, strides, tensor.impl()->offset);
  };
  write_at(whole, dim, as_picked(indices), as_picked(grad), 0.0);
  return whole;
}

}  // namespace

int picked_dim(const OpInfo& info, const Tensor& input, std::int64_t dim) {
  if (input.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] a tensor without dimensions has nothing to pick from", info.name));
  }
  const int position = wrap_dim(dim, input.dims(), info.name.data());
  if (input.shape()[position] == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] dimension {} has no elements", info.name, position));
  }
  return position;
}

void refuse_bool(const OpInfo& info, const Tensor& input) {
  if (input.dtype() != DType::boolean) return;
  throw std::invalid_argument(fmt::format("[{}] does not support bool input", info.name));
}

void record_pick(std::string_view node, const Tensor& input, const ValuesAndIndices& out, int dim) {
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.save_output(out.second);
    record.attach_differentiable(out.first, [shape = input.shape(), dim](BackwardCall& call) {
      return TensorList{picked_gradient(call.grad(), call.saved(0), shape, dim)};
    });
  }
}

Tensor picked_gradient(const Tensor& grad, const Tensor& indices, const Shape& shape, int dim) {
  Tensor whole = scattered_gradient(grad, indices, shape, dim);
  if (Recorder record("ScatterBackward", {&grad}); record.is_needed()) {
    record.save(indices);
    record.attach_differentiable(whole, [dim](BackwardCall& call) {
      const Tensor places = call.saved(0);
      if (places.dims() == call.grad().dims()) return TensorList{gather(call.grad(), dim, places)};
      const Tensor picked = gather(call.grad(), dim, unsqueeze(places, dim));
      return TensorList{squeeze(picked, dim)};
    });
  }
  return whole;
}

}  // namespace ohm::ops

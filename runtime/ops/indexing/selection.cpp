#include "runtime/ops/indexing/selection.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/indexing/index.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/indexing/nonzero.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "runtime/ops/sorting/sorting_scratch.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMaskedSelect{"masked_select"};

void require_mask_of(const Tensor& input, const Tensor& mask) {
  require_same_device(input, mask, kMaskedSelect);
  if (mask.dtype() == DType::boolean) return;
  throw std::invalid_argument("[masked_select] expected BoolTensor for mask");
}

// Of at least one dimension.
Tensor seen_as(const Tensor& tensor, const Shape& shape) {
  const Tensor wide = broadcast_view(tensor, shape);
  return shape.empty() ? make_view(wide, {1}, {1}, wide.impl()->offset) : wide;
}

// The addends, one after the other, where the mask is true.
void write_where(const Tensor& target, const Tensor& mask, const Tensor& source) {
  if (!target.has_values() || source.numel() == 0) return;
  const std::vector<double> chosen = to_doubles(mask);
  const std::vector<double> addends = to_doubles(source);
  std::vector<double> values(chosen.size(), 0.0);
  auto next = addends.begin();
  for (std::size_t i = 0; i < chosen.size() && next != addends.end(); ++i) {
    if (chosen[i] != 0) values[i] = *next++;
  }
  copy_into(target, from_values(values, target.shape(), {target.dtype(), Device::cpu()}));
}

Tensor masked_select_gradient(const Tensor& grad, const Tensor& input, const Tensor& given_mask) {
  const Shape shape = broadcast_shapes(input.shape(), given_mask.shape(), "masked_select");
  Tensor whole = zeros_like(broadcast_view(input, shape));
  if (whole.numel() == 0) return whole;
  const Device device = whole.device();
  const Tensor sums = device.is_cuda() ? empty(shape, {DType::int64, device}) : Tensor();
  const Tensor mask = row_major(broadcast_view(given_mask, shape));
  if (device.is_cuda()) {
    const Tensor scan =
        empty_bytes(scan_scratch_bytes(whole.numel(), DType::int64, device), device);
  }
  const Tensor source = row_major(grad);
  write_where(whole, mask, source);
  return whole;
}

// As masked_select_gradient(), with a graph: what the mask chooses of its gradient is that of
// `grad`.
Tensor recorded_selection_gradient(const Tensor& grad, const Tensor& input, const Tensor& mask) {
  Recorder record("MaskedScatterBackward", {&grad});
  record.save(mask);
  Tensor whole = masked_select_gradient(grad, input, mask);
  record.attach_differentiable(whole, [shape = grad.shape()](BackwardCall& call) {
    const Tensor chosen = masked_select(call.grad(), call.saved(0));
    return TensorList{view(chosen, shape)};
  });
  return whole;
}

}  // namespace

Tensor masked_select(const Tensor& input, const Tensor& mask) {
  const OpFront front(kMaskedSelect);
  require_mask_of(input, mask);
  require_known_values(kMaskedSelect, mask);
  const Shape shape = broadcast_shapes(input.shape(), mask.shape(), "masked_select");
  Recorder record("MaskedSelectBackward", {&input});
  record.save(mask);
  record.save(input);
  Tensor out;
  {
    const GradModeGuard unrecorded(false);
    out = index(seen_as(input, shape), {seen_as(mask, shape)});
  }
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor chosen = call.saved(0);
    return TensorList{recorded_selection_gradient(call.grad(), call.saved(1), chosen)};
  });
  return out;
}

namespace {

// A tensor's number is read, whichever device it is on.
double filling_number(const OpInfo& info, const Tensor& value) {
  if (value.dims() == 0) return value.item();
  throw std::invalid_argument(
      fmt::format("[{}] only supports a 0-dimensional value tensor, but got tensor with {} "
                  "dimension(s)",
                  info.name, value.dims()));
}

void attach_filling(Recorder& record, const Tensor& out) {
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor mask = call.saved(0);
    TensorList grads(2);
    if (call.needs(0)) grads[0] = masked_fill(call.grad(), mask, 0.0);
    if (call.needs(1)) grads[1] = sum(masked_select(call.grad(), mask));
    return grads;
  });
}

Tensor filled_with(const Tensor& input, const Tensor& mask, const Tensor& value) {
  const double number = filling_number(kMaskedFill, value);
  Recorder record("MaskedFillBackward", {&input, &value});
  record.save(mask);
  Tensor out;
  {
    const NoGradGuard no_graph;
    out = masked_fill(input, mask, number);
  }
  attach_filling(record, out);
  return out;
}

Tensor overwritten_with(const Tensor& input, const Tensor& mask, const Tensor& value) {
  const double number = filling_number(kMaskedFillInplace, value);
  Recorder record =
      Recorder::overwriting(kMaskedFillInplace.name, "MaskedFillBackward", {&input, &value});
  record.save(mask);
  {
    const NoGradGuard no_graph;
    masked_fill_(input, mask, number);
  }
  attach_filling(record, input);
  return input;
}

Tensor masked_fill_row(const Tensor& input, const Tensor& mask, const TensorOrNumber& value) {
  if (is_number(value)) return masked_fill(input, mask, number_of(value));
  return filled_with(input, mask, tensor_of(value));
}

Tensor masked_fill_row_(const Tensor& input, const Tensor& mask, const TensorOrNumber& value) {
  if (is_number(value)) return masked_fill_(input, mask, number_of(value));
  return overwritten_with(input, mask, tensor_of(value));
}

}  // namespace

std::vector<OpDef> selection_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const std::vector<ParamName> filled = {"input", "mask", "value"};
  return {
      define(kMaskedFill, kBoth, &masked_fill_row, filled),
      define(kMaskedFillInplace, kMethod, &masked_fill_row_, filled),
      define(kMaskedSelect, kBoth, &masked_select, {"input", "mask"}),
  };
}

}  // namespace ohm::ops

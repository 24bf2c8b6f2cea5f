#include "runtime/ops/shape/windows.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/recorder.h"
#include "runtime/autograd/view_history.h"
#include "runtime/ops/op_front.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kUnfold{"unfold"};

struct Windows {
  int dim;
  std::int64_t size;
  std::int64_t step;
};

Tensor windows_of(const Tensor& tensor, const Windows& windows) {
  const bool is_number = tensor.dims() == 0;
  Shape sizes = is_number ? Shape{1} : tensor.shape();
  Shape strides = is_number ? Shape{1} : tensor.strides();
  const std::int64_t stride = strides[windows.dim];
  sizes[windows.dim] = (sizes[windows.dim] - windows.size) / windows.step + 1;
  strides[windows.dim] = stride * windows.step;
  sizes.push_back(windows.size);
  strides.push_back(is_number ? 1 : stride);
  return make_view(tensor, sizes, strides, tensor.impl()->offset);
}

// The elements that stand at `place` in each window.
Tensor at_place(const Tensor& windows, std::int64_t place) {
  Shape sizes = windows.shape();
  Shape strides = windows.strides();
  const int last = sizes.dims() - 1;
  const std::int64_t offset = windows.impl()->offset + place * strides[last];
  sizes.erase(last);
  strides.erase(last);
  return make_view(windows, sizes, strides, offset);
}

// Each element's gradient is the sum over the windows that it stands in. Where windows overlap,
// PyTorch makes a list of the places on the device.
Tensor window_gradient(const Tensor& grad, const Shape& shape, const Windows& windows) {
  Tensor whole = zeros(shape, options_of(grad));
  const Tensor target = windows_of(whole, windows);
  if (windows.step >= windows.size) {
    copy_into(target, grad);
    return whole;
  }
  const std::int64_t length = shape.dims() == 0 ? 1 : shape[windows.dim];
  const std::int64_t covered = (grad.shape()[windows.dim] - 1) * windows.step + windows.size;
  const std::int64_t places = std::min(length, covered);
  const Tensor indices = empty({places}, {DType::int64, grad.device()});
  for (std::int64_t place = 0; place < windows.size; ++place) {
    accumulate_into(at_place(target, place), at_place(grad, place));
  }
  return whole;
}

Tensor record_windows(const Tensor& input, const Windows& windows) {
  Tensor out = windows_of(input, windows);
  if (Recorder record("UnfoldBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [shape = input.shape(), windows](BackwardCall& call) {
      Tensor whole = window_gradient(call.grad(), shape, windows);
      if (Recorder again("UnfoldBackwardBackward", {&call.grad()}); again.is_needed()) {
        again.attach_differentiable(whole, [windows](BackwardCall& second) {
          return TensorList{record_windows(second.grad(), windows)};
        });
      }
      return TensorList{whole};
    });
  }
  // A write to the input makes a view's node anew, which does not add up windows that overlap: such
  // views are refused then.
  const bool overlaps = windows.step < windows.size;
  track_view(out, input, overlaps ? ViewOrigin::custom_function : ViewOrigin::graph);
  return out;
}

}  // namespace

Tensor unfold(const Tensor& input, std::int64_t dim, std::int64_t size, std::int64_t step) {
  const OpFront front(kUnfold);
  const int position = wrap_dim(dim, std::max(input.dims(), 1), "unfold");
  const std::int64_t length = input.dims() == 0 ? 1 : input.shape()[position];
  if (size < 0 || size > length) {
    throw std::invalid_argument(
        fmt::format("[unfold] maximum size for tensor at dimension {} is {} but size is {}",
                    position, length, size));
  }
  if (step <= 0) {
    throw std::invalid_argument(fmt::format("[unfold] step is {} but must be > 0", step));
  }
  return record_windows(input, {position, size, step});
}

std::vector<OpDef> window_ops() {
  return {define(kUnfold, kMethod, &unfold, {"input", "dimension", "size", "step"})};
}

}  // namespace ohm::ops

#include "runtime/ops/convert.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/autograd/recorder.h"
#include "runtime/tensor/arithmetic.h"
#include "runtime/tensor/factories.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kTo{"to"};
constexpr OpInfo kClone{"clone"};
constexpr OpInfo kContiguous{"contiguous"};
constexpr OpInfo kCopy{"copy_"};

// One copy that may change device and dtype at once.
Tensor copy_to(const Tensor& input, Device device, DType dtype) {
  const OpFront front(kTo);
  Tensor out =
      device == input.device() ? empty_like(input, dtype) : empty(input.shape(), {dtype, device});
  copy_into(out, input);
  if (Recorder record("ToCopyBackward", {&input}); record.is_needed()) {
    record.attach(out, [device = input.device(), dtype = input.dtype()](BackwardCall& call) {
      return TensorList{cast(transfer(call.grad(), device), dtype)};
    });
  }
  return out;
}

std::vector<Sample> one_matrix() { return {{randn({2, 3}, {DType::float64, Device::cpu()})}}; }

}  // namespace

Tensor to(const Tensor& input, std::optional<Device> device, std::optional<DType> dtype) {
  const Device target = device.value_or(input.device());
  const DType type = dtype.value_or(input.dtype());
  if (target == input.device() && type == input.dtype()) return input;
  Context::current().slot(target);  // refuses a GPU that does not exist
  return copy_to(input, target, type);
}

Tensor to_dtype(const Tensor& input, DType dtype) { return to(input, std::nullopt, dtype); }
Tensor to_device(const Tensor& input, Device device) { return to(input, device, std::nullopt); }

Tensor clone(const Tensor& input) {
  const OpFront front(kClone);
  Tensor out = copy_of(input);
  if (Recorder record("CloneBackward", {&input}); record.is_needed()) {
    record.attach(out, [](BackwardCall& call) { return TensorList{call.grad()}; });
  }
  return out;
}

Tensor contiguous(const Tensor& input) {
  if (input.is_contiguous()) return input;
  const OpFront front(kContiguous);
  Tensor out = row_major(input);
  if (Recorder record("CloneBackward", {&input}); record.is_needed()) {
    record.attach(out, [](BackwardCall& call) { return TensorList{call.grad()}; });
  }
  return out;
}

Tensor copy_(const Tensor& input, const Tensor& source) {
  const OpFront front(kCopy);
  if (!(broadcast_shapes(input.shape(), source.shape(), "copy_") == input.shape())) {
    throw std::invalid_argument(fmt::format("[copy_] a source of shape {} does not fit into {}",
                                            source.shape().str(), input.shape().str()));
  }
  begin_inplace_write(input, "copy_");
  copy_into(input, source);
  if (Recorder record("CopyBackwards", {&input, &source}); record.is_needed()) {
    record.attach(input, [device = source.device()](BackwardCall& call) {
      return TensorList{call.needs(0) ? zeros_like(call.grad()) : Tensor(),
                        transfer(call.grad(), device)};
    });
  }
  return input;
}

std::vector<OpDef> convert_ops() {
  return {
      define(kClone, kFunction | kMethod, &clone, {"input"}, one_matrix),
      define(kContiguous, kMethod, &contiguous, {"input"}, one_matrix),
      define(kCopy, kMethod, &copy_, {"input", "source"}),
  };
}

}  // namespace ohm::ops

#include "runtime/ops/convert.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/autograd/recorder.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kTo{"to"};
constexpr OpInfo kClone{"clone"};
constexpr OpInfo kContiguous{"contiguous"};
constexpr OpInfo kCopy{"copy_"};

// What a copy between host and GPU needs besides its result, for as long as it runs.
std::vector<Tensor> temporaries_of(const Tensor& input, Device device, DType dtype,
                                   Transfer transfer) {
  std::vector<Tensor> temporaries;
  if (input.device().is_cpu() == device.is_cpu()) return temporaries;
  const bool casts_on_host = transfer == Transfer::blocking;
  const bool casts_at_source = input.device().is_cpu() == casts_on_host;
  const bool casts = dtype != input.dtype();
  if (casts && !casts_at_source) {
    temporaries.push_back(empty(input.shape(), {input.dtype(), device}));
  }
  if (casts && casts_at_source) {
    temporaries.push_back(empty(input.shape(), {dtype, input.device()}));
  } else if (!input.is_dense()) {
    temporaries.push_back(empty(input.shape(), options_of(input)));
  }
  return temporaries;
}

// Between devices what has gaps becomes row-major.
Shape strides_of_copy(const Tensor& input) {
  return input.is_dense() ? input.strides() : contiguous_strides(input.shape());
}

Tensor result_of_copy(const Tensor& input, Device device, DType dtype, Transfer transfer) {
  const bool comes_to_host = device.is_cpu() && input.device().is_cuda();
  if (comes_to_host && transfer == Transfer::non_blocking && Context::current().pinned != nullptr) {
    return empty_pinned(input.shape(), strides_of_copy(input), dtype);
  }
  if (device == input.device()) return empty_like(input, dtype);
  return empty_strided(input.shape(), strides_of_copy(input), {dtype, device});
}

// One copy that may change device and dtype at once.
Tensor copy_to(const Tensor& input, Device device, DType dtype, Transfer transfer) {
  const OpGuard running(kTo.name);
  Tensor out = result_of_copy(input, device, dtype, transfer);
  {
    const auto temporaries = temporaries_of(input, device, dtype, transfer);
    copy_into(out, input);
  }
  if (transfer == Transfer::non_blocking && device.is_cpu() != input.device().is_cpu()) {
    const Device gpu = device.is_cpu() ? input.device() : device;
    record_copy(input.storage(), gpu);
    record_copy(out.storage(), gpu);
  }
  if (Recorder record("ToCopyBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [device = input.device(), dtype = input.dtype()](BackwardCall& call) {
          if (call.is_recorded()) return TensorList{to(call.grad(), device, dtype)};
          return TensorList{cast(ohm::transfer(call.grad(), device), dtype)};
        });
  }
  return out;
}

std::vector<Sample> converted_matrix() {
  return {{randn({2, 3}, {DType::float64, Device::cpu()})}};
}

}  // namespace

Tensor to(const Tensor& input, std::optional<Device> device, std::optional<DType> dtype,
          Transfer transfer) {
  const Device target = device.value_or(input.device());
  const DType type = dtype.value_or(input.dtype());
  if (target == input.device() && type == input.dtype()) return input;
  Context::current().slot(target);  // refuses a GPU that does not exist
  return copy_to(input, target, type, transfer);
}

Tensor to_dtype(const Tensor& input, DType dtype) { return to(input, std::nullopt, dtype); }
Tensor to_device(const Tensor& input, Device device) { return to(input, device, std::nullopt); }

Tensor pin_memory(const Tensor& input) {
  if (!input.device().is_cpu()) {
    throw std::invalid_argument(
        fmt::format("[pin_memory] only memory of the host can be pinned, got {}", describe(input)));
  }
  if (is_pinned(input.storage())) return input;
  const OpGuard op("pin_memory");
  Tensor out = empty_pinned(input.shape(), strides_of_copy(input), input.dtype());
  copy_into(out, input);
  return out;
}

Tensor clone(const Tensor& input) {
  const OpGuard running(kClone.name);
  Tensor out = copy_of(input);
  if (Recorder record("CloneBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [](BackwardCall& call) { return TensorList{call.grad()}; });
  }
  return out;
}

Tensor contiguous(const Tensor& input) { return contiguous(input, MemoryFormat::row_major); }

Tensor contiguous(const Tensor& input, MemoryFormat format) {
  if (lies_in(input, format)) return input;
  const OpGuard running(kContiguous.name);
  return clone_in(input, format);
}

Tensor clone_row_major(const Tensor& input) { return clone_in(input, MemoryFormat::row_major); }

Tensor clone_in(const Tensor& input, MemoryFormat format) {
  Tensor out = empty(input.shape(), options_of(input), format);
  copy_into(out, input);
  if (Recorder record("CloneBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [](BackwardCall& call) { return TensorList{call.grad()}; });
  }
  return out;
}

Tensor copy_(const Tensor& input, const Tensor& source) {
  const OpGuard running(kCopy.name);
  if (!(broadcast_shapes(input.shape(), source.shape(), "copy_") == input.shape())) {
    throw std::invalid_argument(fmt::format("[copy_] a source of shape {} does not fit into {}",
                                            source.shape().str(), input.shape().str()));
  }
  require_no_partial_overlap(input, source, "copy_");
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
      define(kClone, kFunction | kMethod, &clone, {"input"}, converted_matrix),
      define(kContiguous, kMethod, static_cast<Tensor (*)(const Tensor&)>(&contiguous), {"input"},
             converted_matrix),
      define(kCopy, kMethod, &copy_, {"input", "source"}),
  };
}

}  // namespace ohm::ops

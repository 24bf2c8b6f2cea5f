#include "runtime/ops/conversion/convert.h"

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

struct Target {
  Device device;
  DType dtype;
  Transfer transfer;
  std::optional<MemoryFormat> format;  ///< nullopt: that of the input
};

// What a copy between host and GPU needs besides its result, for as long as it runs: bytes go from
// row-major memory to row-major memory, and are cast on one side.
std::vector<Tensor> temporaries_of(const Tensor& input, const Tensor& out, Transfer transfer) {
  std::vector<Tensor> temporaries;
  if (input.device().is_cpu() == out.device().is_cpu()) return temporaries;
  const bool casts = out.dtype() != input.dtype();
  const bool is_alike = input.is_contiguous() && out.is_contiguous();
  if (!casts && (is_alike || (input.is_dense() && input.strides() == out.strides()))) return {};
  const bool casts_at_source = input.device().is_cpu() == (transfer == Transfer::blocking);
  const DType sent = casts_at_source ? out.dtype() : input.dtype();
  if (!out.is_contiguous() || sent != out.dtype()) {
    temporaries.push_back(empty(input.shape(), {sent, out.device()}));
  }
  const Tensor cast = sent != input.dtype() ? empty_like(input, sent) : Tensor();
  const Tensor& source = cast.defined() ? cast : input;
  temporaries.push_back(source.is_contiguous() ? cast : empty(input.shape(), options_of(source)));
  return temporaries;
}

// The dimensions keep their order, and there are no gaps.
Shape strides_of_copy(const Tensor& input) {
  return input.is_dense() ? input.strides() : dense_strides(input.shape(), {&input.strides(), 1});
}

Tensor result_of_copy(const Tensor& input, const Target& target) {
  const Shape strides =
      target.format ? strides_in(*target.format, input.shape()) : strides_of_copy(input);
  const bool comes_to_host = target.device.is_cpu() && input.device().is_cuda();
  if (comes_to_host && target.transfer == Transfer::non_blocking &&
      Context::current().pinned != nullptr) {
    return empty_pinned(input.shape(), strides, target.dtype);
  }
  if (target.device == input.device() && !target.format) return empty_like(input, target.dtype);
  return empty_strided(input.shape(), strides, {target.dtype, target.device});
}

// One copy that may change device and dtype at once, and is not part of a graph.
Tensor copied(const Tensor& input, const Target& target) {
  Tensor out = result_of_copy(input, target);
  {
    const auto temporaries = temporaries_of(input, out, target.transfer);
    copy_into(out, input);
  }
  if (target.transfer == Transfer::non_blocking &&
      target.device.is_cpu() != input.device().is_cpu()) {
    const Device gpu = target.device.is_cpu() ? input.device() : target.device;
    record_copy(input.storage(), gpu);
    record_copy(out.storage(), gpu);
  }
  return out;
}

Tensor gradient_to(const BackwardCall& call, Device device, DType dtype) {
  const Tensor& grad = call.grad();
  if (call.is_recorded()) return to(grad, device, dtype);
  if (grad.device() == device && grad.dtype() == dtype) return grad;
  return copied(grad, {device, dtype, Transfer::blocking, std::nullopt});
}

Tensor copy_to(const Tensor& input, const Target& target) {
  const OpGuard running(kTo.name);
  Tensor out = copied(input, target);
  if (!is_differentiable(out.dtype())) return out;
  if (Recorder record("ToCopyBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [device = input.device(), dtype = input.dtype()](BackwardCall& call) {
          return TensorList{gradient_to(call, device, dtype)};
        });
  }
  return out;
}

Tensor contiguous_as(const Tensor& input, const std::string& memory_format) {
  return contiguous(input, parse_memory_format(memory_format));
}

}  // namespace

Tensor to(const Tensor& input, std::optional<Device> device, std::optional<DType> dtype,
          Transfer transfer, std::optional<MemoryFormat> format) {
  const Target target{device.value_or(input.device()), dtype.value_or(input.dtype()), transfer,
                      format};
  const bool is_laid_out = !format || memory_format_of(input) == *format;
  if (target.device == input.device() && target.dtype == input.dtype() && is_laid_out) return input;
  Context::current().slot(target.device);  // refuses a GPU that does not exist
  return copy_to(input, target);
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
  // What has no gradient gives none to what it is a copy of.
  Recorder record = is_differentiable(input.dtype())
                        ? Recorder::overwriting(kCopy.name, "CopyBackwards", {&input, &source})
                        : Recorder::overwriting(kCopy.name, "CopyBackwards", {&input});
  begin_inplace_write(input, kCopy.name);
  copy_into(input, source);
  if (!record.is_needed()) return input;
  record.attach_edge_by_edge(input, [like = options_of(source)](BackwardCall& call) {
    const Tensor& grad = call.grad();
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(0)) grads[0] = zeros(grad.shape(), options_of(grad));
    // Converted as a whole, before it is added up to the shape of the source.
    if (call.needs(1)) grads[1] = gradient_to(call, like.device, like.dtype);
    return grads;
  });
  return input;
}

namespace {

Tensor copy_row(const Tensor& input, const TensorOrNumber& source) {
  if (const Tensor* tensor = std::get_if<Tensor>(&source)) return copy_(input, *tensor);
  return copy_(input, full({}, std::get<Number>(source).value, {input.dtype(), Device::cpu()}));
}

}  // namespace

std::vector<OpDef> convert_ops() {
  return {
      define(kClone, kFunction | kMethod, &clone, {"input"}),
      define(kContiguous, kMethod, &contiguous_as,
             {"input", {"memory_format", std::string("contiguous_format")}}),
      define(kCopy, kMethod, &copy_row, {"input", "source"}),
  };
}

}  // namespace ohm::ops

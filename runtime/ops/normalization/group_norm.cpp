#include "runtime/ops/normalization/group_norm.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/kernels/functors/group_norm.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/normalization/group_norm_twice.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kGroupNorm{"group_norm", CastPolicy::float32};

struct Groups {
  std::int64_t samples = 1;
  std::int64_t channels = 1;
  std::int64_t groups = 1;
  std::int64_t pixels = 1;  ///< of one channel

  std::int64_t count() const { return samples * groups; }
  std::int64_t group_size() const { return channels / groups * pixels; }
};

Groups groups_of(const Tensor& input, std::int64_t num_groups) {
  require_floating(input, kGroupNorm);
  if (input.dims() < 2) {
    throw std::invalid_argument(fmt::format(
        "[group_norm] expected at least 2 dimensions [N, C, *], got {}", input.shape().str()));
  }
  Groups groups{input.shape()[0], input.shape()[1], num_groups, 1};
  if (num_groups <= 0 || groups.channels % num_groups != 0) {
    throw std::invalid_argument(
        fmt::format("[group_norm] the number of channels must be divisible by num_groups: {} by {}",
                    groups.channels, num_groups));
  }
  for (int dim = 2; dim < input.dims(); ++dim) groups.pixels *= input.shape()[dim];
  return groups;
}

void require_per_channel(const Tensor& input, const Tensor& tensor, const char* name) {
  if (!tensor.defined()) return;
  require_same_device(input, tensor, kGroupNorm);
  if (tensor.dims() == 1 && tensor.numel() == input.shape()[1]) return;
  throw std::invalid_argument(
      fmt::format("[group_norm] expected {} to be a vector of the {} channels, got {}", name,
                  input.shape()[1], tensor.shape().str()));
}

struct GroupNormOperands {
  Tensor input;
  Tensor weight;
  Tensor bias;
};

struct GroupNormResults {
  // Members go from the last on: the mean before its deviation.
  Tensor out;
  Tensor rstd;
  Tensor mean;
};

functors::ChannelGroups layout_of(const Groups& g, const Tensor& laid_out) {
  return {g.channels, g.groups, g.pixels, !laid_out.is_contiguous()};
}

// Weight and bias may have any stride: a channel's is read by its number.
Tensor packed_channels(const Tensor& tensor) {
  return tensor.defined() ? row_major(tensor) : tensor;
}

void compute(const Groups& g, const GroupNormOperands& operands, double eps,
             const GroupNormResults& results) {
  if (!results.out.has_values()) return;
  run_floating_rows(functors::GroupNormRow{layout_of(g, results.out), eps}, operands.input.dtype(),
                    {g.count(), g.group_size()},
                    {{results.out, results.mean, results.rstd},
                     {operands.input, operands.weight, operands.bias}});
}

// Of sums: float32 for half precision.
TensorOptions statistics_options(const Tensor& input) {
  return {input.dtype() == DType::float64 ? DType::float64 : DType::float32, input.device()};
}

// Of the mean and the reciprocal deviation that are kept: the weight's dtype.
TensorOptions kept_options(const GroupNormOperands& operands) {
  return options_of(operands.weight.defined() ? operands.weight : operands.input);
}

bool keeps_layouts(const Tensor& input) {
  return input.device().is_cuda() && Context::current().rules.group_norm_keeps_layouts;
}

MemoryFormat format_of(const Tensor& input) {
  return keeps_layouts(input) ? memory_format_of(input) : MemoryFormat::row_major;
}

// Whether the kernel for channels last runs: it takes what lies so either way, too.
bool runs_channels_last(const Groups& g, const Tensor& input) {
  if (!keeps_layouts(input) || input.dims() < 4 || input.dims() > 5) return false;
  return format_of(input) != MemoryFormat::row_major || g.pixels == 1 || g.channels == 1;
}

// Whether there is a kernel of its own for channels of one number.
bool runs_on_rows(const Groups& g, const Tensor& input) {
  return g.pixels == 1 && !runs_channels_last(g, input);
}

GroupNormResults forward(const Groups& g, const GroupNormOperands& operands, double eps) {
  const MemoryFormat format = format_of(operands.input);
  const TensorOptions statistics = statistics_options(operands.input);
  const Shape of_groups{g.samples, g.groups};
  GroupNormResults results;
  results.out = empty(operands.input.shape(), options_of(operands.input), format);
  results.mean = empty(of_groups, kept_options(operands));
  results.rstd = empty(of_groups, kept_options(operands));
  const GroupNormOperands packed{laid_out(operands.input, format), packed_channels(operands.weight),
                                 packed_channels(operands.bias)};
  const bool widens = keeps_layouts(operands.input) && statistics.dtype != results.mean.dtype();
  const Tensor mean = widens ? empty(of_groups, statistics) : Tensor();
  const Tensor rstd = widens ? empty(of_groups, statistics) : Tensor();
  const bool is_affine = operands.weight.defined() || operands.bias.defined();
  const bool has_factors =
      operands.input.device().is_cuda() &&
      (runs_channels_last(g, operands.input) || (is_affine && !runs_on_rows(g, operands.input)));
  const Tensor factors = has_factors ? empty({g.samples, g.channels}, statistics) : Tensor();
  const Tensor offsets = has_factors ? empty({g.samples, g.channels}, statistics) : Tensor();
  compute(g, packed, eps, results);
  return results;
}

void compute_gradients(const Groups& g, const Tensor& grad, const Tensor& input, const Tensor& mean,
                       const Tensor& rstd, const Tensor& weight, const LayerGradients& out) {
  if (lacks_values(grad)) return;
  const functors::ChannelGroups layout = layout_of(g, grad);
  if (out.input.defined() && grad.numel() != 0) {
    run_floating_rows(functors::GroupNormBackwardRow{layout}, input.dtype(),
                      {g.count(), g.group_size()},
                      {{out.input}, {grad, input, mean, rstd, weight}});
  }
  if (!out.weight.defined() && !out.bias.defined()) return;
  run_floating_rows(functors::GroupNormChannel{layout}, input.dtype(),
                    {g.channels, g.samples * g.pixels},
                    {{out.weight, out.bias}, {grad, input, mean, rstd}});
}

TensorList backward(const Groups& g, const BackwardCall& call) {
  if (!call.grad().defined()) return {Tensor(), Tensor(), Tensor()};
  const Tensor input = call.saved(0);
  const Tensor mean = call.saved(1);
  const Tensor rstd = call.saved(2);
  const Tensor weight = call.saved(3);
  const MemoryFormat format = format_of(input);
  const Tensor grad = laid_out(call.grad(), format);
  const Tensor packed = laid_out(input, format);
  const TensorOptions statistics = statistics_options(input);
  LayerGradients out;
  if (call.needs(0)) out.input = empty(input.shape(), options_of(input), format);
  if (call.needs(1)) out.weight = empty({g.channels}, options_of(input));
  if (call.needs(2)) out.bias = empty({g.channels}, options_of(input));
  if (input.device().is_cuda()) {
    // Sums over the pixels of each channel, then what each group's and each channel's gradient is
    // made of.
    const bool is_of_rows = runs_on_rows(g, input);
    const bool has_sums = !(is_of_rows && keeps_layouts(input));
    const Tensor slope_sums = has_sums ? empty({g.samples, g.channels}, statistics) : Tensor();
    const Tensor bias_sums = has_sums ? empty({g.samples, g.channels}, statistics) : Tensor();
    Tensor channel_factors;
    if (call.needs(0)) {
      const Tensor group_factors = empty({g.samples, g.groups}, statistics);
      const Tensor group_offsets = empty({g.samples, g.groups}, statistics);
      if (weight.defined() && !is_of_rows && !runs_channels_last(g, input)) {
        channel_factors = empty({g.samples, g.channels}, statistics);
      }
    }
  }
  compute_gradients(g, grad, packed, mean, rstd, packed_channels(weight), out);
  return {out.input, out.weight, out.bias};
}

GroupNormPass pass_of(const Groups& g, double eps, const BackwardCall& call) {
  return {call.grad(),   call.grad(1), call.grad(2), call.saved(0), call.saved(1), call.saved(2),
          call.saved(3), g.groups,     eps};
}

TensorList backward_by_ops(const GroupNormPass& pass, const BackwardCall& call) {
  const LayerGradients grads =
      group_norm_gradients_by_ops(pass, {call.needs(0), call.needs(1), call.needs(2)});
  return {grads.input, grads.weight, grads.bias};
}

// Second gradients reach the statistics, which are results of the forward pass.
TensorList backward_with_statistics(const Groups& g, double eps, const BackwardCall& call) {
  TensorList grads = backward(g, call);
  GroupNormPass pass = pass_of(g, eps, call);
  if (!call.needs(0) || !pass.grad_of_mean.defined() || !pass.grad_of_rstd.defined()) return grads;
  pass.grad = Tensor();
  add_statistics_gradients(pass, grads[0]);
  return grads;
}

TensorList backward_as_asked(const Groups& g, double eps, const BackwardCall& call) {
  if (call.is_recorded()) return backward_by_ops(pass_of(g, eps, call), call);
  if (!call.grad(1).defined() && !call.grad(2).defined()) return backward(g, call);
  return Context::current().rules.group_norm_adds_statistics_gradients
             ? backward_with_statistics(g, eps, call)
             : backward_by_ops(pass_of(g, eps, call), call);
}

}  // namespace

Tensor group_norm(const Tensor& given, std::int64_t num_groups,
                  const std::optional<Tensor>& given_weight,
                  const std::optional<Tensor>& given_bias, double eps) {
  const OpFront front(kGroupNorm);
  Tensor bias = front.input(given_bias).value_or(Tensor());
  Tensor weight = front.input(given_weight).value_or(Tensor());
  const Tensor input = front.input(given);
  const GroupNormOperands operands{keeps_layouts(input) ? input : contiguous(input),
                                   std::move(weight), std::move(bias)};
  const Groups groups = groups_of(operands.input, num_groups);
  require_per_channel(operands.input, operands.weight, "weight");
  require_per_channel(operands.input, operands.bias, "bias");
  Recorder record("NativeGroupNormBackward", {&operands.input, &operands.weight, &operands.bias});
  record.save(operands.input);
  GroupNormResults results = forward(groups, operands, eps);
  record.save_output(results.mean, 1);
  record.save_output(results.rstd, 2);
  record.save(operands.weight);
  record.attach_differentiable(
      {results.out, results.mean, results.rstd},
      [groups, eps](BackwardCall& call) { return backward_as_asked(groups, eps, call); });
  return results.out;
}

std::vector<OpDef> group_norm_ops() {
  return {define(kGroupNorm, kFunction | kFunctional, &group_norm,
                 {"input", "num_groups", "weight", "bias", {"eps", 1e-5}})};
}

}  // namespace ohm::ops

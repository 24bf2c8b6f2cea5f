#include "runtime/ops/random/dropout.h"

#include <cmath>

#include "runtime/arithmetic/laid_out.h"
#include "runtime/base/philox.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kDropout{"dropout"};
constexpr OpInfo kDropoutInplace{"dropout_"};
constexpr OpInfo kDropout1d{"dropout1d"};
constexpr OpInfo kDropout1dInplace{"dropout1d_"};
constexpr OpInfo kAlphaDropout{"alpha_dropout"};
constexpr OpInfo kAlphaDropoutInplace{"alpha_dropout_"};
constexpr OpInfo kDropout2d{"dropout2d"};
constexpr OpInfo kDropout2dInplace{"dropout2d_"};
constexpr OpInfo kDropout3d{"dropout3d"};
constexpr OpInfo kDropout3dInplace{"dropout3d_"};

void check(const OpInfo& info, const Tensor& input, double p) {
  require_floating(input, info);
  if (p >= 0.0 && p <= 1.0) return;
  throw std::invalid_argument(
      fmt::format("[{}] dropout probability has to be between 0 and 1, but got {}", info.name, p));
}

void check_channels(const OpInfo& info, const Tensor& input, double p) {
  check(info, input, p);
  if (input.dims() >= 2) return;
  throw std::invalid_argument(
      fmt::format("[{}] Feature dropout requires at least 2 dimensions in the input, but got {}",
                  info.name, input.shape().str()));
}

// One element for each channel.
Shape channels_of(const Tensor& input) {
  Shape channels(input.dims(), 1);
  channels[0] = input.shape()[0];
  channels[1] = input.shape()[1];
  return channels;
}

bool keeps_everything(const Tensor& input, double p, bool training) {
  return p == 0.0 || !training || input.numel() == 0;
}

// 0 or 1/(1−p) for each element.
Tensor noise_of(const Shape& shape, const TensorOptions& options, double p) {
  Tensor noise = empty(shape, options);
  fill_bernoulli(noise, 1.0 - p, 1.0 / (1.0 - p));
  return noise;
}

Tensor zero_number(const Tensor& like) { return zeros({}, options_of(like)); }

// mask ? x · scale : 0
void mask_into(const Tensor& out, const Tensor& x, const Tensor& mask, double scale) {
  map_floating(out, x.dtype(), functors::MaskedScaled{scale}, x, mask);
}

Tensor masked(const Tensor& x, const Tensor& mask, double scale) {
  Tensor out = empty(x.shape(), options_of(x), memory_format_of(x));
  mask_into(out, x, mask, scale);
  return out;
}

Tensor dropout_row(const Tensor& input, double p, bool training, bool inplace) {
  return inplace ? dropout_(input, p, training) : dropout(input, p, training);
}

Tensor dropout1d_row(const Tensor& input, double p, bool training, bool inplace) {
  return inplace ? dropout1d_(input, p, training) : dropout1d(input, p, training);
}

Tensor alpha_dropout_row(const Tensor& input, double p, bool training, bool inplace) {
  return inplace ? alpha_dropout_(input, p, training) : alpha_dropout(input, p, training);
}

Tensor dropout2d_row(const Tensor& input, double p, bool training, bool inplace) {
  return inplace ? dropout2d_(input, p, training) : dropout2d(input, p, training);
}

Tensor dropout3d_row(const Tensor& input, double p, bool training, bool inplace) {
  return inplace ? dropout3d_(input, p, training) : dropout3d(input, p, training);
}

Tensor drop_channels(const OpInfo& info, const Tensor& input, double p, bool training) {
  const OpFront front(info);
  check_channels(info, input, p);
  if (keeps_everything(input, p, training)) return input;
  if (p == 1.0) return mul(input, zero_number(input));
  return mul(input, noise_of(channels_of(input), options_of(input), p));
}

Tensor drop_channels_in_place(const OpInfo& info, const Tensor& input, double p, bool training) {
  const OpFront front(info);
  check_channels(info, input, p);
  if (keeps_everything(input, p, training)) return input;
  if (p == 1.0) return mul_(input, zero_number(input));
  return mul_(input, noise_of(channels_of(input), options_of(input), p));
}

// What alpha_dropout() multiplies with and adds. Undefined: nothing is dropped.
struct AlphaNoise {
  Tensor shift;
  Tensor factor;
};

AlphaNoise alpha_noise_of(const Tensor& input, double p) {
  constexpr double kAlpha = 1.7580993408473766;  // of SELU, times its scale
  const double scale = 1.0 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  AlphaNoise noise;
  noise.factor = empty_like(input);
  fill_bernoulli(noise.factor, 1.0 - p, 1.0);
  noise.shift = add(noise.factor, -1.0);
  mul_(noise.shift, kAlpha * scale);
  add_(noise.shift, kAlpha * scale * p);
  mul_(noise.factor, scale);
  return noise;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool training) {
  const OpFront front(kDropout);
  check(kDropout, input, p);
  if (keeps_everything(input, p, training)) return input;
  if (p == 1.0) return mul(input, zero_number(input));
  const Tensor mask = empty(input.shape(), {DType::boolean, input.device()});
  Tensor out = empty_like(input);  // before the draw: a failure leaves the generator as it was
  fill_bernoulli(mask, 1.0 - p, 1.0);
  const double scale = 1.0 / (1.0 - p);
  mask_into(out, input, mask, scale);
  if (Recorder record("NativeDropoutBackward", {&input}); record.is_needed()) {
    record.save(mask);
    record.attach_differentiable(out, [scale](BackwardCall& call) {
      if (!call.is_recorded()) return TensorList{masked(call.grad(), call.saved(0), scale)};
      const Tensor kept = to_dtype(call.saved(0), call.grad().dtype());
      const Tensor factors = formula::times(kept, scale);
      return TensorList{formula::product(call.grad(), factors)};
    });
  }
  return out;
}

Tensor dropout_(const Tensor& input, double p, bool training) {
  const OpFront front(kDropoutInplace);
  check(kDropoutInplace, input, p);
  if (keeps_everything(input, p, training)) return input;
  if (p == 1.0) return mul_(input, zero_number(input));
  return mul_(input, noise_of(input.shape(), options_of(input), p));
}

Tensor dropout1d(const Tensor& input, double p, bool training) {
  const OpFront front(kDropout1d);
  if (input.dims() == 3) return drop_channels(kDropout1d, input, p, training);
  return squeeze(drop_channels(kDropout1d, unsqueeze(input, 0), p, training), 0);
}
Tensor dropout1d_(const Tensor& input, double p, bool training) {
  const OpFront front(kDropout1dInplace);
  if (input.dims() == 3) return drop_channels_in_place(kDropout1dInplace, input, p, training);
  return squeeze(drop_channels_in_place(kDropout1dInplace, unsqueeze(input, 0), p, training), 0);
}

Tensor alpha_dropout(const Tensor& input, double p, bool training) {
  const OpFront front(kAlphaDropout);
  check(kAlphaDropout, input, p);
  if (keeps_everything(input, p, training)) return input;
  if (p == 1.0) return mul(input, zero_number(input));
  const AlphaNoise noise = alpha_noise_of(input, p);
  return add_(mul(input, noise.factor), noise.shift);
}
Tensor alpha_dropout_(const Tensor& input, double p, bool training) {
  const OpFront front(kAlphaDropoutInplace);
  check(kAlphaDropoutInplace, input, p);
  if (keeps_everything(input, p, training)) return input;
  if (p == 1.0) return mul_(input, zero_number(input));
  const AlphaNoise noise = alpha_noise_of(input, p);
  return add_(mul_(input, noise.factor), noise.shift);
}

Tensor dropout2d(const Tensor& input, double p, bool training) {
  return drop_channels(kDropout2d, input, p, training);
}
Tensor dropout2d_(const Tensor& input, double p, bool training) {
  return drop_channels_in_place(kDropout2dInplace, input, p, training);
}
Tensor dropout3d(const Tensor& input, double p, bool training) {
  const OpFront front(kDropout3d);
  if (input.dims() == 5) return drop_channels(kDropout3d, input, p, training);
  return squeeze(drop_channels(kDropout3d, unsqueeze(input, 0), p, training), 0);
}
Tensor dropout3d_(const Tensor& input, double p, bool training) {
  const OpFront front(kDropout3dInplace);
  if (input.dims() == 5) return drop_channels_in_place(kDropout3dInplace, input, p, training);
  return squeeze(drop_channels_in_place(kDropout3dInplace, unsqueeze(input, 0), p, training), 0);
}

std::vector<OpDef> dropout_ops() {
  const std::vector<ParamName> params = {"input", {"p", 0.5}, {"training", true}};
  const std::vector<ParamName> either_way = {
      "input", {"p", 0.5}, {"training", true}, {"inplace", false}};
  return {
      define(kDropout, kFunctional, &dropout_row, either_way),
      define(kDropoutInplace, kFunctional, &dropout_, params),
      define(kDropout1d, kFunctional, &dropout1d_row, either_way),
      define(kDropout1dInplace, kFunctional, &dropout1d_, params),
      define(kAlphaDropout, kFunction | kFunctional, &alpha_dropout_row,
             {"input", {"p", 0.5}, {"training", false}, {"inplace", false}}),
      define(kAlphaDropoutInplace, kFunction | kFunctional, &alpha_dropout_,
             {"input", {"p", 0.5}, {"training", false}}),
      define(kDropout2d, kFunctional, &dropout2d_row, either_way),
      define(kDropout2dInplace, kFunctional, &dropout2d_, params),
      define(kDropout3d, kFunctional, &dropout3d_row, either_way),
      define(kDropout3dInplace, kFunctional, &dropout3d_, params),
  };
}

}  // namespace ohm::ops

#include "runtime/ops/fourier_order.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/rearrange.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kFftshift{.name = "fft_fftshift", .takes_complex = true};
constexpr OpInfo kIfftshift{.name = "fft_ifftshift", .takes_complex = true};
constexpr OpInfo kFftfreq{"fft_fftfreq"};
constexpr OpInfo kRfftfreq{"fft_rfftfreq"};

Tensor shifted(const OpInfo& info, const Tensor& input, const std::optional<Shape>& dim,
               std::int64_t rounding) {
  const OpFront front(info);
  Shape dims;
  Shape shifts;
  const int count = dim ? dim->dims() : input.dims();
  for (int i = 0; i < count; ++i) {
    const int each = dim ? wrap_dim((*dim)[i], input.dims(), info.name.data()) : i;
    dims.push_back(each);
    shifts.push_back((input.shape()[each] + rounding) / 2);
  }
  return roll(input, shifts, dims);
}

// `count` frequencies, of which those from `first_negative` on are negative.
Tensor frequencies(const OpInfo& info, std::int64_t n, double d, std::int64_t count,
                   std::int64_t first_negative, const TensorOptions& options) {
  if (n < 0 || !is_floating(options.dtype)) {
    throw std::invalid_argument(
        fmt::format("[{}] expects n >= 0 and a floating dtype, but got {} "
                    "and {}",
                    info.name, n, name_of(options.dtype)));
  }
  const auto size = static_cast<double>(n);
  const double unit = 1.0 / (size * d);
  const auto negative = static_cast<double>(first_negative);
  Tensor out = arange(0.0, 1.0, count, options);
  const auto frequency = [size, unit, negative](auto number) {
    const auto i = static_cast<double>(number);
    return static_cast<decltype(number)>((i < negative ? i : i - size) * unit);
  };
  map_floating(out, out.dtype(), frequency, out);
  return out;
}

TensorOptions options_of_frequencies(std::optional<DType> dtype, std::optional<Device> device) {
  return {dtype.value_or(DType::float32), device.value_or(Device::cpu())};
}

std::vector<Sample> shifted_matrix() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{randn({3, 4}, options), Value()}, {randn({3, 5}, options), Shape{-1}}};
}

}  // namespace

Tensor fftshift(const Tensor& input, const std::optional<Shape>& dim) {
  return shifted(kFftshift, input, dim, 0);
}

Tensor ifftshift(const Tensor& input, const std::optional<Shape>& dim) {
  return shifted(kIfftshift, input, dim, 1);
}

Tensor fftfreq(std::int64_t n, double d, std::optional<DType> dtype, std::optional<Device> device) {
  const OpFront front(kFftfreq);
  return frequencies(kFftfreq, n, d, n, n - n / 2, options_of_frequencies(dtype, device));
}

Tensor rfftfreq(std::int64_t n, double d, std::optional<DType> dtype,
                std::optional<Device> device) {
  const OpFront front(kRfftfreq);
  const std::int64_t count = n / 2 + 1;
  return frequencies(kRfftfreq, n, d, count, count, options_of_frequencies(dtype, device));
}

std::vector<OpDef> fourier_order_ops() {
  const ParamName spacing{"d", Value(1.0)};
  return {
      define(kFftshift, kFourier, &fftshift, {"input", "dim"}, shifted_matrix),
      define(kIfftshift, kFourier, &ifftshift, {"input", "dim"}, shifted_matrix),
      define(kFftfreq, kFourier, &fftfreq, {"n", spacing, "dtype", "device"}),
      define(kRfftfreq, kFourier, &rfftfreq, {"n", spacing, "dtype", "device"}),
  };
}

}  // namespace ohm::ops

#include "runtime/ops/window_functions.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/ops/slice.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kHammingWindow{"hamming_window"};
constexpr OpInfo kHannWindow{"hann_window"};

// A periodic window is the beginning of one with an element more.
Tensor raised_cosine(const OpInfo& info, std::int64_t length, bool is_periodic, double alpha,
                     double beta, const TensorOptions& options) {
  const OpFront front(info);
  if (length < 0 || !is_floating(options.dtype)) {
    throw std::invalid_argument(
        fmt::format("[{}] expects window_length >= 0 and a floating dtype, but got {} and {}",
                    info.name, length, name_of(options.dtype)));
  }
  if (length == 0) return empty({0}, options);
  if (length == 1) return full({1}, 1.0, options);
  // More than there can be is refused where they are made.
  const bool has_one_more = is_periodic && length < std::numeric_limits<std::int64_t>::max();
  const std::int64_t count = has_one_more ? length + 1 : length;
  const NoGradGuard no_graph;
  Tensor window = arange(0.0, 1.0, count, options);
  const double step = 2.0 * std::numbers::pi / static_cast<double>(count - 1);
  const auto weight = [step, alpha, beta](auto number) {
    return static_cast<decltype(number)>(alpha -
                                         beta * std::cos(step * static_cast<double>(number)));
  };
  map_floating(window, window.dtype(), weight, window);
  return is_periodic ? narrow(window, 0, 0, length) : window;
}

TensorOptions options_of_window(std::optional<DType> dtype, std::optional<Device> device) {
  return {dtype.value_or(DType::float32), device.value_or(Device::cpu())};
}

}  // namespace

Tensor hamming_window(std::int64_t window_length, bool periodic, double alpha, double beta,
                      std::optional<DType> dtype, std::optional<Device> device) {
  return raised_cosine(kHammingWindow, window_length, periodic, alpha, beta,
                       options_of_window(dtype, device));
}

Tensor hann_window(std::int64_t window_length, bool periodic, std::optional<DType> dtype,
                   std::optional<Device> device) {
  return raised_cosine(kHannWindow, window_length, periodic, 0.5, 0.5,
                       options_of_window(dtype, device));
}

std::vector<OpDef> signal_window_ops() {
  const ParamName periodic{"periodic", Value(true)};
  return {
      define(kHammingWindow, kFunction, &hamming_window,
             {"window_length", periodic, {"alpha", 0.54}, {"beta", 0.46}, "dtype", "device"}),
      define(kHannWindow, kFunction, &hann_window, {"window_length", periodic, "dtype", "device"}),
  };
}

}  // namespace ohm::ops

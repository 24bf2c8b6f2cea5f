#include "runtime/ops/window_functions.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/fourier.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/ops/rearrange.h"
#include "runtime/ops/restrided.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kHammingWindow{"hamming_window"};
constexpr OpInfo kHannWindow{"hann_window"};
constexpr OpInfo kStft{"stft"};

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

// ---- transforms ---------------------------------------------------------------------------------

[[noreturn]] void refuse_transform(const std::string& why) {
  throw std::invalid_argument("[stft] " + why);
}

void require_signal(const Tensor& input, std::int64_t n_fft, std::int64_t hop_length,
                    std::int64_t win_length, const std::optional<Tensor>& window) {
  if (input.dims() < 1 || input.dims() > 2 || !is_floating(input.dtype())) {
    refuse_transform(fmt::format("expected real signals [samples] or [batch, samples], got {}",
                                 describe(input)));
  }
  if (n_fft <= 0 || n_fft > input.size(-1)) {
    refuse_transform(fmt::format("expected 0 < n_fft <= {}, but got {}", input.size(-1), n_fft));
  }
  if (hop_length <= 0) refuse_transform(fmt::format("expected hop_length > 0, got {}", hop_length));
  if (win_length <= 0 || win_length > n_fft) {
    refuse_transform(fmt::format("expected 0 < win_length <= n_fft, but got {}", win_length));
  }
  if (window && (window->dims() != 1 || window->size(0) != win_length)) {
    refuse_transform(
        fmt::format("expected a window of {} elements, got {}", win_length, window->shape().str()));
  }
}

// As many samples more on both sides as half a piece has.
Tensor centered(const Tensor& input, std::int64_t n_fft, const std::string& mode) {
  const std::int64_t side = n_fft / 2;
  const Tensor signals = view(input, {1, input.dims() == 2 ? input.size(0) : 1, input.size(-1)});
  const Tensor padded = pad(signals, {side, side}, mode, 0.0);
  return input.dims() == 1 ? view(padded, {padded.size(-1)})
                           : view(padded, {padded.size(1), padded.size(2)});
}

// The window in the middle of n_fft elements, of which the others are 0.
Tensor window_of_pieces(const Tensor& input, std::int64_t n_fft, std::int64_t win_length,
                        const std::optional<Tensor>& window) {
  if (win_length == n_fft) return window.value_or(Tensor());
  const NoGradGuard no_graph;
  Tensor wide = zeros({n_fft}, options_of(input));
  const Tensor middle = narrow(wide, 0, (n_fft - win_length) / 2, win_length);
  if (window) {
    copy_into(middle, *window);
  } else {
    fill_values(middle, 1.0);
  }
  return wide;
}

Tensor pieces_of(const Tensor& signals, std::int64_t n_fft, std::int64_t hop_length) {
  const std::int64_t count = 1 + (signals.size(1) - n_fft) / hop_length;
  const Shape& strides = signals.strides();
  return as_strided(signals, {signals.size(0), count, n_fft},
                    {strides[0], hop_length * strides[1], strides[1]}, std::nullopt);
}

std::vector<Sample> signals_to_transform() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor window = from_values({0.1, 0.6, 0.9, 0.4}, {4}, options);
  const auto sample = [&](const Tensor& signal, const Value& given_window, bool is_centered) {
    return Sample{signal,      std::int64_t{4},        std::int64_t{2}, Value(), given_window,
                  is_centered, std::string("reflect"), false,           Value(), true};
  };
  return {sample(randn({9}, options), window, true),
          sample(randn({2, 8}, options), Value(), false)};
}

}  // namespace

Tensor stft(const Tensor& input, std::int64_t n_fft, std::optional<std::int64_t> hop_length,
            std::optional<std::int64_t> win_length, const std::optional<Tensor>& window,
            bool center, const std::string& pad_mode, bool normalized, std::optional<bool> onesided,
            bool return_complex) {
  const OpFront front(kStft);
  if (!return_complex) refuse_transform("return_complex must be true");
  if (!onesided.value_or(true)) refuse_transform("onesided must be true");
  const std::int64_t hop = hop_length.value_or(n_fft / 4);
  const std::int64_t length = win_length.value_or(n_fft);
  const Tensor whole = center && input.dims() >= 1 ? centered(input, n_fft, pad_mode) : input;
  require_signal(whole, n_fft, hop, length, window);
  const Tensor signals = whole.dims() == 1 ? unsqueeze(whole, 0) : whole;
  const Tensor weights = window_of_pieces(signals, n_fft, length, window);
  Tensor pieces = pieces_of(signals, n_fft, hop);
  if (weights.defined()) pieces = mul(pieces, weights);
  const FourierNorm norm = normalized ? FourierNorm("ortho") : std::nullopt;
  const Tensor turned = transpose(rfft(pieces, std::nullopt, -1, norm), 1, 2);
  return whole.dims() == 1 ? squeeze(turned, 0) : turned;
}

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
      define(kStft, kPythonFunction | kMethod, &stft,
             {"input",
              "n_fft",
              "hop_length",
              "win_length",
              ParamName::constant("window"),
              {"center", true},
              {"pad_mode", std::string("reflect")},
              {"normalized", false},
              "onesided",
              {"return_complex", false}},
             signals_to_transform),
      define(kHannWindow, kFunction, &hann_window, {"window_length", periodic, "dtype", "device"}),
  };
}

}  // namespace ohm::ops

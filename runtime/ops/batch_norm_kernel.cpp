#include "runtime/ops/batch_norm_kernel.h"

#include <cmath>

#include "runtime/ops/host_values.h"
#include "runtime/tensor/factories.h"

namespace ohm::ops {
namespace {

// [N, C, …] as images of channels of pixels.
struct ChannelLayout {
  std::int64_t images;
  std::int64_t channels;
  std::int64_t pixels = 1;

  explicit ChannelLayout(const Shape& shape) : images(shape[0]), channels(shape[1]) {
    for (int dim = 2; dim < shape.dims(); ++dim) pixels *= shape[dim];
  }
  std::int64_t count() const { return images * pixels; }

  /// Calls visit(offset) for each element of a channel.
  template <class F>
  void for_each(std::int64_t channel, F&& visit) const {
    for (std::int64_t image = 0; image < images; ++image) {
      const std::int64_t first = (image * channels + channel) * pixels;
      for (std::int64_t i = first; i < first + pixels; ++i) visit(i);
    }
  }
};

// One value for each channel, as double.
std::vector<double> per_channel(const Tensor& tensor, std::int64_t channels, double missing) {
  if (tensor.defined()) return to_doubles(tensor);
  std::vector<double> values(static_cast<std::size_t>(channels), missing);
  return values;
}

void move_towards(const Tensor& running, const std::vector<double>& values, double momentum) {
  if (!running.defined()) return;
  std::vector<double> moved = to_doubles(running);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    moved[i] += momentum * (values[i] - moved[i]);
  }
  store_values(running, moved);
}

struct ChannelSums {
  double grad = 0;             ///< Σ grad
  double grad_normalised = 0;  ///< Σ grad · (x − mean) · invstd
};

template <class T>
ChannelSums sums_of(const ChannelLayout& layout, std::int64_t channel, const T* grad, const T* x,
                    double mean, double invstd) {
  ChannelSums sums;
  layout.for_each(channel, [&](std::int64_t i) {
    const auto g = static_cast<double>(grad[i]);
    sums.grad += g;
    sums.grad_normalised += g * (static_cast<double>(x[i]) - mean);
  });
  sums.grad_normalised *= invstd;
  return sums;
}

}  // namespace

ChannelStatistics input_statistics(const Tensor& input, double eps, const Tensor& running_mean,
                                   const Tensor& running_var, double momentum) {
  if (!input.has_values()) return {};
  const ChannelLayout layout(input.shape());
  const auto channels = static_cast<std::size_t>(layout.channels);
  const auto count = static_cast<double>(layout.count());
  ChannelStatistics result{std::vector<double>(channels), std::vector<double>(channels)};
  std::vector<double> unbiased(channels);
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> x(input);
    for (std::size_t c = 0; c < channels; ++c) {
      const auto channel = static_cast<std::int64_t>(c);
      double sum = 0;
      layout.for_each(channel, [&](std::int64_t i) { sum += static_cast<double>(x.data()[i]); });
      const double mean = sum / count;
      double squares = 0;
      layout.for_each(channel, [&](std::int64_t i) {
        const double distance = static_cast<double>(x.data()[i]) - mean;
        squares += distance * distance;
      });
      result.mean[c] = mean;
      result.invstd[c] = 1.0 / std::sqrt(squares / count + eps);
      unbiased[c] = squares / (count - 1.0);
    }
  });
  move_towards(running_mean, result.mean, momentum);
  move_towards(running_var, unbiased, momentum);
  return result;
}

ChannelStatistics running_statistics(const Tensor& mean, const Tensor& variance, double eps) {
  if (!mean.has_values()) return {};
  ChannelStatistics result{to_doubles(mean), to_doubles(variance)};
  for (double& value : result.invstd) value = 1.0 / std::sqrt(value + eps);
  return result;
}

ChannelStatistics saved_statistics(const Tensor& mean, const Tensor& invstd) {
  return {to_doubles(mean), to_doubles(invstd)};
}

void batch_norm_apply(const Tensor& input, const ChannelStatistics& statistics,
                      const Tensor& weight, const Tensor& bias, const Tensor& out) {
  if (!out.has_values()) return;
  const ChannelLayout layout(input.shape());
  const std::vector<double> weights = per_channel(weight, layout.channels, 1.0);
  const std::vector<double> shifts = per_channel(bias, layout.channels, 0.0);
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> x(input);
    HostOutput<T> y(out);
    for (std::int64_t channel = 0; channel < layout.channels; ++channel) {
      const auto c = static_cast<std::size_t>(channel);
      const T center = static_cast<T>(statistics.mean[c]);
      const T scale = static_cast<T>(statistics.invstd[c] * weights[c]);
      const T shift = static_cast<T>(shifts[c]);
      layout.for_each(
          channel, [&](std::int64_t i) { y.data()[i] = (x.data()[i] - center) * scale + shift; });
    }
    y.commit();
  });
}

void batch_norm_gradients(const Tensor& grad, const Tensor& input,
                          const ChannelStatistics& statistics, StatisticsOf source,
                          const Tensor& weight, const BatchNormGradients& out) {
  if (!grad.has_values()) return;
  const ChannelLayout layout(input.shape());
  const auto channels = static_cast<std::size_t>(layout.channels);
  const std::vector<double> weights = per_channel(weight, layout.channels, 1.0);
  const double share =
      source == StatisticsOf::the_input ? 1.0 / static_cast<double>(layout.count()) : 0.0;
  std::vector<double> weight_gradients(channels);
  std::vector<double> bias_gradients(channels);
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> x(input);
    const HostInput<T> g(grad);
    HostOutput<T> target(out.input);
    for (std::size_t c = 0; c < channels; ++c) {
      const auto channel = static_cast<std::int64_t>(c);
      const double invstd = statistics.invstd[c];
      const ChannelSums sums =
          sums_of(layout, channel, g.data(), x.data(), statistics.mean[c], invstd);
      weight_gradients[c] = sums.grad_normalised;
      bias_gradients[c] = sums.grad;
      if (target.data() == nullptr) continue;
      const T center = static_cast<T>(statistics.mean[c]);
      const T scale = static_cast<T>(invstd * weights[c]);
      const T mean_grad = static_cast<T>(sums.grad * share);
      const T slope = static_cast<T>(sums.grad_normalised * invstd * share);
      layout.for_each(channel, [&](std::int64_t i) {
        target.data()[i] = (g.data()[i] - mean_grad - (x.data()[i] - center) * slope) * scale;
      });
    }
    target.commit();
  });
  store_values(out.weight, weight_gradients);
  store_values(out.bias, bias_gradients);
}

}  // namespace ohm::ops

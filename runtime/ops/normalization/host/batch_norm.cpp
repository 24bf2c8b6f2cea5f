#include "runtime/ops/normalization/host/batch_norm.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/batch_norm.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/functors/update.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/kernels/launch/reduce_rows.h"

namespace ohm::ops {
namespace {

// All dimensions but that of the channels.
functors::ReducedRows channels_of(const Tensor& tensor) {
  return reduced_rows_of(tensor, all_dims(tensor.dims()) & ~with(0, 1));
}

RowShape channel_rows(const Tensor& input, const functors::ReducedRows& channels) {
  RowShape rows{input.size(1), input.numel() / input.size(1)};
  const functors::StridedIndex& pixels = channels.folded;
  if (pixels.dims > 0) rows.inner = pixels.strides[pixels.dims - 1];
  return rows;
}

bool is_anything_computed(const Tensor& input) { return input.has_values() && input.size(1) != 0; }

// A channel's value is read by its number.
Tensor packed(const Tensor& tensor) { return tensor.defined() ? row_major(tensor) : tensor; }

Tensor spread_of(const ChannelStatistics& statistics) {
  return packed(statistics.invstd.defined() ? statistics.invstd : statistics.variance);
}

void store_packed(const Tensor& target, const Tensor& packed) {
  if (target.defined() && !target.is_same(packed)) copy_into(target, packed);
}

// ---- row-major on the host ----------------------------------------------------------------------
// The functors' sums in loops that the compiler can make the most of: what most of a network's
// values go through.

bool is_plain(const Tensor& tensor) {
  return !tensor.defined() || (tensor.cuda_backend() == nullptr && tensor.is_contiguous());
}

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

std::vector<double> per_channel(const Tensor& tensor, std::int64_t channels, double missing) {
  std::vector<double> values(static_cast<std::size_t>(channels), missing);
  if (tensor.defined()) values = to_doubles(tensor);
  return values;
}

std::vector<double> inverse_deviations(const ChannelStatistics& statistics) {
  if (statistics.invstd.defined()) return to_doubles(statistics.invstd);
  std::vector<double> inverses = to_doubles(statistics.variance);
  for (double& value : inverses) value = 1.0 / std::sqrt(value + statistics.eps);
  return inverses;
}

void move_towards(const Tensor& running, const std::vector<double>& values, double momentum) {
  if (!running.defined()) return;
  std::vector<double> moved = to_doubles(running);
  for (std::size_t c = 0; c < moved.size(); ++c) moved[c] += momentum * (values[c] - moved[c]);
  store_values(running, moved);
}

void compute_plain_statistics(const Tensor& input, const ChannelStatistics& out,
                              const RunningStatistics& running) {
  const ChannelLayout layout(input.shape());
  const auto count = static_cast<double>(layout.count());
  std::vector<double> means;
  std::vector<double> inverses;
  std::vector<double> unbiased;
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> x(input);
    for (std::int64_t channel = 0; channel < layout.channels; ++channel) {
      double sum = 0;
      layout.for_each(channel, [&](std::int64_t i) { sum += static_cast<double>(x.data()[i]); });
      const double mean = sum / count;
      double squares = 0;
      layout.for_each(channel, [&](std::int64_t i) {
        const double distance = static_cast<double>(x.data()[i]) - mean;
        squares += distance * distance;
      });
      means.push_back(mean);
      inverses.push_back(1.0 / std::sqrt(squares / count + out.eps));
      unbiased.push_back(squares / (count - 1.0));
    }
  });
  store_values(out.mean, means);
  store_values(out.invstd, inverses);
  move_towards(running.mean, means, running.momentum);
  move_towards(running.variance, unbiased, running.momentum);
}

void apply_plain(const Tensor& input, const ChannelStatistics& statistics, const Tensor& weight,
                 const Tensor& bias, const Tensor& out) {
  const ChannelLayout layout(input.shape());
  const std::vector<double> means = to_doubles(statistics.mean);
  const std::vector<double> inverses = inverse_deviations(statistics);
  const std::vector<double> weights = per_channel(weight, layout.channels, 1.0);
  const std::vector<double> shifts = per_channel(bias, layout.channels, 0.0);
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> x(input);
    HostOutput<T> y(out);
    for (std::size_t c = 0; c < means.size(); ++c) {
      const T center = static_cast<T>(means[c]);
      const T scale = static_cast<T>(inverses[c] * weights[c]);
      const T shift = static_cast<T>(shifts[c]);
      layout.for_each(static_cast<std::int64_t>(c), [&](std::int64_t i) {
        y.data()[i] = (x.data()[i] - center) * scale + shift;
      });
    }
    y.commit();
  });
}

struct ChannelSums {
  double grad = 0;             ///< Σ grad
  double grad_normalised = 0;  ///< Σ grad · (x − mean) / deviation
};

void compute_plain_gradients(const Tensor& grad, const Tensor& input,
                             const ChannelStatistics& statistics, StatisticsOf source,
                             const Tensor& weight, const LayerGradients& out) {
  const ChannelLayout layout(input.shape());
  const std::vector<double> means = to_doubles(statistics.mean);
  const std::vector<double> inverses = inverse_deviations(statistics);
  const std::vector<double> weights = per_channel(weight, layout.channels, 1.0);
  const double share =
      source == StatisticsOf::the_input ? 1.0 / static_cast<double>(layout.count()) : 0.0;
  std::vector<double> weight_gradients;
  std::vector<double> bias_gradients;
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> x(input);
    const HostInput<T> g(grad);
    HostOutput<T> target(out.input);
    for (std::size_t c = 0; c < means.size(); ++c) {
      const auto channel = static_cast<std::int64_t>(c);
      ChannelSums sums;
      layout.for_each(channel, [&](std::int64_t i) {
        const auto slope = static_cast<double>(g.data()[i]);
        sums.grad += slope;
        sums.grad_normalised += slope * (static_cast<double>(x.data()[i]) - means[c]);
      });
      sums.grad_normalised *= inverses[c];
      weight_gradients.push_back(sums.grad_normalised);
      bias_gradients.push_back(sums.grad);
      if (target.data() == nullptr) continue;
      const T center = static_cast<T>(means[c]);
      const T scale = static_cast<T>(inverses[c] * weights[c]);
      const T mean_grad = static_cast<T>(sums.grad * share);
      const T slope = static_cast<T>(sums.grad_normalised * inverses[c] * share);
      layout.for_each(channel, [&](std::int64_t i) {
        target.data()[i] = (g.data()[i] - mean_grad - (x.data()[i] - center) * slope) * scale;
      });
    }
    target.commit();
  });
  store_values(out.weight, weight_gradients);
  store_values(out.bias, bias_gradients);
}

}  // namespace

void compute_statistics(const Tensor& input, const ChannelStatistics& out,
                        const RunningStatistics& running) {
  if (is_plain(input) && is_plain(running.mean) && is_plain(running.variance)) {
    if (is_anything_computed(input)) compute_plain_statistics(input, out, running);
    return;
  }
  const Tensor mean = packed(running.mean);
  const Tensor variance = packed(running.variance);
  if (!is_anything_computed(input)) return;
  const functors::ChannelMoments moments{channels_of(input), out.eps, running.momentum};
  run_floating_rows(moments, input.dtype(), channel_rows(input, moments.x),
                    {{out.mean, out.invstd, mean, variance}, {input}});
  store_packed(running.mean, mean);
  store_packed(running.variance, variance);
}

void convert_statistics(const RunningStatistics& running, const ChannelStatistics& out) {
  copy_into(out.mean, running.mean);
  map_floating(out.invstd, out.invstd.dtype(), functors::RootOfShifted{out.eps}, running.variance);
  map_floating(out.invstd, out.invstd.dtype(), functors::Reciprocal(), out.invstd);
}

void batch_norm_apply(const Tensor& input, const ChannelStatistics& statistics,
                      const Tensor& weight, const Tensor& bias, const Tensor& out) {
  if (is_plain(input) && is_plain(out)) {
    if (is_anything_computed(out)) apply_plain(input, statistics, weight, bias, out);
    return;
  }
  const Tensor mean = packed(statistics.mean);
  const Tensor spread = spread_of(statistics);
  const Tensor scale = packed(weight);
  const Tensor shift = packed(bias);
  if (!is_anything_computed(out)) return;
  const functors::ChannelNormalised normalised{channels_of(out), channels_of(input),
                                               !statistics.invstd.defined(), statistics.eps};
  run_floating_rows(normalised, input.dtype(), channel_rows(input, normalised.x),
                    {{out}, {input, mean, spread, scale, shift}});
}

void batch_norm_gradients(const Tensor& grad, const Tensor& input,
                          const ChannelStatistics& statistics, StatisticsOf source,
                          const Tensor& weight, const LayerGradients& out) {
  if (is_plain(grad) && is_plain(input) && is_plain(out.input)) {
    if (lacks_values(grad) || !is_anything_computed(input)) return;
    return compute_plain_gradients(grad, input, statistics, source, weight, out);
  }
  const Tensor mean = packed(statistics.mean);
  const Tensor spread = spread_of(statistics);
  const Tensor scale = packed(weight);
  if (lacks_values(grad) || !is_anything_computed(input)) return;
  const functors::ChannelBackward slope{
      out.input.defined() ? channels_of(out.input) : functors::ReducedRows(),
      channels_of(grad),
      channels_of(input),
      !statistics.invstd.defined(),
      statistics.eps,
      source == StatisticsOf::the_input};
  run_floating_rows(slope, input.dtype(), channel_rows(input, slope.x),
                    {{out.input, out.weight, out.bias}, {grad, input, mean, spread, scale}});
}

}  // namespace ohm::ops

#include "runtime/ops/batch_norm_kernel.h"

#include "runtime/ops/folding.h"
#include "runtime/ops/formulas/batch.h"
#include "runtime/ops/formulas/functions.h"
#include "runtime/ops/formulas/update.h"
#include "runtime/ops/host_values.h"
#include "runtime/tensor/arithmetic.h"
#include "runtime/tensor/elementwise.h"

namespace ohm::ops {
namespace {

// All dimensions but that of the channels.
formulas::Folding channels_of(const Tensor& tensor) {
  return folding_of(tensor, all_dims(tensor.dims()) & ~with(0, 1));
}

LineShape channel_lines(const Tensor& input, const formulas::Folding& channels) {
  LineShape lines{input.size(1), input.numel() / input.size(1)};
  const formulas::Walk& pixels = channels.folded;
  if (pixels.dims > 0) lines.inner = pixels.strides[pixels.dims - 1];
  return lines;
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

}  // namespace

void compute_statistics(const Tensor& input, const ChannelStatistics& out,
                        const RunningStatistics& running) {
  const Tensor mean = packed(running.mean);
  const Tensor variance = packed(running.variance);
  if (!is_anything_computed(input)) return;
  const formulas::ChannelMoments moments{channels_of(input), out.eps, running.momentum};
  run_floating_lines(moments, input.dtype(), channel_lines(input, moments.x),
                     {{out.mean, out.invstd, mean, variance}, {input}});
  store_packed(running.mean, mean);
  store_packed(running.variance, variance);
}

void convert_statistics(const RunningStatistics& running, const ChannelStatistics& out) {
  copy_into(out.mean, running.mean);
  visit_floating(out.invstd.dtype(), [&]<class T>(TypeTag<T>) {
    map_unary<T, T>(out.invstd, running.variance, formulas::RootOfShifted{out.eps});
    map_unary<T, T>(out.invstd, out.invstd, formulas::Reciprocal());
  });
}

void batch_norm_apply(const Tensor& input, const ChannelStatistics& statistics,
                      const Tensor& weight, const Tensor& bias, const Tensor& out) {
  const Tensor mean = packed(statistics.mean);
  const Tensor spread = spread_of(statistics);
  const Tensor scale = packed(weight);
  const Tensor shift = packed(bias);
  if (!is_anything_computed(out)) return;
  const formulas::ChannelNormalised normalised{channels_of(out), channels_of(input),
                                               !statistics.invstd.defined(), statistics.eps};
  run_floating_lines(normalised, input.dtype(), channel_lines(input, normalised.x),
                     {{out}, {input, mean, spread, scale, shift}});
}

void batch_norm_gradients(const Tensor& grad, const Tensor& input,
                          const ChannelStatistics& statistics, StatisticsOf source,
                          const Tensor& weight, const BatchNormGradients& out) {
  const Tensor mean = packed(statistics.mean);
  const Tensor spread = spread_of(statistics);
  const Tensor scale = packed(weight);
  if (lacks_values(grad) || !is_anything_computed(input)) return;
  const formulas::ChannelSlope slope{
      out.input.defined() ? channels_of(out.input) : formulas::Folding(),
      channels_of(grad),
      channels_of(input),
      !statistics.invstd.defined(),
      statistics.eps,
      source == StatisticsOf::the_input};
  run_floating_lines(slope, input.dtype(), channel_lines(input, slope.x),
                     {{out.input, out.weight, out.bias}, {grad, input, mean, spread, scale}});
}

}  // namespace ohm::ops

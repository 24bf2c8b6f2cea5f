// The arithmetic of batch normalisation, without a library; sums are accumulated in double. On
// size-only devices nothing happens.
#pragma once

#include "runtime/ops/host/layer_gradients.h"

namespace ohm::ops {

/// Of each channel.
struct ChannelStatistics {
  Tensor mean;
  Tensor invstd;    ///< 1/√(variance + eps); undefined where there is
  Tensor variance;  ///< this instead
  double eps = 0.0;
};

/// Running statistics that move by `momentum`; undefined ones do not.
struct RunningStatistics {
  Tensor mean;
  Tensor variance;
  double momentum = 0.0;
};

/// Fills `mean` and `invstd` with those of `input` [N, C, …], towards which running ones move.
void compute_statistics(const Tensor& input, const ChannelStatistics& out,
                        const RunningStatistics& running);

/// Fills `mean` and `invstd` with running ones.
void convert_statistics(const RunningStatistics& running, const ChannelStatistics& out);

/// out = (input − mean) · invstd · weight + bias; undefined weight and bias are 1 and 0.
void batch_norm_apply(const Tensor& input, const ChannelStatistics& statistics,
                      const Tensor& weight, const Tensor& bias, const Tensor& out);

/// Whether a change of the input changes the statistics.
enum class StatisticsOf : bool { constants, the_input };

/// Fills of `out` what is defined.
void batch_norm_gradients(const Tensor& grad, const Tensor& input,
                          const ChannelStatistics& statistics, StatisticsOf source,
                          const Tensor& weight, const LayerGradients& out);

}  // namespace ohm::ops

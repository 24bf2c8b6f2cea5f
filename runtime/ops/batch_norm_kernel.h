// The arithmetic of batch normalisation, on the host; statistics are accumulated in double. On
// size-only devices nothing happens and statistics are empty.
#pragma once

#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// mean and 1/√(variance + eps) of each channel.
struct ChannelStatistics {
  std::vector<double> mean;
  std::vector<double> invstd;
};

/// Of `input` [N, C, …] itself. Running statistics move towards them by `momentum`, in place; none
/// do where they are undefined.
ChannelStatistics input_statistics(const Tensor& input, double eps, const Tensor& running_mean,
                                   const Tensor& running_var, double momentum);
ChannelStatistics running_statistics(const Tensor& mean, const Tensor& variance, double eps);
/// As forward has stored them.
ChannelStatistics saved_statistics(const Tensor& mean, const Tensor& invstd);

/// out = (input − mean) · invstd · weight + bias; undefined weight and bias are 1 and 0.
void batch_norm_apply(const Tensor& input, const ChannelStatistics& statistics,
                      const Tensor& weight, const Tensor& bias, const Tensor& out);

/// Whether a change of the input changes the statistics.
enum class StatisticsOf : bool { constants, the_input };

/// What batch_norm_gradients fills, each where it is defined.
struct BatchNormGradients {
  Tensor input;
  Tensor weight;
  Tensor bias;
};

void batch_norm_gradients(const Tensor& grad, const Tensor& input,
                          const ChannelStatistics& statistics, StatisticsOf source,
                          const Tensor& weight, const BatchNormGradients& out);

}  // namespace ohm::ops

#include "runtime/nn/normalization.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <iterator>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/ops/normalization/batch_norm.h"
#include "runtime/ops/normalization/layer_norm.h"

namespace ohm::nn {
namespace {

// Counted where it lies; the count is not part of any graph.
void count_batch(const Tensor& counter) {
  map_elements(counter, DType::int64, functors::Sum(), counter, 1.0);
}

// Where it lies, outside any graph.
void overwrite(const Tensor& tensor, double value) {
  fill_values(tensor, value);
  tensor.bump_version();
}

}  // namespace

ChannelNorm::ChannelNorm(const Kind& kind, std::int64_t features, const BatchNormOptions& options,
                         const ParameterOptions& parameters)
    : kind_(kind), options_(options) {
  if (features <= 0) {
    throw std::invalid_argument(
        fmt::format("[{}] num_features must be positive, not {}", kind.type_name, features));
  }
  const Shape shape{features};
  add_parameter("weight",
                options.is_affine ? constant_parameter(shape, 1.0, parameters) : Tensor());
  add_parameter("bias", options.is_affine ? constant_parameter(shape, 0.0, parameters) : Tensor());
  const bool tracks = options.tracks_running_stats;
  const auto statistic = [&](double value) {
    return tracks ? constant_buffer(shape, value, parameters.device, parameters.dtype) : Tensor();
  };
  add_buffer("running_mean", statistic(0.0));
  add_buffer("running_var", statistic(1.0));
  add_buffer("num_batches_tracked",
             tracks ? constant_buffer({}, 0.0, parameters.device, DType::int64) : Tensor());
}

Value ChannelNorm::forward(const std::vector<Value>& inputs) {
  const Tensor& input = single_tensor(inputs, kind_.type_name);
  if (input.dims() < kind_.min_dims || input.dims() > kind_.max_dims) {
    throw std::invalid_argument(
        fmt::format("[{}] expected {} to {} dimensions, got input of shape {}", kind_.type_name,
                    kind_.min_dims, kind_.max_dims, input.shape().str()));
  }
  return apply(input);
}

Tensor BatchNorm::apply(const Tensor& input) {
  Tensor out = normalize(input);
  if (is_training() && options().tracks_running_stats) count_batch(own_buffer(2));
  return out;
}

Tensor BatchNorm::normalize(const Tensor& input) {
  return ops::batch_norm(input, if_defined(own_buffer(0)), if_defined(own_buffer(1)),
                         if_defined(own_parameter(0)), if_defined(own_parameter(1)),
                         uses_input_statistics(), options().momentum, options().eps);
}

void ChannelNorm::reset_running_stats() {
  constexpr double kValues[] = {0.0, 1.0, 0.0};
  for (std::size_t i = 0; i < std::size(kValues); ++i) {
    if (own_buffer(i).defined()) overwrite(own_buffer(i), kValues[i]);
  }
}

void ChannelNorm::reset_parameters() {
  reset_running_stats();
  if (!options_.is_affine) return;
  overwrite(own_parameter(0), 1.0);
  overwrite(own_parameter(1), 0.0);
}

LayerNorm::LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options,
                     const ParameterOptions& parameters)
    : normalized_shape_(normalized_shape), eps_(options.eps) {
  const auto parameter = [&](bool is_there, double value) {
    return is_there ? constant_parameter(normalized_shape, value, parameters) : Tensor();
  };
  add_parameter("weight", parameter(options.is_affine, 1.0));
  add_parameter("bias", parameter(options.is_affine && options.has_bias, 0.0));
}

Tensor LayerNorm::apply(const Tensor& input) {
  return ops::layer_norm(input, normalized_shape_, if_defined(own_parameter(0)),
                         if_defined(own_parameter(1)), eps_);
}

}  // namespace ohm::nn

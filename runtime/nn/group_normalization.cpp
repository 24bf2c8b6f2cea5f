#include "runtime/nn/group_normalization.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/composed.h"
#include "runtime/ops/group_norm.h"
#include "runtime/ops/rms_norm.h"

namespace ohm::nn {
namespace {

Tensor parameter_of(bool is_there, const Shape& shape, double value,
                    const ParameterOptions& parameters) {
  return is_there ? constant_parameter(shape, value, parameters) : Tensor();
}

void require_positive(std::string_view type_name, std::int64_t channels) {
  if (channels > 0) return;
  throw std::invalid_argument(
      fmt::format("[{}] the number of channels must be positive, not {}", type_name, channels));
}

}  // namespace

GroupNorm::GroupNorm(std::int64_t num_groups, std::int64_t channels, double eps, bool is_affine,
                     const ParameterOptions& parameters)
    : num_groups_(num_groups), eps_(eps) {
  require_positive(type_name(), channels);
  if (num_groups <= 0 || channels % num_groups != 0) {
    throw std::invalid_argument(fmt::format(
        "[GroupNorm] {} channels cannot be divided into {} groups", channels, num_groups));
  }
  add_parameter("weight", parameter_of(is_affine, {channels}, 1.0, parameters));
  add_parameter("bias", parameter_of(is_affine, {channels}, 0.0, parameters));
}

Tensor GroupNorm::apply(const Tensor& input) {
  return ops::group_norm(input, num_groups_, if_defined(own_parameter(0)),
                         if_defined(own_parameter(1)), eps_);
}

InstanceNorm::InstanceNorm(const Kind& kind, std::int64_t features, double eps, bool is_affine,
                           const ParameterOptions& parameters)
    : kind_(kind), eps_(eps) {
  require_positive(kind.type_name, features);
  add_parameter("weight", parameter_of(is_affine, {features}, 1.0, parameters));
  add_parameter("bias", parameter_of(is_affine, {features}, 0.0, parameters));
}

Tensor InstanceNorm::apply(const Tensor& input) {
  if (input.dims() != kind_.dims) {
    throw std::invalid_argument(fmt::format("[{}] expected {} dimensions, got input of shape {}",
                                            kind_.type_name, kind_.dims, input.shape().str()));
  }
  return ops::instance_norm(input, if_defined(own_parameter(0)), if_defined(own_parameter(1)),
                            eps_);
}

RmsNorm::RmsNorm(const Shape& normalized_shape, std::optional<double> eps, bool is_affine,
                 const ParameterOptions& parameters)
    : normalized_shape_(normalized_shape), eps_(eps) {
  add_parameter("weight", parameter_of(is_affine, normalized_shape, 1.0, parameters));
}

Tensor RmsNorm::apply(const Tensor& input) {
  return ops::rms_norm(input, normalized_shape_, if_defined(own_parameter(0)), eps_);
}

}  // namespace ohm::nn

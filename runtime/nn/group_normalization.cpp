#include "runtime/nn/group_normalization.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/composed.h"
#include "runtime/ops/normalization/group_norm.h"
#include "runtime/ops/normalization/rms_norm.h"
#include "runtime/ops/shape/view.h"

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

Tensor InstanceNorm::apply(const Tensor& input) {
  const bool is_alone = input.dims() == kind().min_dims;
  const Tensor samples = is_alone ? ops::unsqueeze(input, 0) : input;
  Tensor out = ops::instance_norm(samples, if_defined(own_buffer(0)), if_defined(own_buffer(1)),
                                  if_defined(own_parameter(0)), if_defined(own_parameter(1)),
                                  uses_input_statistics(), options().momentum, options().eps);
  return is_alone ? ops::squeeze(out, std::int64_t{0}) : out;
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

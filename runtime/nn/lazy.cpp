#include "runtime/nn/lazy.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/autograd/tensor_data.h"
#include "runtime/nn/conv.h"
#include "runtime/nn/conv_options.h"
#include "runtime/nn/group_normalization.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/normalization.h"

namespace ohm::nn {
namespace {

constexpr LazyLayer::Kind kLinear{"LazyLinear", -1};
constexpr LazyLayer::Kind kConv1d{"LazyConv1d", -2};
constexpr LazyLayer::Kind kConv2d{"LazyConv2d", -3};
constexpr LazyLayer::Kind kConv3d{"LazyConv3d", -4};
constexpr LazyLayer::Kind kConvTranspose1d{"LazyConvTranspose1d", -2};
constexpr LazyLayer::Kind kConvTranspose2d{"LazyConvTranspose2d", -3};
constexpr LazyLayer::Kind kConvTranspose3d{"LazyConvTranspose3d", -4};
constexpr LazyLayer::Kind kBatchNorm1d{"LazyBatchNorm1d", 1};
constexpr LazyLayer::Kind kBatchNorm2d{"LazyBatchNorm2d", 1};
constexpr LazyLayer::Kind kBatchNorm3d{"LazyBatchNorm3d", 1};
constexpr LazyLayer::Kind kInstanceNorm1d{"LazyInstanceNorm1d", 1};
constexpr LazyLayer::Kind kInstanceNorm2d{"LazyInstanceNorm2d", 1};
constexpr LazyLayer::Kind kInstanceNorm3d{"LazyInstanceNorm3d", 1};

ModulePtr make_lazy_linear(std::int64_t out_features, bool bias, std::optional<Device> device,
                           std::optional<DType> dtype) {
  const auto make = [out_features, bias](std::int64_t features,
                                         const ParameterOptions& parameters) -> ModulePtr {
    return std::make_shared<Linear>(features, out_features, bias, parameters);
  };
  return std::make_shared<LazyLayer>(kLinear, LazyLayer::Parts{true, bias}, make,
                                     parameter_options(device, dtype));
}

template <const LazyLayer::Kind& Lazy, const Conv::Kind& Kind>
ModulePtr make_lazy_conv(std::int64_t out_channels, const Shape& kernel_size, const Shape& stride,
                         const ops::SizesOrWord& padding, const Shape& dilation,
                         std::int64_t groups, bool bias, const std::string& padding_mode,
                         std::optional<Device> device, std::optional<DType> dtype) {
  const ConvOptions options{kernel_size, stride, padding, dilation, groups, bias, padding_mode};
  const auto make = [out_channels, options](std::int64_t channels,
                                            const ParameterOptions& parameters) -> ModulePtr {
    return std::make_shared<Conv>(Kind, channels, out_channels, options, parameters);
  };
  return std::make_shared<LazyLayer>(Lazy, LazyLayer::Parts{true, bias}, make,
                                     parameter_options(device, dtype));
}

template <const LazyLayer::Kind& Lazy, const ConvTranspose::Kind& Kind>
ModulePtr make_lazy_conv_transpose(std::int64_t out_channels, const Shape& kernel_size,
                                   const Shape& stride, const Shape& padding,
                                   const Shape& output_padding, std::int64_t groups, bool bias,
                                   const Shape& dilation, std::optional<Device> device,
                                   std::optional<DType> dtype) {
  const ConvTransposeOptions options{kernel_size, stride, padding, output_padding,
                                     groups,      bias,   dilation};
  const auto make = [out_channels, options](std::int64_t channels,
                                            const ParameterOptions& parameters) -> ModulePtr {
    return std::make_shared<ConvTranspose>(Kind, channels, out_channels, options, parameters);
  };
  return std::make_shared<LazyLayer>(Lazy, LazyLayer::Parts{true, bias}, make,
                                     parameter_options(device, dtype));
}

template <const LazyLayer::Kind& Lazy, class Norm, const ChannelNorm::Kind& Kind>
ModulePtr make_lazy_norm(double eps, double momentum, bool affine, bool track_running_stats,
                         std::optional<Device> device, std::optional<DType> dtype) {
  const BatchNormOptions options{eps, momentum, affine, track_running_stats};
  const auto make = [options](std::int64_t features,
                              const ParameterOptions& parameters) -> ModulePtr {
    // The count of batches has memory of the device already: what it lacks is moved there.
    return std::make_shared<Norm>(Kind, features, options,
                                  ParameterOptions{Device::cpu(), parameters.dtype});
  };
  return std::make_shared<LazyLayer>(Lazy, LazyLayer::Parts{affine, affine, track_running_stats},
                                     make, parameter_options(device, dtype));
}

// Other than those of the layers themselves they are whole, of InstanceNorm, too.
std::vector<ops::ParamName> norm_options() {
  return {{"eps", 1e-5},    {"momentum", 0.1},
          {"affine", true}, {"track_running_stats", true},
          "device",         "dtype"};
}

// Of one of its tensors, which may have been moved since.
ParameterOptions options_of_parts(const Module& module, const Tensor& input) {
  for (const auto* list : {&module.own_parameters(), &module.own_buffers()}) {
    for (const NamedTensor& named : *list) {
      if (named.tensor.defined()) return {named.tensor.device(), named.tensor.dtype()};
    }
  }
  return {input.device(), input.dtype()};
}

// `own` stays the same object.
void take_elements(const Tensor& own, const Tensor& made) {
  if (!own.defined() || own.numel() > 0) return;
  if (made.device() != own.device()) move_data(made, own.device());
  set_data(own, made);
}

}  // namespace

LazyLayer::LazyLayer(const Kind& kind, const Parts& parts, Make make,
                     const ParameterOptions& parameters)
    : kind_(kind), make_(std::move(make)) {
  const auto parameter = [&](bool is_there) {
    return is_there ? constant_parameter({0}, 0.0, parameters) : Tensor();
  };
  add_parameter("weight", parameter(parts.has_weight));
  add_parameter("bias", parameter(parts.has_bias));
  if (!parts.has_statistics) return;
  for (const char* name : {"running_mean", "running_var"}) {
    add_buffer(name, constant_buffer({0}, 0.0, parameters.device, parameters.dtype));
  }
  add_buffer("num_batches_tracked", constant_buffer({}, 0.0, parameters.device, DType::int64));
}

std::string_view LazyLayer::type_name() const {
  return layer_ ? layer_->type_name() : kind_.type_name;
}

void LazyLayer::become_layer_for(const Tensor& input) {
  const int dim = kind_.feature_dim;
  if (input.dims() < (dim < 0 ? -dim : dim + 1)) {
    throw std::invalid_argument(
        fmt::format("[{}] an input of shape {} has no dimension of features", kind_.type_name,
                    input.shape().str()));
  }
  const ModulePtr layer = make_(input.size(dim), options_of_parts(*this, input));
  for (std::size_t i = 0; i < layer->own_parameters().size(); ++i) {
    take_elements(own_parameter(i), layer->own_parameter(i));
    layer->set_own_parameter(i, Tensor());
  }
  for (std::size_t i = 0; i < own_buffers().size(); ++i) {
    take_elements(own_buffer(i), layer->own_buffers()[i].tensor);
    layer->set_own_buffer(i, Tensor());
  }
  layer_ = layer;
}

Value LazyLayer::forward(const std::vector<Value>& inputs) {
  if (!layer_) become_layer_for(single_tensor(inputs, kind_.type_name));
  const ModulePtr layer = layer_->shallow_copy();
  for (std::size_t i = 0; i < layer->own_parameters().size(); ++i) {
    layer->set_own_parameter(i, own_parameter(i));
  }
  for (std::size_t i = 0; i < own_buffers().size(); ++i) layer->set_own_buffer(i, own_buffer(i));
  layer->set_training(is_training());
  return layer->forward(inputs);
}

std::vector<ModuleDef> lazy_modules() {
  const std::vector<ops::ParamName> conv = conv_options();
  const std::vector<ops::ParamName> transpose = conv_transpose_options();
  const std::vector<ops::ParamName> norm = norm_options();
  return {
      define("LazyLinear", &make_lazy_linear, {"out_features", {"bias", true}, "device", "dtype"}),
      define("LazyConv1d", &make_lazy_conv<kConv1d, Conv::k1d>, conv),
      define("LazyConv2d", &make_lazy_conv<kConv2d, Conv::k2d>, conv),
      define("LazyConv3d", &make_lazy_conv<kConv3d, Conv::k3d>, conv),
      define("LazyConvTranspose1d", &make_lazy_conv_transpose<kConvTranspose1d, ConvTranspose::k1d>,
             transpose),
      define("LazyConvTranspose2d", &make_lazy_conv_transpose<kConvTranspose2d, ConvTranspose::k2d>,
             transpose),
      define("LazyConvTranspose3d", &make_lazy_conv_transpose<kConvTranspose3d, ConvTranspose::k3d>,
             transpose),
      define("LazyBatchNorm1d", &make_lazy_norm<kBatchNorm1d, BatchNorm, BatchNorm::k1d>, norm),
      define("LazyBatchNorm2d", &make_lazy_norm<kBatchNorm2d, BatchNorm, BatchNorm::k2d>, norm),
      define("LazyBatchNorm3d", &make_lazy_norm<kBatchNorm3d, BatchNorm, BatchNorm::k3d>, norm),
      define("LazyInstanceNorm1d",
             &make_lazy_norm<kInstanceNorm1d, InstanceNorm, InstanceNorm::k1d>, norm),
      define("LazyInstanceNorm2d",
             &make_lazy_norm<kInstanceNorm2d, InstanceNorm, InstanceNorm::k2d>, norm),
      define("LazyInstanceNorm3d",
             &make_lazy_norm<kInstanceNorm3d, InstanceNorm, InstanceNorm::k3d>, norm),
  };
}

}  // namespace ohm::nn

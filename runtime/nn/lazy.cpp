#include "runtime/nn/lazy.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/autograd/tensor_data.h"
#include "runtime/nn/conv.h"
#include "runtime/nn/conv_options.h"
#include "runtime/nn/linear.h"

namespace ohm::nn {
namespace {

constexpr LazyLayer::Kind kLinear{"LazyLinear", 0};
constexpr LazyLayer::Kind kConv1d{"LazyConv1d", 1};
constexpr LazyLayer::Kind kConv2d{"LazyConv2d", 2};
constexpr LazyLayer::Kind kConv3d{"LazyConv3d", 3};
constexpr LazyLayer::Kind kConvTranspose1d{"LazyConvTranspose1d", 1};
constexpr LazyLayer::Kind kConvTranspose2d{"LazyConvTranspose2d", 2};
constexpr LazyLayer::Kind kConvTranspose3d{"LazyConvTranspose3d", 3};

ModulePtr make_lazy_linear(std::int64_t out_features, bool bias, std::optional<Device> device,
                           std::optional<DType> dtype) {
  const auto make = [out_features, bias](std::int64_t features,
                                         const ParameterOptions& parameters) -> ModulePtr {
    return std::make_shared<Linear>(features, out_features, bias, parameters);
  };
  return std::make_shared<LazyLayer>(kLinear, bias, make, parameter_options(device, dtype));
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
  return std::make_shared<LazyLayer>(Lazy, bias, make, parameter_options(device, dtype));
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
  return std::make_shared<LazyLayer>(Lazy, bias, make, parameter_options(device, dtype));
}

}  // namespace

LazyLayer::LazyLayer(const Kind& kind, bool has_bias, Make make, const ParameterOptions& parameters)
    : kind_(kind), make_(std::move(make)) {
  add_parameter("weight", constant_parameter({0}, 0.0, parameters));
  add_parameter("bias", has_bias ? constant_parameter({0}, 0.0, parameters) : Tensor());
}

std::string_view LazyLayer::type_name() const {
  return layer_ ? layer_->type_name() : kind_.type_name;
}

void LazyLayer::become_layer_for(const Tensor& input) {
  if (input.dims() <= kind_.dims) {
    throw std::invalid_argument(
        fmt::format("[{}] an input of shape {} has no dimension of features", kind_.type_name,
                    input.shape().str()));
  }
  const Tensor& weight = own_parameter(0);
  const ModulePtr layer = make_(input.size(-1 - kind_.dims), {weight.device(), weight.dtype()});
  for (std::size_t i = 0; i < layer->own_parameters().size(); ++i) {
    if (!own_parameter(i).defined()) continue;
    set_data(own_parameter(i), layer->own_parameter(i));
    layer->set_own_parameter(i, Tensor());
  }
  layer_ = layer;
}

Value LazyLayer::forward(const std::vector<Value>& inputs) {
  if (!layer_) become_layer_for(single_tensor(inputs, kind_.type_name));
  const ModulePtr layer = layer_->shallow_copy();
  for (std::size_t i = 0; i < layer->own_parameters().size(); ++i) {
    layer->set_own_parameter(i, own_parameter(i));
  }
  return layer->forward(inputs);
}

std::vector<ModuleDef> lazy_modules() {
  const std::vector<ops::ParamName> conv = conv_options();
  const std::vector<ops::ParamName> transpose = conv_transpose_options();
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
  };
}

}  // namespace ohm::nn

#include "runtime/nn/registry.h"

#include "runtime/nn/conv.h"
#include "runtime/nn/dropout.h"
#include "runtime/nn/embedding.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/normalization.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/loss_bce.h"
#include "runtime/ops/loss_distance.h"
#include "runtime/ops/loss_nll.h"
#include "runtime/ops/pooling.h"
#include "runtime/ops/softmax.h"
#include "runtime/ops/view.h"

namespace ohm::nn {
namespace {

using ops::ParamName;

template <class... Args>
ModuleDef define(std::string_view name, ModulePtr (*make)(Args...), std::vector<ParamName> names) {
  const auto call = [make](std::span<const Value> values) { return ops::invoke(make, values); };
  return {name, ops::params_of<Args...>(std::move(names)), call};
}

ModulePtr function_module(std::string_view name, FunctionModule::Function function) {
  return std::make_shared<FunctionModule>(name, std::move(function));
}

ModulePtr make_linear(std::int64_t in_features, std::int64_t out_features, bool bias,
                      std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<Linear>(in_features, out_features, bias,
                                  parameter_options(device, dtype));
}

ModulePtr make_conv2d(std::int64_t in_channels, std::int64_t out_channels, const Shape& kernel_size,
                      const Shape& stride, const Shape& padding, const Shape& dilation,
                      std::int64_t groups, bool bias, std::optional<Device> device,
                      std::optional<DType> dtype) {
  return std::make_shared<Conv2d>(
      in_channels, out_channels,
      Conv2dOptions{kernel_size, stride, padding, dilation, groups, bias},
      parameter_options(device, dtype));
}

ModulePtr make_batch_norm(const BatchNorm::Kind& kind, std::int64_t features,
                          const BatchNormOptions& options, std::optional<Device> device,
                          std::optional<DType> dtype) {
  return std::make_shared<BatchNorm>(kind, features, options, parameter_options(device, dtype));
}

ModulePtr make_batch_norm_1d(std::int64_t features, double eps, double momentum, bool affine,
                             bool track_running_stats, std::optional<Device> device,
                             std::optional<DType> dtype) {
  return make_batch_norm(BatchNorm::k1d, features, {eps, momentum, affine, track_running_stats},
                         device, dtype);
}

ModulePtr make_batch_norm_2d(std::int64_t features, double eps, double momentum, bool affine,
                             bool track_running_stats, std::optional<Device> device,
                             std::optional<DType> dtype) {
  return make_batch_norm(BatchNorm::k2d, features, {eps, momentum, affine, track_running_stats},
                         device, dtype);
}

ModulePtr make_layer_norm(const Shape& normalized_shape, double eps, bool elementwise_affine,
                          std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<LayerNorm>(normalized_shape, eps, elementwise_affine,
                                     parameter_options(device, dtype));
}

ModulePtr make_max_pool2d(const Shape& kernel_size, std::optional<Shape> stride,
                          const Shape& padding, const Shape& dilation, bool ceil_mode) {
  return function_module("MaxPool2d", [=](const Tensor& input) {
    return ops::max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode);
  });
}

ModulePtr make_avg_pool2d(const Shape& kernel_size, std::optional<Shape> stride,
                          const Shape& padding, bool ceil_mode, bool count_include_pad) {
  return function_module("AvgPool2d", [=](const Tensor& input) {
    return ops::avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                           std::nullopt);
  });
}

ModulePtr make_adaptive_avg_pool2d(const Shape& output_size) {
  return function_module("AdaptiveAvgPool2d", [output_size](const Tensor& input) {
    return ops::adaptive_avg_pool2d(input, output_size);
  });
}

ModulePtr make_dropout(double p, bool inplace) { return std::make_shared<Dropout>(p, inplace); }

ModulePtr make_embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                         std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<Embedding>(num_embeddings, embedding_dim,
                                     parameter_options(device, dtype));
}

ModulePtr make_relu(bool inplace) {
  return function_module("ReLU", inplace ? &ops::relu_ : &ops::relu);
}
ModulePtr make_gelu() { return function_module("GELU", &ops::gelu); }
ModulePtr make_silu() { return function_module("SiLU", &ops::silu); }
ModulePtr make_sigmoid() { return function_module("Sigmoid", &ops::sigmoid); }
ModulePtr make_tanh() { return function_module("Tanh", &ops::tanh); }
ModulePtr make_leaky_relu(double negative_slope) {
  return function_module("LeakyReLU", [negative_slope](const Tensor& input) {
    return ops::leaky_relu(input, negative_slope);
  });
}
ModulePtr make_identity() {
  return function_module("Identity", [](const Tensor& input) { return input; });
}
ModulePtr make_flatten(std::int64_t start_dim, std::int64_t end_dim) {
  return function_module("Flatten", [start_dim, end_dim](const Tensor& input) {
    return ops::flatten(input, start_dim, end_dim);
  });
}

ModulePtr make_softmax(std::int64_t dim) {
  return function_module(
      "Softmax", [dim](const Tensor& input) { return ops::softmax(input, dim, std::nullopt); });
}
ModulePtr make_log_softmax(std::int64_t dim) {
  return function_module("LogSoftmax", [dim](const Tensor& input) {
    return ops::log_softmax(input, dim, std::nullopt);
  });
}

ModulePtr loss_module(std::string_view name, LossModule::Function function) {
  return std::make_shared<LossModule>(name, std::move(function));
}

ModulePtr make_cross_entropy(const std::optional<Tensor>& weight, std::int64_t ignore_index,
                             const std::string& reduction) {
  return loss_module("CrossEntropyLoss", [=, kind = ops::parse_reduction(reduction)](
                                             const Tensor& input, const Tensor& target) {
    return ops::cross_entropy(input, target, weight, ignore_index, kind);
  });
}
ModulePtr make_nll(const std::optional<Tensor>& weight, std::int64_t ignore_index,
                   const std::string& reduction) {
  return loss_module("NLLLoss", [=, kind = ops::parse_reduction(reduction)](const Tensor& input,
                                                                            const Tensor& target) {
    return ops::nll_loss(input, target, weight, ignore_index, kind);
  });
}
ModulePtr make_mse(const std::string& reduction) {
  return loss_module("MSELoss", [kind = ops::parse_reduction(reduction)](const Tensor& input,
                                                                         const Tensor& target) {
    return ops::mse_loss(input, target, kind);
  });
}
ModulePtr make_l1(const std::string& reduction) {
  return loss_module("L1Loss", [kind = ops::parse_reduction(reduction)](const Tensor& input,
                                                                        const Tensor& target) {
    return ops::l1_loss(input, target, kind);
  });
}
ModulePtr make_smooth_l1(const std::string& reduction, double beta) {
  return loss_module("SmoothL1Loss", [beta, kind = ops::parse_reduction(reduction)](
                                         const Tensor& input, const Tensor& target) {
    return ops::smooth_l1_loss(input, target, kind, beta);
  });
}
ModulePtr make_huber(const std::string& reduction, double delta) {
  return loss_module("HuberLoss", [delta, kind = ops::parse_reduction(reduction)](
                                      const Tensor& input, const Tensor& target) {
    return ops::huber_loss(input, target, kind, delta);
  });
}
ModulePtr make_bce_with_logits(const std::string& reduction) {
  return loss_module("BCEWithLogitsLoss", [kind = ops::parse_reduction(reduction)](
                                              const Tensor& input, const Tensor& target) {
    return ops::binary_cross_entropy_with_logits(input, target, std::nullopt, kind, std::nullopt);
  });
}

}  // namespace

const std::vector<ModuleDef>& all_modules() {
  const std::vector<ParamName> batch_norm_names = {"num_features",
                                                   {"eps", 1e-5},
                                                   {"momentum", 0.1},
                                                   {"affine", true},
                                                   {"track_running_stats", true},
                                                   "device",
                                                   "dtype"};
  const ParamName reduction{"reduction", std::string("mean")};
  const ParamName ignore_index{"ignore_index", std::int64_t{-100}};
  static const std::vector<ModuleDef> modules = {
      define("Linear", &make_linear,
             {"in_features", "out_features", {"bias", true}, "device", "dtype"}),
      define("Conv2d", &make_conv2d,
             {"in_channels",
              "out_channels",
              "kernel_size",
              {"stride", Shape{1}},
              {"padding", Shape{0}},
              {"dilation", Shape{1}},
              {"groups", std::int64_t{1}},
              {"bias", true},
              "device",
              "dtype"}),
      define("BatchNorm1d", &make_batch_norm_1d, batch_norm_names),
      define("BatchNorm2d", &make_batch_norm_2d, batch_norm_names),
      define("LayerNorm", &make_layer_norm,
             {"normalized_shape", {"eps", 1e-5}, {"elementwise_affine", true}, "device", "dtype"}),
      define("MaxPool2d", &make_max_pool2d,
             {"kernel_size",
              "stride",
              {"padding", Shape{0}},
              {"dilation", Shape{1}},
              {"ceil_mode", false}}),
      define("AvgPool2d", &make_avg_pool2d,
             {"kernel_size",
              "stride",
              {"padding", Shape{0}},
              {"ceil_mode", false},
              {"count_include_pad", true}}),
      define("AdaptiveAvgPool2d", &make_adaptive_avg_pool2d, {"output_size"}),
      define("Dropout", &make_dropout, {{"p", 0.5}, {"inplace", false}}),
      define("Embedding", &make_embedding, {"num_embeddings", "embedding_dim", "device", "dtype"}),
      define("ReLU", &make_relu, {{"inplace", false}}),
      define("GELU", &make_gelu, {}),
      define("SiLU", &make_silu, {}),
      define("Sigmoid", &make_sigmoid, {}),
      define("Tanh", &make_tanh, {}),
      define("LeakyReLU", &make_leaky_relu, {{"negative_slope", 0.01}}),
      define("Identity", &make_identity, {}),
      define("Flatten", &make_flatten,
             {{"start_dim", std::int64_t{1}}, {"end_dim", std::int64_t{-1}}}),
      define("Softmax", &make_softmax, {{"dim", std::int64_t{-1}}}),
      define("LogSoftmax", &make_log_softmax, {{"dim", std::int64_t{-1}}}),
      define("CrossEntropyLoss", &make_cross_entropy, {"weight", ignore_index, reduction}),
      define("NLLLoss", &make_nll, {"weight", ignore_index, reduction}),
      define("MSELoss", &make_mse, {reduction}),
      define("L1Loss", &make_l1, {reduction}),
      define("SmoothL1Loss", &make_smooth_l1, {reduction, {"beta", 1.0}}),
      define("HuberLoss", &make_huber, {reduction, {"delta", 1.0}}),
      define("BCEWithLogitsLoss", &make_bce_with_logits, {reduction}),
  };
  return modules;
}

}  // namespace ohm::nn

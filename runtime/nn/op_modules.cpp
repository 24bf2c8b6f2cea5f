#include "runtime/nn/op_modules.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/prelu.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/image/interpolate.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/shape/rearrange.h"

namespace ohm::nn {
namespace {

// The arguments of an op that a module calls: what stands behind its inputs is the module's own.
struct BoundOp {
  const ops::OpDef* op;
  std::vector<Value> arguments;

  Value value(std::vector<Value> inputs) const {
    inputs.insert(inputs.end(), arguments.begin(), arguments.end());
    return op->call(inputs);
  }
  Tensor call(std::vector<Value> inputs) const {
    return std::get<Tensor>(value(std::move(inputs)));
  }
};

const ops::OpDef& op_called(std::string_view name) {
  const ops::OpDef* op = ops::find_op(name);
  OHM_ASSERT(op != nullptr, "a module calls an op that is not there");
  return *op;
}

// Of an op whose first arguments are several tensors.
class TensorsModule final : public CopyableModule<TensorsModule> {
 public:
  TensorsModule(std::string_view name, BoundOp op, std::span<const ops::Param> inputs)
      : name_(name), op_(std::move(op)), inputs_(inputs) {}
  std::string_view type_name() const override { return name_; }
  using Module::forward;
  Value forward(const std::vector<Value>& inputs) override {
    const bool are_tensors = std::all_of(inputs.begin(), inputs.end(), [](const Value& input) {
      return std::holds_alternative<Tensor>(input);
    });
    if (inputs.size() == inputs_.size() && are_tensors) return op_.value(inputs);
    std::string names;
    for (const ops::Param& input : inputs_) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", input.name);
    }
    throw std::invalid_argument(
        fmt::format("[{}] takes {} tensors: {}", name_, inputs_.size(), names));
  }

 private:
  std::string_view name_;
  BoundOp op_;
  std::span<const ops::Param> inputs_;
};

// A module from one tensor to one that is nothing but a call of an op.
ModuleDef module_of(std::string_view name, std::string_view op_name) {
  const ops::OpDef& op = op_called(op_name);
  return {name,
          {op.params.begin() + 1, op.params.end()},
          [name, &op](std::span<const Value> values) -> ModulePtr {
            const BoundOp bound{&op, {values.begin(), values.end()}};
            return std::make_shared<FunctionModule>(
                name, [bound](const Tensor& input) { return bound.call({input}); });
          }};
}

// The same for a max_pool, whose module has the last two options the other way round, and may give
// the indices, too.
ModuleDef max_pool_of(std::string_view name, std::string_view op_name) {
  const ops::OpDef& op = op_called(op_name);
  std::vector<ops::Param> params(op.params.begin() + 1, op.params.end());
  std::swap(params.end()[-1], params.end()[-2]);
  return {name, std::move(params), [name, &op](std::span<const Value> values) -> ModulePtr {
            BoundOp bound{&op, {values.begin(), values.end()}};
            std::swap(bound.arguments.end()[-1], bound.arguments.end()[-2]);
            if (std::get<bool>(bound.arguments.back())) {
              return std::make_shared<TensorsModule>(name, std::move(bound),
                                                     std::span(op.params).first(1));
            }
            return std::make_shared<FunctionModule>(
                name, [bound](const Tensor& input) { return bound.call({input}); });
          }};
}

// The same for an op of a prediction and a target.
ModuleDef loss_of(std::string_view name, std::string_view op_name) {
  const ops::OpDef& op = op_called(op_name);
  return {name,
          {op.params.begin() + 2, op.params.end()},
          [name, &op](std::span<const Value> values) -> ModulePtr {
            const BoundOp bound{&op, {values.begin(), values.end()}};
            return std::make_shared<LossModule>(name,
                                                [bound](const Tensor& input, const Tensor& target) {
                                                  return bound.call({input, target});
                                                });
          }};
}

// The same for an op of so many tensors.
ModuleDef loss_of_tensors(std::string_view name, std::string_view op_name, std::size_t count) {
  const ops::OpDef& op = op_called(op_name);
  return {name,
          {op.params.begin() + static_cast<std::ptrdiff_t>(count), op.params.end()},
          [name, &op, count](std::span<const Value> values) -> ModulePtr {
            return std::make_shared<TensorsModule>(name,
                                                   BoundOp{&op, {values.begin(), values.end()}},
                                                   std::span(op.params).first(count));
          }};
}

// A margin of 0 or less is refused at once.
ModuleDef triplet_margin_loss() {
  ModuleDef module = loss_of_tensors("TripletMarginLoss", "triplet_margin_loss", 3);
  const auto margin = static_cast<std::size_t>(
      std::find_if(module.params.begin(), module.params.end(),
                   [](const ops::Param& param) { return param.name == "margin"; }) -
      module.params.begin());
  module.make = [make = module.make, margin](std::span<const Value> values) {
    if (const double given = std::get<double>(values[margin]); !(given > 0.0)) {
      throw std::invalid_argument(
          fmt::format("[TripletMarginLoss] expected margin to be greater than 0, got {}", given));
    }
    return make(values);
  };
  return module;
}

// The same module, with another name for a parameter.
ModuleDef renamed(ModuleDef module, std::string_view param, std::string_view name) {
  for (ops::Param& known : module.params) {
    if (known.name == param) known.name = name;
  }
  return module;
}

// The same module, with a default that its op does not have.
ModuleDef with_default(ModuleDef module, std::string_view param, const Value& value) {
  for (ops::Param& known : module.params) {
    if (known.name != param) continue;
    known.is_optional = true;
    known.fallback = value;
  }
  return module;
}

ModulePtr make_prelu(std::int64_t num_parameters, double init, std::optional<Device> device,
                     std::optional<DType> dtype) {
  return std::make_shared<PRelu>(num_parameters, init, parameter_options(device, dtype));
}

struct Upsampling {
  std::string_view name;
  const char* mode;
  bool align_corners;
};
constexpr Upsampling kNearestUpsampling{"UpsamplingNearest2d", "nearest", false};
constexpr Upsampling kBilinearUpsampling{"UpsamplingBilinear2d", "bilinear", true};

template <const Upsampling& Kind>
ModulePtr make_upsampling(std::optional<Shape> size,
                          std::optional<std::vector<double>> scale_factor) {
  return std::make_shared<FunctionModule>(
      Kind.name, [size, scale = std::move(scale_factor)](const Tensor& input) {
        return ops::interpolate(input, size, scale, Kind.mode, Kind.align_corners);
      });
}

ModulePtr make_softmax_2d() {
  return std::make_shared<FunctionModule>("Softmax2d", [](const Tensor& input) {
    if (input.dims() != 3 && input.dims() != 4) {
      throw std::invalid_argument(fmt::format(
          "[Softmax2d] expected input to be 3D or 4D, but got {}", input.shape().str()));
    }
    return ops::softmax(input, -3, std::nullopt);
  });
}

// As many pairs as the module's name has dimensions, of the last dimension first; one number stands
// for all of them.
ModulePtr padding_module(std::string_view name, int dims, const Shape& padding,
                         const std::string& mode, double value) {
  const Shape pairs = padding.dims() == 1 ? Shape(2 * dims, padding[0]) : padding;
  if (pairs.dims() != 2 * dims) {
    throw std::invalid_argument(fmt::format("[{}] padding must be one number or {}, not {}", name,
                                            2 * dims, padding.str()));
  }
  return std::make_shared<FunctionModule>(name, [pairs, mode, value](const Tensor& input) {
    return ops::pad(input, pairs, mode, value);
  });
}

/// Modules of 1, 2 and 3 dimensions that pad in one mode of ops::pad().
struct PaddingKind {
  std::string_view names[3];
  const char* mode;
};
constexpr PaddingKind kZeroPads{{"ZeroPad1d", "ZeroPad2d", "ZeroPad3d"}, "constant"};
constexpr PaddingKind kReflectionPads{{"ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d"},
                                      "reflect"};
constexpr PaddingKind kReplicationPads{{"ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d"},
                                       "replicate"};
constexpr PaddingKind kCircularPads{{"CircularPad1d", "CircularPad2d", "CircularPad3d"},
                                    "circular"};
constexpr std::string_view kConstantPads[] = {"ConstantPad1d", "ConstantPad2d", "ConstantPad3d"};

template <const PaddingKind& Kind, int Dims>
ModulePtr make_pad(const Shape& padding) {
  return padding_module(Kind.names[Dims - 1], Dims, padding, Kind.mode, 0.0);
}
template <int Dims>
ModulePtr make_constant_pad(const Shape& padding, double value) {
  return padding_module(kConstantPads[Dims - 1], Dims, padding, "constant", value);
}

template <const PaddingKind& Kind>
void add_pads(std::vector<ModuleDef>& modules) {
  modules.push_back(define(Kind.names[0], &make_pad<Kind, 1>, {"padding"}));
  modules.push_back(define(Kind.names[1], &make_pad<Kind, 2>, {"padding"}));
  modules.push_back(define(Kind.names[2], &make_pad<Kind, 3>, {"padding"}));
}

}  // namespace

std::vector<ModuleDef> pooling_modules() {
  return {
      max_pool_of("MaxPool1d", "max_pool1d"),
      module_of("AvgPool1d", "avg_pool1d"),
      module_of("AdaptiveAvgPool1d", "adaptive_avg_pool1d"),
      max_pool_of("MaxPool2d", "max_pool2d"),
      module_of("AvgPool2d", "avg_pool2d"),
      module_of("AdaptiveAvgPool2d", "adaptive_avg_pool2d"),
      max_pool_of("MaxPool3d", "max_pool3d"),
      module_of("AvgPool3d", "avg_pool3d"),
      module_of("AdaptiveAvgPool3d", "adaptive_avg_pool3d"),
      module_of("AdaptiveMaxPool1d", "adaptive_max_pool1d"),
      module_of("AdaptiveMaxPool2d", "adaptive_max_pool2d"),
      module_of("Unfold", "im2col"),
      module_of("Fold", "fold"),
      module_of("LocalResponseNorm", "local_response_norm"),
      module_of("Upsample", "interpolate"),
      define("UpsamplingNearest2d", &make_upsampling<kNearestUpsampling>, {"size", "scale_factor"}),
      define("UpsamplingBilinear2d", &make_upsampling<kBilinearUpsampling>,
             {"size", "scale_factor"}),
  };
}

std::vector<ModuleDef> padding_modules() {
  std::vector<ModuleDef> modules;
  add_pads<kZeroPads>(modules);
  modules.push_back(define(kConstantPads[0], &make_constant_pad<1>, {"padding", "value"}));
  modules.push_back(define(kConstantPads[1], &make_constant_pad<2>, {"padding", "value"}));
  modules.push_back(define(kConstantPads[2], &make_constant_pad<3>, {"padding", "value"}));
  add_pads<kReflectionPads>(modules);
  add_pads<kReplicationPads>(modules);
  add_pads<kCircularPads>(modules);
  return modules;
}

std::vector<ModuleDef> activation_modules() {
  return {
      module_of("ReLU", "relu"),
      define("PReLU", &make_prelu,
             {{"num_parameters", std::int64_t{1}}, {"init", 0.25}, "device", "dtype"}),
      module_of("PixelShuffle", "pixel_shuffle"),
      module_of("PixelUnshuffle", "pixel_unshuffle"),
      module_of("ChannelShuffle", "channel_shuffle"),
      define("Softmax2d", &make_softmax_2d, {}),
      module_of("Softsign", "softsign"),
      module_of("Tanhshrink", "tanhshrink"),
      module_of("Softmin", "softmin"),
      module_of("ReLU6", "relu6"),
      module_of("GELU", "gelu"),
      module_of("SiLU", "silu"),
      module_of("Mish", "mish"),
      module_of("ELU", "elu"),
      module_of("SELU", "selu"),
      module_of("CELU", "celu"),
      module_of("Sigmoid", "sigmoid"),
      module_of("LogSigmoid", "logsigmoid"),
      module_of("Tanh", "tanh"),
      module_of("Softplus", "softplus"),
      module_of("LeakyReLU", "leaky_relu"),
      module_of("Hardtanh", "hardtanh"),
      module_of("Hardsigmoid", "hardsigmoid"),
      module_of("Hardswish", "hardswish"),
      module_of("Hardshrink", "hardshrink"),
      module_of("Softshrink", "softshrink"),
      module_of("Threshold", "threshold"),
      module_of("GLU", "glu"),
      with_default(module_of("Flatten", "flatten"), "start_dim", std::int64_t{1}),
      renamed(module_of("Unflatten", "unflatten"), "sizes", "unflattened_size"),
      with_default(module_of("Softmax", "softmax"), "dim", std::int64_t{-1}),
      with_default(module_of("LogSoftmax", "log_softmax"), "dim", std::int64_t{-1}),
  };
}

std::vector<ModuleDef> loss_modules() {
  return {
      loss_of("CrossEntropyLoss", "cross_entropy"),
      loss_of("NLLLoss", "nll_loss"),
      loss_of("MSELoss", "mse_loss"),
      loss_of("L1Loss", "l1_loss"),
      loss_of("SmoothL1Loss", "smooth_l1_loss"),
      loss_of("HuberLoss", "huber_loss"),
      loss_of("HingeEmbeddingLoss", "hinge_embedding_loss"),
      loss_of("PoissonNLLLoss", "poisson_nll_loss"),
      loss_of("KLDivLoss", "kl_div"),
      loss_of("MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss"),
      loss_of("SoftMarginLoss", "soft_margin_loss"),
      loss_of("MultiMarginLoss", "multi_margin_loss"),
      loss_of_tensors("CosineSimilarity", "cosine_similarity", 2),
      loss_of_tensors("PairwiseDistance", "pairwise_distance", 2),
      loss_of_tensors("CosineEmbeddingLoss", "cosine_embedding_loss", 3),
      loss_of_tensors("GaussianNLLLoss", "gaussian_nll_loss", 3),
      loss_of_tensors("MarginRankingLoss", "margin_ranking_loss", 3),
      triplet_margin_loss(),
      loss_of_tensors("CTCLoss", "ctc_loss", 4),
      loss_of("BCELoss", "binary_cross_entropy"),
      loss_of("BCEWithLogitsLoss", "binary_cross_entropy_with_logits"),
  };
}

}  // namespace ohm::nn

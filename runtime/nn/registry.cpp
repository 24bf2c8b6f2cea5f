#include "runtime/nn/registry.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "allocator_shim/base/assert.h"
#include "runtime/nn/attention.h"
#include "runtime/nn/bilinear.h"
#include "runtime/nn/conv.h"
#include "runtime/nn/conv_options.h"
#include "runtime/nn/dropout.h"
#include "runtime/nn/embedding.h"
#include "runtime/nn/group_normalization.h"
#include "runtime/nn/lazy.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/max_unpool.h"
#include "runtime/nn/normalization.h"
#include "runtime/nn/prelu.h"
#include "runtime/nn/recurrent.h"
#include "runtime/nn/rrelu.h"
#include "runtime/nn/sequential.h"
#include "runtime/nn/transformer.h"
#include "runtime/nn/transformer_decoder.h"
#include "runtime/nn/transformer_model.h"
#include "runtime/ops/interpolate.h"
#include "runtime/ops/op_list.h"
#include "runtime/ops/rearrange.h"
#include "runtime/ops/softmax.h"

namespace ohm::nn {
namespace {

using ops::ParamName;

ModulePtr make_linear(std::int64_t in_features, std::int64_t out_features, bool bias,
                      std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<Linear>(in_features, out_features, bias,
                                  parameter_options(device, dtype));
}

ModulePtr make_bilinear(std::int64_t in1_features, std::int64_t in2_features,
                        std::int64_t out_features, bool bias, std::optional<Device> device,
                        std::optional<DType> dtype) {
  return std::make_shared<Bilinear>(in1_features, in2_features, out_features, bias,
                                    parameter_options(device, dtype));
}

template <const Conv::Kind& Kind>
ModulePtr make_conv(std::int64_t in_channels, std::int64_t out_channels, const Shape& kernel_size,
                    const Shape& stride, const ops::SizesOrWord& padding, const Shape& dilation,
                    std::int64_t groups, bool bias, const std::string& padding_mode,
                    std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<Conv>(
      Kind, in_channels, out_channels,
      ConvOptions{kernel_size, stride, padding, dilation, groups, bias, padding_mode},
      parameter_options(device, dtype));
}

template <const ConvTranspose::Kind& Kind>
ModulePtr make_conv_transpose(std::int64_t in_channels, std::int64_t out_channels,
                              const Shape& kernel_size, const Shape& stride, const Shape& padding,
                              const Shape& output_padding, std::int64_t groups, bool bias,
                              const Shape& dilation, std::optional<Device> device,
                              std::optional<DType> dtype) {
  return std::make_shared<ConvTranspose>(
      Kind, in_channels, out_channels,
      ConvTransposeOptions{kernel_size, stride, padding, output_padding, groups, bias, dilation},
      parameter_options(device, dtype));
}

template <class Norm, const ChannelNorm::Kind& Kind>
ModulePtr make_channel_norm(std::int64_t features, double eps, double momentum, bool affine,
                            bool track_running_stats, std::optional<Device> device,
                            std::optional<DType> dtype) {
  return std::make_shared<Norm>(Kind, features,
                                BatchNormOptions{eps, momentum, affine, track_running_stats},
                                parameter_options(device, dtype));
}

ModulePtr make_layer_norm(const Shape& normalized_shape, double eps, bool elementwise_affine,
                          bool bias, std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<LayerNorm>(normalized_shape,
                                     LayerNormOptions{eps, elementwise_affine, bias},
                                     parameter_options(device, dtype));
}

ModulePtr make_group_norm(std::int64_t num_groups, std::int64_t num_channels, double eps,
                          bool affine, std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<GroupNorm>(num_groups, num_channels, eps, affine,
                                     parameter_options(device, dtype));
}

ModulePtr make_rms_norm(const Shape& normalized_shape, std::optional<double> eps,
                        bool elementwise_affine, std::optional<Device> device,
                        std::optional<DType> dtype) {
  return std::make_shared<RmsNorm>(normalized_shape, eps, elementwise_affine,
                                   parameter_options(device, dtype));
}

ModulePtr make_prelu(std::int64_t num_parameters, double init, std::optional<Device> device,
                     std::optional<DType> dtype) {
  return std::make_shared<PRelu>(num_parameters, init, parameter_options(device, dtype));
}

ModulePtr make_rrelu(double lower, double upper) { return std::make_shared<RRelu>(lower, upper); }

ModulePtr make_multihead_attention(std::int64_t embed_dim, std::int64_t num_heads, double dropout,
                                   bool bias, bool add_bias_kv, bool add_zero_attn,
                                   std::optional<std::int64_t> kdim,
                                   std::optional<std::int64_t> vdim, bool batch_first,
                                   std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<MultiheadAttention>(
      embed_dim, num_heads,
      MultiheadAttentionOptions{dropout, bias, batch_first, kdim, vdim, add_bias_kv, add_zero_attn},
      parameter_options(device, dtype));
}

template <class Layer>
ModulePtr make_transformer_layer(std::int64_t d_model, std::int64_t nhead,
                                 std::int64_t dim_feedforward, double dropout,
                                 const std::string& activation, double layer_norm_eps,
                                 bool batch_first, bool norm_first, bool bias,
                                 std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<Layer>(
      TransformerLayerOptions{d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                              batch_first, norm_first, bias},
      parameter_options(device, dtype));
}

ModulePtr make_transformer(std::int64_t d_model, std::int64_t nhead,
                           std::int64_t num_encoder_layers, std::int64_t num_decoder_layers,
                           std::int64_t dim_feedforward, double dropout,
                           const std::string& activation, double layer_norm_eps, bool batch_first,
                           bool norm_first, bool bias, std::optional<Device> device,
                           std::optional<DType> dtype) {
  return std::make_shared<Transformer>(
      TransformerLayerOptions{d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
                              batch_first, norm_first, bias},
      num_encoder_layers, num_decoder_layers, parameter_options(device, dtype));
}

ModulePtr make_recurrent(Recurrent::Kind kind, std::int64_t input_size, std::int64_t hidden_size,
                         const RecurrentOptions& options, std::optional<Device> device,
                         std::optional<DType> dtype) {
  return std::make_shared<Recurrent>(kind, input_size, hidden_size, options,
                                     parameter_options(device, dtype));
}

ModulePtr make_rnn(std::int64_t input_size, std::int64_t hidden_size, std::int64_t num_layers,
                   const std::string& nonlinearity, bool bias, bool batch_first, double dropout,
                   bool bidirectional, std::optional<Device> device, std::optional<DType> dtype) {
  if (nonlinearity != "tanh" && nonlinearity != "relu") {
    throw std::invalid_argument(
        fmt::format("[RNN] nonlinearity must be tanh or relu, not {}", nonlinearity));
  }
  return make_recurrent(nonlinearity == "tanh" ? Recurrent::Kind::tanh : Recurrent::Kind::relu,
                        input_size, hidden_size,
                        {num_layers, bias, batch_first, dropout, bidirectional}, device, dtype);
}

ModulePtr make_gru(std::int64_t input_size, std::int64_t hidden_size, std::int64_t num_layers,
                   bool bias, bool batch_first, double dropout, bool bidirectional,
                   std::optional<Device> device, std::optional<DType> dtype) {
  return make_recurrent(Recurrent::Kind::gru, input_size, hidden_size,
                        {num_layers, bias, batch_first, dropout, bidirectional}, device, dtype);
}

ModulePtr make_lstm(std::int64_t input_size, std::int64_t hidden_size, std::int64_t num_layers,
                    bool bias, bool batch_first, double dropout, bool bidirectional,
                    std::int64_t proj_size, std::optional<Device> device,
                    std::optional<DType> dtype) {
  return make_recurrent(Recurrent::Kind::lstm, input_size, hidden_size,
                        {num_layers, bias, batch_first, dropout, bidirectional, proj_size}, device,
                        dtype);
}

template <Recurrent::Kind K>
ModulePtr make_gated_cell(std::int64_t input_size, std::int64_t hidden_size, bool bias,
                          std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<RecurrentCell>(K, input_size, hidden_size, bias,
                                         parameter_options(device, dtype));
}

ModulePtr make_rnn_cell(std::int64_t input_size, std::int64_t hidden_size, bool bias,
                        const std::string& nonlinearity, std::optional<Device> device,
                        std::optional<DType> dtype) {
  if (nonlinearity != "tanh" && nonlinearity != "relu") {
    throw std::invalid_argument(
        fmt::format("[RNNCell] nonlinearity must be tanh or relu, not {}", nonlinearity));
  }
  const bool is_tanh = nonlinearity == "tanh";
  return std::make_shared<RecurrentCell>(is_tanh ? Recurrent::Kind::tanh : Recurrent::Kind::relu,
                                         input_size, hidden_size, bias,
                                         parameter_options(device, dtype));
}

template <const DropoutKind& Kind>
ModulePtr make_dropout(double p, bool inplace) {
  return std::make_shared<Dropout>(Kind, p, inplace);
}

ModulePtr make_embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                         std::optional<std::int64_t> padding_idx, std::optional<double> max_norm,
                         double norm_type, std::optional<Device> device,
                         std::optional<DType> dtype) {
  std::optional<ops::RowBound> bound;
  if (max_norm) bound = ops::RowBound{*max_norm, norm_type};
  return std::make_shared<Embedding>(num_embeddings, embedding_dim, padding_idx, bound,
                                     parameter_options(device, dtype));
}

ModulePtr make_embedding_bag(std::int64_t num_embeddings, std::int64_t embedding_dim,
                             const std::string& mode, bool include_last_offset,
                             std::optional<std::int64_t> padding_idx, std::optional<Device> device,
                             std::optional<DType> dtype) {
  return std::make_shared<EmbeddingBag>(num_embeddings, embedding_dim,
                                        EmbeddingBagOptions{mode, include_last_offset, padding_idx},
                                        parameter_options(device, dtype));
}

ModulePtr make_identity() {
  return std::make_shared<FunctionModule>("Identity", [](const Tensor& input) { return input; });
}

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

ModuleDef max_unpool_of(std::string_view name, std::string_view op_name) {
  const ops::OpDef& op = op_called(op_name);
  return {name,
          {op.params.begin() + 2, op.params.end() - 1},
          [name, &op](std::span<const Value> values) -> ModulePtr {
            return std::make_shared<MaxUnpool>(name, op,
                                               std::vector<Value>(values.begin(), values.end()));
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

std::vector<ParamName> behind(ParamName first, std::vector<ParamName> names) {
  names.insert(names.begin(), std::move(first));
  return names;
}

std::vector<ModuleDef> linear_modules() {
  const std::vector<ParamName> conv_names = behind("in_channels", conv_options());
  const std::vector<ParamName> transpose_names = behind("in_channels", conv_transpose_options());
  return {
      define("Linear", &make_linear,
             {"in_features", "out_features", {"bias", true}, "device", "dtype"}),
      define("Bilinear", &make_bilinear,
             {"in1_features", "in2_features", "out_features", {"bias", true}, "device", "dtype"}),
      define("Conv1d", &make_conv<Conv::k1d>, conv_names),
      define("Conv2d", &make_conv<Conv::k2d>, conv_names),
      define("Conv3d", &make_conv<Conv::k3d>, conv_names),
      define("ConvTranspose1d", &make_conv_transpose<ConvTranspose::k1d>, transpose_names),
      define("ConvTranspose2d", &make_conv_transpose<ConvTranspose::k2d>, transpose_names),
      define("ConvTranspose3d", &make_conv_transpose<ConvTranspose::k3d>, transpose_names),
  };
}

std::vector<ModuleDef> norm_modules() {
  const std::vector<ParamName> batch_norm_names = {"num_features",
                                                   {"eps", 1e-5},
                                                   {"momentum", 0.1},
                                                   {"affine", true},
                                                   {"track_running_stats", true},
                                                   "device",
                                                   "dtype"};
  std::vector<ParamName> instance_norm_names = batch_norm_names;
  instance_norm_names[3] = {"affine", false};
  instance_norm_names[4] = {"track_running_stats", false};
  return {
      define("BatchNorm1d", &make_channel_norm<BatchNorm, BatchNorm::k1d>, batch_norm_names),
      define("BatchNorm2d", &make_channel_norm<BatchNorm, BatchNorm::k2d>, batch_norm_names),
      define("BatchNorm3d", &make_channel_norm<BatchNorm, BatchNorm::k3d>, batch_norm_names),
      define("GroupNorm", &make_group_norm,
             {"num_groups", "num_channels", {"eps", 1e-5}, {"affine", true}, "device", "dtype"}),
      define("InstanceNorm1d", &make_channel_norm<InstanceNorm, InstanceNorm::k1d>,
             instance_norm_names),
      define("InstanceNorm2d", &make_channel_norm<InstanceNorm, InstanceNorm::k2d>,
             instance_norm_names),
      define("InstanceNorm3d", &make_channel_norm<InstanceNorm, InstanceNorm::k3d>,
             instance_norm_names),
      define("RMSNorm", &make_rms_norm,
             {"normalized_shape", "eps", {"elementwise_affine", true}, "device", "dtype"}),
      define("LayerNorm", &make_layer_norm,
             {"normalized_shape",
              {"eps", 1e-5},
              {"elementwise_affine", true},
              {"bias", true},
              "device",
              "dtype"}),
  };
}

std::vector<ModuleDef> transformer_modules() {
  const std::vector<ParamName> layer = {"d_model",
                                        "nhead",
                                        {"dim_feedforward", std::int64_t{2048}},
                                        {"dropout", 0.1},
                                        {"activation", std::string("relu")},
                                        {"layer_norm_eps", 1e-5},
                                        {"batch_first", false},
                                        {"norm_first", false},
                                        {"bias", true},
                                        "device",
                                        "dtype"};
  std::vector<ParamName> whole = layer;
  whole[0] = {"d_model", std::int64_t{512}};
  whole[1] = {"nhead", std::int64_t{8}};
  whole.insert(whole.begin() + 2,
               {{"num_encoder_layers", std::int64_t{6}}, {"num_decoder_layers", std::int64_t{6}}});
  return {
      define("MultiheadAttention", &make_multihead_attention,
             {"embed_dim",
              "num_heads",
              {"dropout", 0.0},
              {"bias", true},
              {"add_bias_kv", false},
              {"add_zero_attn", false},
              "kdim",
              "vdim",
              {"batch_first", false},
              "device",
              "dtype"}),
      define("Transformer", &make_transformer, whole),
      define("TransformerEncoderLayer", &make_transformer_layer<TransformerEncoderLayer>, layer),
      define("TransformerDecoderLayer", &make_transformer_layer<TransformerDecoderLayer>, layer),
  };
}

std::vector<ModuleDef> recurrent_modules() {
  const std::vector<ParamName> gated_names = {"input_size",
                                              "hidden_size",
                                              {"num_layers", std::int64_t{1}},
                                              {"bias", true},
                                              {"batch_first", false},
                                              {"dropout", 0.0},
                                              {"bidirectional", false},
                                              "device",
                                              "dtype"};
  std::vector<ParamName> rnn_names = gated_names;
  rnn_names.insert(rnn_names.begin() + 3, ParamName{"nonlinearity", std::string("tanh")});
  std::vector<ParamName> lstm_names = gated_names;
  lstm_names.insert(lstm_names.begin() + 7, ParamName{"proj_size", std::int64_t{0}});
  return {
      define("RNN", &make_rnn, rnn_names),
      define("GRU", &make_gru, gated_names),
      define("LSTM", &make_lstm, lstm_names),
      define("RNNCell", &make_rnn_cell,
             {"input_size",
              "hidden_size",
              {"bias", true},
              {"nonlinearity", std::string("tanh")},
              "device",
              "dtype"}),
      define("GRUCell", &make_gated_cell<Recurrent::Kind::gru>,
             {"input_size", "hidden_size", {"bias", true}, "device", "dtype"}),
      define("LSTMCell", &make_gated_cell<Recurrent::Kind::lstm>,
             {"input_size", "hidden_size", {"bias", true}, "device", "dtype"}),
  };
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

std::vector<ModuleDef> pooling_modules() {
  return {
      max_pool_of("MaxPool1d", "max_pool1d"),
      module_of("AvgPool1d", "avg_pool1d"),
      module_of("AdaptiveAvgPool1d", "adaptive_avg_pool1d"),
      max_pool_of("MaxPool2d", "max_pool2d"),
      module_of("AvgPool2d", "avg_pool2d"),
      module_of("AdaptiveAvgPool2d", "adaptive_avg_pool2d"),
      module_of("LPPool1d", "lp_pool1d"),
      module_of("LPPool2d", "lp_pool2d"),
      module_of("LPPool3d", "lp_pool3d"),
      max_pool_of("MaxPool3d", "max_pool3d"),
      module_of("AvgPool3d", "avg_pool3d"),
      max_unpool_of("MaxUnpool1d", "max_unpool1d"),
      max_unpool_of("MaxUnpool2d", "max_unpool2d"),
      max_unpool_of("MaxUnpool3d", "max_unpool3d"),
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

std::vector<ModuleDef> table_modules() {
  return {
      define("Dropout", &make_dropout<kElementDropout>, {{"p", 0.5}, {"inplace", false}}),
      define("AlphaDropout", &make_dropout<kAlphaDropout>, {{"p", 0.5}, {"inplace", false}}),
      define("Dropout1d", &make_dropout<kLineDropout>, {{"p", 0.5}, {"inplace", false}}),
      define("Dropout2d", &make_dropout<kChannelDropout>, {{"p", 0.5}, {"inplace", false}}),
      define("Dropout3d", &make_dropout<kVolumeDropout>, {{"p", 0.5}, {"inplace", false}}),
      define("Embedding", &make_embedding,
             {"num_embeddings",
              "embedding_dim",
              "padding_idx",
              "max_norm",
              {"norm_type", 2.0},
              "device",
              "dtype"}),
      define("EmbeddingBag", &make_embedding_bag,
             {"num_embeddings",
              "embedding_dim",
              {"mode", std::string("mean")},
              {"include_last_offset", false},
              "padding_idx",
              "device",
              "dtype"}),
      define("Identity", &make_identity, {}),
  };
}

std::vector<ModuleDef> activation_modules() {
  return {
      module_of("ReLU", "relu"),
      define("PReLU", &make_prelu,
             {{"num_parameters", std::int64_t{1}}, {"init", 0.25}, "device", "dtype"}),
      define("RReLU", &make_rrelu, {{"lower", 0.125}, {"upper", 1.0 / 3.0}}),
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

using Group = std::vector<ModuleDef> (*)();

// In the order in which listings show them.
constexpr Group kGroups[] = {
    &linear_modules,  &norm_modules,  &transformer_modules, &recurrent_modules, &pooling_modules,
    &padding_modules, &table_modules, &activation_modules,  &loss_modules,      &lazy_modules};

}  // namespace

const std::vector<ModuleDef>& all_modules() {
  static const std::vector<ModuleDef> modules = [] {
    std::vector<ModuleDef> all;
    for (const Group group : kGroups) {
      std::vector<ModuleDef> rows = group();
      all.insert(all.end(), std::make_move_iterator(rows.begin()),
                 std::make_move_iterator(rows.end()));
    }
    return all;
  }();
  return modules;
}

}  // namespace ohm::nn

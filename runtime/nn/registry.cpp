#include "runtime/nn/registry.h"

#include <fmt/core.h>

#include <iterator>
#include <stdexcept>

#include "runtime/nn/attention.h"
#include "runtime/nn/conv.h"
#include "runtime/nn/conv_options.h"
#include "runtime/nn/dropout.h"
#include "runtime/nn/embedding.h"
#include "runtime/nn/group_normalization.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/normalization.h"
#include "runtime/nn/op_modules.h"
#include "runtime/nn/recurrent.h"
#include "runtime/nn/sequential.h"
#include "runtime/nn/transformer.h"
#include "runtime/nn/transformer_decoder.h"
#include "runtime/nn/transformer_model.h"

namespace ohm::nn {
namespace {

using ops::ParamName;

ModulePtr make_linear(std::int64_t in_features, std::int64_t out_features, bool bias,
                      std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<Linear>(in_features, out_features, bias,
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

using Group = std::vector<ModuleDef> (*)();

// In the order in which listings show them.
constexpr Group kGroups[] = {&linear_modules,    &norm_modules,       &transformer_modules,
                             &recurrent_modules, &pooling_modules,    &padding_modules,
                             &table_modules,     &activation_modules, &loss_modules};

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

#include "tests/support/op_samples.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"

namespace ohm::test {
namespace {

using Family = std::vector<OpSamples> (*)();

constexpr Family kFamilies[] = {
    &samples_of_activation,
    &samples_of_arithmetic,
    &samples_of_choice,
    &samples_of_clamp,
    &samples_of_lerp,
    &samples_of_pair_functions,
    &samples_of_piecewise,
    &samples_of_pointwise_math,
    &samples_of_pointwise_unary,
    &samples_of_power,
    &samples_of_special,
    &samples_of_trigonometry,
    &samples_of_alias,
    &samples_of_columns,
    &samples_of_concat,
    &samples_of_convert,
    &samples_of_diagonals,
    &samples_of_rearrange,
    &samples_of_restrided,
    &samples_of_sections,
    &samples_of_slice,
    &samples_of_stacking,
    &samples_of_view,
    &samples_of_windows,
    &samples_of_embedding,
    &samples_of_embedding_bag,
    &samples_of_index,
    &samples_of_index_put,
    &samples_of_index_reduce,
    &samples_of_index_writes,
    &samples_of_indexing,
    &samples_of_parameter_vector,
    &samples_of_scatter,
    &samples_of_scatter_reduce,
    &samples_of_selection,
    &samples_of_extremum,
    &samples_of_nan_reduction,
    &samples_of_norm,
    &samples_of_order_statistics,
    &samples_of_product,
    &samples_of_reduction,
    &samples_of_row_distance,
    &samples_of_running_extremum,
    &samples_of_scan,
    &samples_of_softmax,
    &samples_of_sorting,
    &samples_of_variance,
    &samples_of_added_products,
    &samples_of_attention,
    &samples_of_contraction,
    &samples_of_einsum,
    &samples_of_linear,
    &samples_of_matmul,
    &samples_of_recurrent_cell,
    &samples_of_vector_product,
    &samples_of_loss_bce,
    &samples_of_loss_composed,
    &samples_of_loss_cross_entropy,
    &samples_of_loss_ctc,
    &samples_of_loss_distance,
    &samples_of_loss_divergence,
    &samples_of_loss_margin,
    &samples_of_loss_multi_margin,
    &samples_of_loss_multilabel,
    &samples_of_loss_nll,
    &samples_of_loss_soft_margin,
    &samples_of_adaptive_max_pool,
    &samples_of_average_pool,
    &samples_of_average_pool_volumes,
    &samples_of_conv,
    &samples_of_conv_transpose,
    &samples_of_max_pool,
    &samples_of_max_pool_volumes,
    &samples_of_sequence,
    &samples_of_batch_norm,
    &samples_of_composed,
    &samples_of_dropout,
    &samples_of_grid_sample,
    &samples_of_group_norm,
    &samples_of_image_composition,
    &samples_of_interpolate,
    &samples_of_layer_norm,
    &samples_of_rms_norm,
    &samples_of_weight_norm,
};

using Maker = std::function<std::vector<Sample>()>;

const Maker* maker_of(const ops::OpDef& op) {
  static const std::unordered_map<std::string_view, Maker> makers = [] {
    std::unordered_map<std::string_view, Maker> all;
    for (const Family family : kFamilies) {
      for (OpSamples& row : family()) all.emplace(row.op, std::move(row.make));
    }
    return all;
  }();
  const auto found = makers.find(op.info.name);
  return found == makers.end() ? nullptr : &found->second;
}

Tensor moved(const Tensor& tensor, DType dtype, Device device) {
  const DType target = is_floating(tensor.dtype()) ? dtype : tensor.dtype();
  Tensor copy = empty(tensor.shape(), {target, device});
  copy_into(copy, tensor);
  return copy;
}

}  // namespace

bool has_samples(const ops::OpDef& op) { return maker_of(op) != nullptr; }

std::vector<std::string> ops_with_samples() {
  std::vector<std::string> names;
  for (const ops::OpDef& op : ops::all_ops()) {
    if (has_samples(op)) names.emplace_back(op.info.name);
  }
  return names;
}

std::vector<Sample> samples_of(const ops::OpDef& op) {
  const Maker* const maker = maker_of(op);
  return maker == nullptr ? std::vector<Sample>{} : (*maker)();
}

ops::Value call_op(const ops::OpDef& op, const Sample& given) {
  Sample values = given;
  for (std::size_t i = values.size(); i < op.params.size(); ++i) {
    values.push_back(op.params[i].fallback);
  }
  return op.call(values);
}

Sample converted(const Sample& sample, DType dtype, Device device) {
  Sample result = sample;
  for (ops::Value& value : result) {
    if (Tensor* tensor = std::get_if<Tensor>(&value)) *tensor = moved(*tensor, dtype, device);
    if (auto* list = std::get_if<std::vector<Tensor>>(&value)) {
      for (Tensor& tensor : *list) tensor = moved(tensor, dtype, device);
    }
  }
  return result;
}

std::vector<Tensor> tensors_in(const ops::Value& value) {
  if (const Tensor* tensor = std::get_if<Tensor>(&value)) return {*tensor};
  if (const auto* list = std::get_if<std::vector<Tensor>>(&value)) return *list;
  return {};
}

std::vector<std::size_t> differentiable(const ops::OpDef& op, const Sample& sample) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const std::vector<Tensor> tensors = tensors_in(sample[i]);
    const bool has_gradients =
        !tensors.empty() && std::all_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
          return is_differentiable(tensor.dtype());
        });
    if (has_gradients && !op.params[i].is_constant) positions.push_back(i);
  }
  return positions;
}

void require_gradients(const ops::OpDef& op, const Sample& sample) {
  for (const std::size_t position : differentiable(op, sample)) {
    for (const Tensor& tensor : tensors_in(sample[position])) tensor.set_requires_grad(true);
  }
}

}  // namespace ohm::test

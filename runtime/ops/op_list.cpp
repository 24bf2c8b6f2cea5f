#include "runtime/ops/op_list.h"

#include <iterator>
#include <unordered_map>

#include "runtime/ops/activation/activation.h"
#include "runtime/ops/activation/piecewise.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/attention/attention.h"
#include "runtime/ops/composed.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/convolution/columns.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/convolution/conv_transpose.h"
#include "runtime/ops/convolution/sequence.h"
#include "runtime/ops/embedding/embedding.h"
#include "runtime/ops/embedding/embedding_bag.h"
#include "runtime/ops/image/grid_sample.h"
#include "runtime/ops/image/image_composition.h"
#include "runtime/ops/image/interpolate.h"
#include "runtime/ops/indexing/index.h"
#include "runtime/ops/indexing/index_put.h"
#include "runtime/ops/indexing/index_reduce.h"
#include "runtime/ops/indexing/index_writes.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/indexing/nonzero.h"
#include "runtime/ops/indexing/scatter.h"
#include "runtime/ops/indexing/scatter_reduce.h"
#include "runtime/ops/indexing/selection.h"
#include "runtime/ops/loss/loss_bce.h"
#include "runtime/ops/loss/loss_composed.h"
#include "runtime/ops/loss/loss_cross_entropy.h"
#include "runtime/ops/loss/loss_ctc.h"
#include "runtime/ops/loss/loss_distance.h"
#include "runtime/ops/loss/loss_divergence.h"
#include "runtime/ops/loss/loss_margin.h"
#include "runtime/ops/loss/loss_multi_margin.h"
#include "runtime/ops/loss/loss_multilabel.h"
#include "runtime/ops/loss/loss_nll.h"
#include "runtime/ops/loss/loss_soft_margin.h"
#include "runtime/ops/matmul/added_products.h"
#include "runtime/ops/matmul/contraction.h"
#include "runtime/ops/matmul/einsum.h"
#include "runtime/ops/matmul/linear.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/matmul/vector_product.h"
#include "runtime/ops/normalization/batch_norm.h"
#include "runtime/ops/normalization/group_norm.h"
#include "runtime/ops/normalization/layer_norm.h"
#include "runtime/ops/normalization/rms_norm.h"
#include "runtime/ops/normalization/weight_norm.h"
#include "runtime/ops/parameters/clip_grad.h"
#include "runtime/ops/parameters/parameter_vector.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/closeness.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/inplace_unary.h"
#include "runtime/ops/pointwise/lerp.h"
#include "runtime/ops/pointwise/overwritten.h"
#include "runtime/ops/pointwise/pair_functions.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/pointwise/special.h"
#include "runtime/ops/pointwise/trigonometry.h"
#include "runtime/ops/pointwise/whole_numbers.h"
#include "runtime/ops/pooling/adaptive_max_pool.h"
#include "runtime/ops/pooling/average_pool.h"
#include "runtime/ops/pooling/average_pool_volumes.h"
#include "runtime/ops/pooling/max_pool.h"
#include "runtime/ops/pooling/max_pool_volumes.h"
#include "runtime/ops/random/dropout.h"
#include "runtime/ops/random/sampling.h"
#include "runtime/ops/recurrent/recurrent_cell.h"
#include "runtime/ops/reduction/counting.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/reduction/nan_reduction.h"
#include "runtime/ops/reduction/norm.h"
#include "runtime/ops/reduction/product.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/reduction/row_distance.h"
#include "runtime/ops/reduction/running_extremum.h"
#include "runtime/ops/reduction/scan.h"
#include "runtime/ops/reduction/variance.h"
#include "runtime/ops/shape/alias.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/diagonals.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/shape/restrided.h"
#include "runtime/ops/shape/sections.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/stacking.h"
#include "runtime/ops/shape/view.h"
#include "runtime/ops/shape/windows.h"
#include "runtime/ops/sorting/order_statistics.h"
#include "runtime/ops/sorting/searching.h"
#include "runtime/ops/sorting/sorting.h"
#include "runtime/ops/sorting/unique.h"
#include "runtime/ops/synonyms.h"

namespace ohm::ops {
namespace {

using Family = std::vector<OpDef> (*)();

// The families, in the order in which listings show them.
constexpr Family kFamilies[] = {
    &convert_ops,
    &view_ops,
    &slice_ops,
    &concat_ops,
    &alias_ops,
    &rearrange_ops,
    &scan_ops,
    &indexing_ops,
    &index_ops,
    &scatter_ops,
    &arithmetic_ops,
    &choice_ops,
    &inplace_ops,
    &inplace_unary_ops,
    &negation_ops,
    &unary_ops,
    &power_ops,
    &clamp_ops,
    &math_ops,
    &trigonometry_ops,
    &lerp_ops,
    &comparison_ops,
    &whole_number_ops,
    &reduction_ops,
    &extremum_ops,
    &sorting_ops,
    &variance_ops,
    &norm_ops,
    &product_ops,
    &matmul_ops,
    &linear_ops,
    &vector_product_ops,
    &einsum_ops,
    &activation_ops,
    &piecewise_ops,
    &softmax_ops,
    &attention_ops,
    &distance_loss_ops,
    &bce_loss_ops,
    &nll_loss_ops,
    &cross_entropy_ops,
    &divergence_loss_ops,
    &margin_loss_ops,
    &ctc_loss_ops,
    &conv_ops,
    &conv_transpose_ops,
    &max_pool_ops,
    &average_pool_ops,
    &max_pool_volume_ops,
    &average_pool_volume_ops,
    &sequence_ops,
    &interpolate_ops,
    &batch_norm_ops,
    &layer_norm_ops,
    &rms_norm_ops,
    &group_norm_ops,
    &composed_ops,
    &dropout_ops,
    &embedding_ops,
    &embedding_bag_ops,
    &recurrent_ops,
    &clip_grad_ops,
    &parameter_vector_ops,
    &multilabel_ops,
    &sampling_ops,
    &nonzero_ops,
    &selection_ops,
    &window_ops,
    &closeness_ops,
    &column_ops,
    &adaptive_max_ops,
    &grid_ops,
    &soft_margin_ops,
    &multi_margin_ops,
    &composed_loss_ops,
    &image_ops,
    &weight_norm_ops,
    &section_ops,
    &stacking_ops,
    &diagonal_ops,
    &contraction_ops,
    &special_ops,
    &pair_function_ops,
    &running_ops,
    &order_ops,
    &nan_reduction_ops,
    &index_write_ops,
    &scatter_reduce_ops,
    &searching_ops,
    &counting_ops,
    &overwritten_ops,
    &index_put_ops,
    &unique_ops,
    &row_distance_ops,
    &restrided_ops,
    &added_product_ops,
    &index_reduce_ops,
};

}  // namespace

const std::vector<OpDef>& all_ops() {
  static const std::vector<OpDef> ops = [] {
    std::vector<OpDef> all;
    for (const Family family : kFamilies) {
      std::vector<OpDef> rows = family();
      all.insert(all.end(), std::make_move_iterator(rows.begin()),
                 std::make_move_iterator(rows.end()));
    }
    return all;
  }();
  return ops;
}

const OpDef* find_op(std::string_view name) {
  static const std::unordered_map<std::string_view, const OpDef*> by_name = [] {
    std::unordered_map<std::string_view, const OpDef*> index;
    for (const OpDef& op : all_ops()) index.emplace(op.info.name, &op);
    for (const Synonym& synonym : kSynonyms) index.emplace(synonym.name, index.at(synonym.of));
    return index;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace ohm::ops

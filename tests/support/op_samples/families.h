// The samples by file of ops: op_samples.h has all of them.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "runtime/ops/value.h"

namespace ohm::test {

/// Arguments to call an op with.
using Sample = std::vector<ops::Value>;

/// Float64 inputs on the host, away from kinks, for the finite-difference check: every floating
/// tensor among them but the constants is checked. The tensors are made for the current context.
struct OpSamples {
  std::string_view op;
  std::function<std::vector<Sample>()> make;
};

std::vector<OpSamples> samples_of_activation();
std::vector<OpSamples> samples_of_arithmetic();
std::vector<OpSamples> samples_of_choice();
std::vector<OpSamples> samples_of_clamp();
std::vector<OpSamples> samples_of_lerp();
std::vector<OpSamples> samples_of_pair_functions();
std::vector<OpSamples> samples_of_piecewise();
std::vector<OpSamples> samples_of_pointwise_math();
std::vector<OpSamples> samples_of_pointwise_unary();
std::vector<OpSamples> samples_of_power();
std::vector<OpSamples> samples_of_special();
std::vector<OpSamples> samples_of_trigonometry();
std::vector<OpSamples> samples_of_alias();
std::vector<OpSamples> samples_of_columns();
std::vector<OpSamples> samples_of_concat();
std::vector<OpSamples> samples_of_convert();
std::vector<OpSamples> samples_of_diagonals();
std::vector<OpSamples> samples_of_rearrange();
std::vector<OpSamples> samples_of_restrided();
std::vector<OpSamples> samples_of_sections();
std::vector<OpSamples> samples_of_slice();
std::vector<OpSamples> samples_of_stacking();
std::vector<OpSamples> samples_of_view();
std::vector<OpSamples> samples_of_windows();
std::vector<OpSamples> samples_of_embedding();
std::vector<OpSamples> samples_of_embedding_bag();
std::vector<OpSamples> samples_of_index();
std::vector<OpSamples> samples_of_index_put();
std::vector<OpSamples> samples_of_index_reduce();
std::vector<OpSamples> samples_of_index_writes();
std::vector<OpSamples> samples_of_indexing();
std::vector<OpSamples> samples_of_parameter_vector();
std::vector<OpSamples> samples_of_scatter();
std::vector<OpSamples> samples_of_scatter_reduce();
std::vector<OpSamples> samples_of_selection();
std::vector<OpSamples> samples_of_extremum();
std::vector<OpSamples> samples_of_nan_reduction();
std::vector<OpSamples> samples_of_norm();
std::vector<OpSamples> samples_of_order_statistics();
std::vector<OpSamples> samples_of_product();
std::vector<OpSamples> samples_of_reduction();
std::vector<OpSamples> samples_of_row_distance();
std::vector<OpSamples> samples_of_running_extremum();
std::vector<OpSamples> samples_of_scan();
std::vector<OpSamples> samples_of_softmax();
std::vector<OpSamples> samples_of_sorting();
std::vector<OpSamples> samples_of_variance();
std::vector<OpSamples> samples_of_added_products();
std::vector<OpSamples> samples_of_attention();
std::vector<OpSamples> samples_of_contraction();
std::vector<OpSamples> samples_of_einsum();
std::vector<OpSamples> samples_of_linear();
std::vector<OpSamples> samples_of_matmul();
std::vector<OpSamples> samples_of_recurrent_cell();
std::vector<OpSamples> samples_of_vector_product();
std::vector<OpSamples> samples_of_loss_bce();
std::vector<OpSamples> samples_of_loss_composed();
std::vector<OpSamples> samples_of_loss_cross_entropy();
std::vector<OpSamples> samples_of_loss_ctc();
std::vector<OpSamples> samples_of_loss_distance();
std::vector<OpSamples> samples_of_loss_divergence();
std::vector<OpSamples> samples_of_loss_margin();
std::vector<OpSamples> samples_of_loss_multi_margin();
std::vector<OpSamples> samples_of_loss_multilabel();
std::vector<OpSamples> samples_of_loss_nll();
std::vector<OpSamples> samples_of_loss_soft_margin();
std::vector<OpSamples> samples_of_adaptive_max_pool();
std::vector<OpSamples> samples_of_average_pool();
std::vector<OpSamples> samples_of_average_pool_volumes();
std::vector<OpSamples> samples_of_conv();
std::vector<OpSamples> samples_of_conv_transpose();
std::vector<OpSamples> samples_of_max_pool();
std::vector<OpSamples> samples_of_max_pool_volumes();
std::vector<OpSamples> samples_of_sequence();
std::vector<OpSamples> samples_of_batch_norm();
std::vector<OpSamples> samples_of_composed();
std::vector<OpSamples> samples_of_dropout();
std::vector<OpSamples> samples_of_grid_sample();
std::vector<OpSamples> samples_of_group_norm();
std::vector<OpSamples> samples_of_image_composition();
std::vector<OpSamples> samples_of_interpolate();
std::vector<OpSamples> samples_of_layer_norm();
std::vector<OpSamples> samples_of_rms_norm();
std::vector<OpSamples> samples_of_weight_norm();

}  // namespace ohm::test

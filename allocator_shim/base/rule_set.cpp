#include "allocator_shim/base/rule_set.h"

#include <fmt/format.h>

#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocator_shim/base/nearest_name.h"

namespace ohm {
namespace {

constexpr std::string_view kSettingsPage =
    "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables";
constexpr std::string_view kLaterSettingsPage =
    "https://docs.pytorch.org/docs/stable/notes/"
    "cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf";

// From the oldest version on.
constexpr RuleSet kRuleSets[] = {
    {
        .name = "pytorch-2.6",
        .settings_variable = "PYTORCH_CUDA_ALLOC_CONF",
        .settings_page = kSettingsPage,
    },
    {
        .name = "pytorch-2.10",
        .fraction_of_one_is_no_limit = true,
        .greater_than_overwrites_last_entry = false,
        .smallest_size_setting_mb = 20,
        .settings_variable = "PYTORCH_ALLOC_CONF",
        .settings_page = kSettingsPage,
        .workspaces = WorkspaceLife::both_handles,
        .line_searches_count_evaluations = true,
    },
    {
        .name = "pytorch-2.11",
        .fraction_of_one_is_no_limit = true,
        .greater_than_overwrites_last_entry = false,
        .smallest_size_setting_mb = 20,
        .settings_variable = "PYTORCH_CUDA_ALLOC_CONF",
        .settings_page = kLaterSettingsPage,
        .has_later_settings = true,
        .has_later_snapshot_keys = true,
        .workspaces = WorkspaceLife::both_handles,
        .has_later_flash_attention = true,
        .prefers_cudnn_attention = true,
        .sorts_as_cuda_13 = true,
        .instance_norm_reads_statistics = true,
        .has_fused_rms_norm = true,
        .addmm_fuses_rows = true,
        .angles_are_flat_at_origin = true,
        .pads_to_nothing = true,
        .cosine_similarity_holds_number = true,
        .skips_full_slices = true,
        .einsum_orders_operands = true,
        .full_contractions_are_dots = true,
        .ctc_looks_at_contiguous_targets = true,
        .take_along_dim_wraps_indices = true,
        .kept_casts_have_graphs = true,
        .weight_norm_fuses_float16 = true,
        .cudnn_recurs_in_bfloat16 = true,
        .line_searches_count_evaluations = true,
        .saving_drops_storages = true,
        .collectives_hold_tensors = true,
    },
    {
        .name = "pytorch-2.15",
        .fraction_of_one_is_no_limit = true,
        .greater_than_overwrites_last_entry = false,
        .smallest_size_setting_mb = 20,
        .settings_variable = "PYTORCH_CUDA_ALLOC_CONF",
        .settings_page = kLaterSettingsPage,
        .advises_on_reserved_addresses = true,
        .has_later_private_pools = true,
        .orders_blocks_by_segment = true,
        .has_later_settings = true,
        .has_later_snapshot_keys = true,
        .workspaces = WorkspaceLife::call,
        .has_workspace_switch = true,
        .has_later_flash_attention = true,
        .has_later_efficient_attention = true,
        .attention_of_three_dims_is_a_batch = true,
        .prefers_cudnn_attention = true,
        .cudnn_attention_is_narrower = true,
        .graphs_drop_last_saved_first = true,
        .written_graphs_go_edge_by_edge = false,
        .python_owns_its_nodes = true,
        .sorts_as_cuda_13 = true,
        .has_later_embedding_gradient = true,
        .list_norms_count_chunks = true,
        .group_norm_keeps_layouts = true,
        .instance_norm_reads_statistics = true,
        .distinct_indices_are_one_line = true,
        .has_fused_rms_norm = true,
        .autocast_widens_rms_norm = true,
        .group_norm_adds_statistics_gradients = true,
        .batch_norm_inverts_deviation_first = true,
        .chosen_gradients_make_masks_first = true,
        .chosen_numbers_share_gradients = true,
        .thin_batches_are_elementwise = true,
        .matmul_skips_dims_of_one = true,
        .addmm_fuses_rows = true,
        .addmm_fuses_half_matrices = true,
        .angles_are_flat_at_origin = true,
        .pads_to_nothing = true,
        .cosine_similarity_holds_number = true,
        .numbers_fill_indices = true,
        .skips_full_slices = true,
        .einsum_orders_operands = true,
        .looks_for_both_extrema = true,
        .quantiles_rank_in_double = true,
        .full_contractions_are_dots = true,
        .linear_results_are_no_views = true,
        .clamp_is_flat_at_bounds = true,
        .ctc_looks_at_contiguous_targets = true,
        .attention_drops_projections_early = true,
        .take_along_dim_wraps_indices = true,
        .pool_indices_read_images_as_they_lie = true,
        .trace_gradients_stop_at_corner = true,
        .kept_casts_have_graphs = true,
        .weight_norm_fuses_float16 = true,
        .cudnn_recurs_in_bfloat16 = true,
        .muon_copies_bfloat16 = true,
        .line_searches_count_evaluations = true,
        .saving_drops_storages = true,
        .has_later_full_sharding = true,
        .collectives_hold_tensors = true,
        .transfers_hold_tensors = true,
    },
};

}  // namespace

std::span<const RuleSet> rule_sets() { return kRuleSets; }

const RuleSet& default_rule_set() { return *std::prev(std::end(kRuleSets)); }

const RuleSet& find_rule_set(std::string_view name) {
  std::vector<std::string> known;
  for (const RuleSet& rules : kRuleSets) {
    if (rules.name == name) return rules;
    known.emplace_back(rules.name);
  }
  throw std::invalid_argument(
      fmt::format("[allocator] unknown rule set \"{}\"{}", name, did_you_mean(name, known)));
}

const RuleSet& rule_set_or_default(std::string_view name) {
  return name.empty() ? default_rule_set() : find_rule_set(name);
}

}  // namespace ohm

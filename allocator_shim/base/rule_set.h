// Rule sets: the versions of PyTorch that ohm can behave as. A row of differences for each; all
// else is the same in every version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ohm {

/// How long the matrix libraries' workspaces live.
enum class WorkspaceLife : std::uint8_t {
  handle,         ///< cuBLAS's as long as its handle; cuBLASLt's as long as a call
  both_handles,   ///< both as long as their handles
  shared_handle,  ///< cuBLAS's as long as its handle, and cuBLASLt uses that one
  call,           ///< both as long as a call
};

struct RuleSet {
  std::string_view name;

  // ---- the allocator ----
  /// set_per_process_memory_fraction(1.0) removes the limit. Otherwise it is a limit like others:
  /// requests above it never reach the device, and it arms the garbage collection.
  bool fraction_of_one_is_no_limit = false;
  /// `>` in roundup_power2_divisions overwrites the entry that stands before it.
  bool greater_than_overwrites_last_entry = true;
  /// Of max_split_size_mb and max_non_split_rounding_mb.
  std::size_t smallest_size_setting_mb = 21;
  /// Where the out-of-memory message tells the user to put settings.
  std::string_view settings_variable;
  /// Where it says that they are described.
  std::string_view settings_page;
  /// With expandable segments it advises against reserving too many addresses instead.
  bool advises_on_reserved_addresses = false;
  /// The innermost memory pool in use serves requests, and caches are given back while one is; a
  /// graph takes memory for the generator's seed and offset when its capture first draws, for
  /// itself, and no cycles are collected before a capture.
  bool has_later_private_pools = false;
  /// Among free blocks of one size, those of the segment that came first are first; before, those
  /// at the lowest address.
  bool orders_blocks_by_segment = false;
  /// Settings and keys of snapshots that came after 2.6.
  bool has_later_settings = false;
  bool has_later_snapshot_keys = false;

  // ---- the runtime ----
  WorkspaceLife workspaces = WorkspaceLife::handle;
  /// TORCH_CUBLAS_WORKSPACE_CACHE=1 makes workspaces live as long as their handle.
  bool has_workspace_switch = false;
  /// Flash attention keeps the generator's seed and offset on the device, and sums the gradient of
  /// a query of more than 128 columns up in multiples of 64.
  bool has_later_flash_attention = false;
  /// Memory-efficient attention keeps them, too, and reads rows from multiples of 16 bytes alone.
  bool has_later_efficient_attention = false;
  /// Attention of three dimensions is that of a batch of one.
  bool attention_of_three_dims_is_a_batch = false;
  /// On devices of compute capability 9 and 10 half-precision attention is cuDNN's (9.26).
  bool prefers_cudnn_attention = false;
  /// It takes dropout in sixteenths alone, and of heads wider than 128 columns gradients of 256
  /// alone (and of keys of 192 with values of 128).
  bool cudnn_attention_is_narrower = false;
  /// A graph that is let go drops what its last node saved from the last tensor on.
  bool graphs_drop_last_saved_first = false;
  /// The node of copy_, and that of a write to a view, lets its edges go from the first on, where a
  /// graph is let go from it on.
  bool written_graphs_go_edge_by_edge = true;
  /// Nodes in Python are Python's: what they were given goes from the last gradient on, and where a
  /// graph is let go they go as soon as nothing holds them.
  bool python_owns_its_nodes = false;
  /// The scratch of sorts, selections and scans is that of the library of CUDA 13.
  bool sorts_as_cuda_13 = false;
  /// The gradient of an embedding sorts indices by the bits that the table's rows need, and that of
  /// a small one adds pieces of many equal indices up by atomic sums.
  bool has_later_embedding_gradient = false;
  /// Norms of a list of tensors take one partial result for each chunk that there is.
  bool list_norms_count_chunks = false;
  /// GroupNorm is given its input as it lies, keeps channels last, and has statistics of half
  /// precision in float32 while it runs.
  bool group_norm_keeps_layouts = false;
  /// instance_norm in evaluation does not write the running statistics that it uses.
  bool instance_norm_reads_statistics = false;
  /// Distinct indices are found among a copy of all of them in one line, not of each row.
  bool distinct_indices_are_one_line = false;
  /// rms_norm is one kernel on a GPU.
  bool has_fused_rms_norm = false;
  /// Autocast gives rms_norm float32.
  bool autocast_widens_rms_norm = false;
  /// The second gradient of GroupNorm makes no variance that it does not use, and adds what the
  /// gradients of the statistics give to what its kernel gives.
  bool group_norm_adds_statistics_gradients = false;
  /// The second gradient of BatchNorm in evaluation makes the reciprocal deviation at first, in one
  /// tensor.
  bool batch_norm_inverts_deviation_first = false;
  /// The gradients of maximum and minimum make both masks before the result, that of the other
  /// operand first.
  bool chosen_gradients_make_masks_first = false;
  /// Equal operands of fmax and fmin share the gradient.
  bool chosen_numbers_share_gradients = false;
  /// Batched products with an inner size of 1 are products of elements, no call of cuBLAS.
  bool thin_batches_are_elementwise = false;
  /// Matrices whose rows are one matrix are folded for matmul: dimensions of size 1 do not count.
  bool matmul_skips_dims_of_one = false;
  /// addmm adds a row [1, n] as it does a bias [n], in cuBLASLt's product.
  bool addmm_fuses_rows = false;
  /// And a whole matrix in half precision, whatever it weighs.
  bool addmm_fuses_half_matrices = false;
  /// atan2 has no slope at (0, 0), which its gradient looks for with a mask.
  bool angles_are_flat_at_origin = false;
  /// pad may leave no elements where it adds some elsewhere.
  bool pads_to_nothing = false;
  /// cosine_similarity holds one number on the device while it divides.
  bool cosine_similarity_holds_number = false;
  /// What is written at one index tensor is filled in where it is a number: `x[i] = 1.0`.
  bool numbers_fill_indices = false;
  /// A full slice among the indices of a tensor is neither a view nor a node of its own.
  bool skips_full_slices = false;
  /// einsum multiplies a pair of operands in the order in which the result has their dimensions.
  bool einsum_orders_operands = false;
  /// multinomial looks for the largest and smallest weight at first, and copies no weights;
  /// bincount, histc and index_put that adds look for both ends at once.
  bool looks_for_both_extrema = false;
  /// quantile ranks its shares in double, and sorts once that is done.
  bool quantiles_rank_in_double = false;
  /// tensordot of all dimensions is dot where both are row-major, else a sum of products.
  bool full_contractions_are_dots = false;
  /// A linear layer's result of more than two dimensions is not a view of the product: what writes
  /// over it is recorded as of any tensor.
  bool linear_results_are_no_views = false;
  /// The gradient of clamp is 0 where an element equals a bound.
  bool clamp_is_flat_at_bounds = false;
  /// The CTC loss copies targets with gaps twice, one after the other, before it runs.
  bool ctc_looks_at_contiguous_targets = false;
  /// MultiheadAttention lets go of projected queries, keys and values once they are used, not when
  /// it returns.
  bool attention_drops_projections_early = false;
  /// take_along_dim makes indices remainders of the size, in a copy.
  bool take_along_dim_wraps_indices = false;
  /// What gradients gather of an image at the indices of a pool is taken as the image lies; before,
  /// it was laid out as the indices first.
  bool pool_indices_read_images_as_they_lie = false;
  /// The gradient of trace looks for as many places as the diagonal has, not for those that a line
  /// of all elements would have.
  bool trace_gradients_stop_at_corner = false;
  /// What autocast keeps of a parameter is in a graph, though a call under no_grad made it.
  bool kept_casts_have_graphs = false;
  /// Weights of float16 are normalised by one kernel, too.
  bool weight_norm_fuses_float16 = false;
  /// cuDNN's recurrent layers take bfloat16.
  bool cudnn_recurs_in_bfloat16 = false;
  /// Muon copies updates of bfloat16, as those of other dtypes; before, it wrote over them.
  bool muon_copies_bfloat16 = false;
  /// A line search of LBFGS may take what evaluations its step has left, not 25.
  bool line_searches_count_evaluations = false;
  /// torch.save lets go of the storages that it wrote; before, its pickler had them in a cycle.
  bool saving_drops_storages = false;
  /// fully_shard lets go of gathered buffers and gradients as soon as they are copied, reduces
  /// gradients as what the parameters were where nothing else is said, and runs after backward for
  /// every module.
  bool has_later_full_sharding = false;
  /// Collectives of ranks run on the current stream, or hold tensors until they are waited for, not
  /// until a stream of their own has come behind them.
  bool collectives_hold_tensors = false;
  /// So do transfers between two ranks, and lists of tensors are moved as they lie.
  bool transfers_hold_tensors = false;
};

/// From the oldest version on.
std::span<const RuleSet> rule_sets();
const RuleSet& default_rule_set();

/// Throws std::invalid_argument that suggests the nearest name.
const RuleSet& find_rule_set(std::string_view name);

/// The same; no name is the default one's.
const RuleSet& rule_set_or_default(std::string_view name);

}  // namespace ohm

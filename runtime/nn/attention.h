// Attention over several heads.
#pragma once

#include <optional>

#include "runtime/nn/module.h"
#include "runtime/nn/native_path.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/ops/attention/native_attention.h"

namespace ohm::nn {

struct MultiheadAttentionOptions {
  double dropout = 0.0;  ///< of the weights, in training
  bool has_bias = true;
  bool is_batch_first = false;
  /// The widths of keys and values; none: that of the queries. Where one differs, each has a weight
  /// of its own.
  std::optional<std::int64_t> key_width = {};
  std::optional<std::int64_t> value_width = {};
  bool adds_bias_key = false;  ///< a learned key and value, behind the others
  bool adds_zero_key = false;  ///< a key and value of zeros, behind those
};

/// query [L, N, E], key and value [S, N, E] (batch first: [N, L, E], …; one without a batch:
/// [L, E], …) give [L, N, E] and, if wanted, weights [N, L, S], the mean over the heads, or
/// [N, heads, L, S]. Parameters in_proj_weight [3E, E], or q_proj_weight [E, E], k_proj_weight and
/// v_proj_weight [E, width], in_proj_bias [3E], bias_k and bias_v [1, 1, E], child out_proj.
///
/// Where the weights are wanted, they are computed step by step; else by
/// ops::scaled_dot_product_attention.
class MultiheadAttention final : public CopyableModule<MultiheadAttention> {
 public:
  /// Throws std::invalid_argument unless `width` is a multiple of `heads`.
  MultiheadAttention(std::int64_t width, std::int64_t heads,
                     const MultiheadAttentionOptions& options, const ParameterOptions& parameters);

  std::string_view type_name() const override { return "MultiheadAttention"; }
  std::span<const std::string_view> input_names() const override { return kInputNames; }

  struct Call {
    Tensor query;
    Tensor key;
    Tensor value;
    std::optional<Tensor>
        key_padding_mask;             ///< [N, S]: bool, true where a key is left out; or added
    std::optional<Tensor> attn_mask;  ///< [L, S] or [N·heads, L, S]: the same for scores
    bool needs_weights = true;
    bool averages_weights = true;
    bool is_causal = false;  ///< the attn_mask is the causal one: it need not be looked at
  };
  struct Result {
    Tensor output;
    Tensor weights;  ///< undefined unless wanted
  };
  Result attend(const Call& call) const;

  std::int64_t heads() const { return heads_; }
  std::int64_t key_width() const { return options_.key_width.value_or(width_); }
  std::int64_t value_width() const { return options_.value_width.value_or(width_); }
  bool is_batch_first() const { return options_.is_batch_first; }
  bool has_bias() const { return options_.has_bias; }
  /// One each for queries, keys and values, where these differ in width.
  bool has_own_weights() const { return own_parameters()[0].name == kQueryWeight; }
  /// What a native call needs of it. Pre-condition: has_bias(), and its one weight is for queries,
  /// keys and values.
  ops::AttentionParameters native_parameters() const;

  using Module::forward;
  /// query, key, value [, key_padding_mask, need_weights, attn_mask, average_attn_weights,
  /// is_causal]; gives the output, and the weights if wanted.
  Value forward(const std::vector<Value>& inputs) override;

 private:
  static constexpr std::string_view kQueryWeight = "q_proj_weight";
  static constexpr std::string_view kInputNames[] = {"query",
                                                     "key",
                                                     "value",
                                                     "key_padding_mask",
                                                     "need_weights",
                                                     "attn_mask",
                                                     "average_attn_weights",
                                                     "is_causal"};
  struct Heads;
  struct MergedMask;

  std::size_t bias_slot() const { return has_own_weights() ? 3 : 1; }
  void add_weights(const ParameterOptions& parameters);
  std::vector<Tensor> projections(const Tensor& query, const Tensor& key,
                                  const Tensor& value) const;
  std::vector<Tensor> packed_projections(const Tensor& query, const Tensor& key,
                                         const Tensor& value) const;
  void add_bias_key(std::vector<Tensor>& parts, AttentionMasks& masks) const;
  void add_zero_key(Heads& heads, AttentionMasks& masks) const;
  void require_fitting(const Call& call) const;

  Heads projected(const Tensor& query, const Tensor& key, const Tensor& value,
                  AttentionMasks& masks) const;
  MergedMask merged_mask(AttentionMasks masks, std::int64_t batch, std::int64_t keys) const;
  Result weighted(Heads heads, MergedMask merged, bool averages) const;
  /// Whether PyTorch merges its masks for the native call, which without a bias it does not make.
  bool prepares_native_call(const Call& call) const;
  Result by_steps(const Call& call, AttentionMasks masks) const;
  Result fused(Heads heads, MergedMask merged, bool is_causal) const;
  Tensor output_of(const Tensor& rows, std::int64_t length) const;

  std::int64_t width_;
  std::int64_t heads_;
  MultiheadAttentionOptions options_;
};

}  // namespace ohm::nn

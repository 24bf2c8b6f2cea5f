// The fast path of PyTorch's modules: one native call (ops/attention/native_attention.h) instead of
// steps of their own, in evaluation, where no graph is recorded.
#pragma once

#include <initializer_list>
#include <optional>

#include "runtime/nn/module.h"
#include "runtime/ops/attention/nested_rows.h"
#include "runtime/tensor/tensor.h"

namespace ohm::nn {

/// A bool mask of what is left out, as numbers to add; any other mask, and none, as it is.
std::optional<Tensor> mask_as_numbers(const std::optional<Tensor>& mask, DType dtype);

/// Those of a call, where they are booleans as numbers that are added.
struct AttentionMasks {
  std::optional<Tensor> padding;    ///< [N, S]
  std::optional<Tensor> attention;  ///< [L, S] or [N·heads, L, S]

  /// Booleans become `dtype`, the padding's first.
  AttentionMasks(const std::optional<Tensor>& given_padding,
                 const std::optional<Tensor>& given_attention, DType dtype);

  /// For the native call, of a query [N, L, E]: the padding alone as it is, else [N, heads, L, S].
  /// A new tensor only where there are both.
  std::optional<Tensor> merged(const Tensor& query, std::int64_t heads) const;
};

/// Whether an op of these would be recorded. Some may be undefined.
bool is_graph_wanted(std::initializer_list<Tensor> tensors);

bool is_autocast_on();

/// Whether anything is to happen before or after the forward pass of the module or of one below it,
/// or parameters are computed of others there.
bool is_forward_pass_observed(const Module& module);

/// Whether a mask [N, L] of numbers, 0 where an element of src [N, L, E] is, leaves out nothing but
/// the ends of rows. PyTorch finds out on the device; without values there it is not.
bool is_left_aligned(const Tensor& src, const Tensor& padding);

/// src without what such a mask leaves out. Throws std::invalid_argument without values: the
/// lengths are not known.
ops::NestedRows without_padding(const Tensor& src, const Tensor& padding);

}  // namespace ohm::nn

// The front of an op: names it for what it allocates, and applies its autocast policy.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op_info.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// `tensor` cast by autocast for an op with this policy: the tensor itself when autocast is off or
/// does not concern it. The cast is part of the graph; casts of leaves that require a gradient are
/// made once and remembered.
Tensor autocast_input(CastPolicy policy, const Tensor& tensor);

/// The first line of an op: names it for whatever it allocates, and applies its policy. An op with
/// several inputs takes the last one first: PyTorch casts them in that order.
class OpFront {
 public:
  explicit OpFront(const OpInfo& info) : info_(info), op_(info.name) {}

  /// An input, cast as the policy says; undefined stays undefined.
  Tensor input(const Tensor& tensor) const { return autocast_input(info_.cast, tensor); }
  std::optional<Tensor> input(const std::optional<Tensor>& tensor) const {
    return tensor ? std::optional<Tensor>(input(*tensor)) : std::nullopt;
  }

  /// All inputs of an op with the widest policy, in their order. Throws std::invalid_argument where
  /// autocast has another half precision than a tensor that comes before any of float32.
  std::vector<Tensor> widest(std::vector<Tensor> tensors) const;

  /// The dtype argument of an op with the float32_result policy: what the caller asked for, else
  /// float32 where autocast concerns `input`, else nothing.
  std::optional<DType> result_dtype(const Tensor& input, std::optional<DType> asked) const;

 private:
  void forbid_other_half(const std::vector<Tensor>& tensors) const;

  const OpInfo& info_;
  OpGuard op_;
};

}  // namespace ohm::ops

// The options of fully_shard.
#pragma once

#include <optional>

#include "runtime/base/dtype.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {

struct MixedPrecisionPolicy {
  /// Of the gathered parameters. Not given: what they are.
  std::optional<DType> param_dtype = std::nullopt;
  /// In which gradients are averaged. Not given: what they are, and with PyTorch 2.15 what the
  /// parameters are.
  std::optional<DType> reduce_dtype = std::nullopt;
  /// Of what the module returns. Not given: what it is.
  std::optional<DType> output_dtype = std::nullopt;
  /// What is floating among the inputs becomes `param_dtype`.
  bool cast_forward_inputs = true;
};

struct FullyShardOptions {
  /// Parameters are whole again in backward alone. Not given: of all modules but the outermost.
  std::optional<bool> reshard_after_forward = std::nullopt;
  MixedPrecisionPolicy mp_policy;
};

/// RuleSet::has_later_full_sharding of the running context.
inline bool follows_later_rules() { return Context::current().rules.has_later_full_sharding; }

}  // namespace ohm::parallel

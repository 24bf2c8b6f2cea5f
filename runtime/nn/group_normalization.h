// Layers that normalise groups of elements of each sample by themselves.
#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/nn/normalization.h"

namespace ohm::nn {

/// [N, C, *] -> the same: groups of channels normalised together. weight and bias [C].
class GroupNorm final : public UnaryModule<GroupNorm> {
 public:
  GroupNorm(std::int64_t num_groups, std::int64_t channels, double eps, bool is_affine,
            const ParameterOptions& parameters);

  std::string_view type_name() const override { return "GroupNorm"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  std::int64_t num_groups_;
  double eps_;
};

/// Each channel of each sample by itself; a sample may come alone, [C, *]. Running statistics,
/// where they are tracked, are the samples' averages, and are used in evaluation.
class InstanceNorm final : public ChannelNorm {
 public:
  static constexpr Kind k1d{"InstanceNorm1d", 2, 3};
  static constexpr Kind k2d{"InstanceNorm2d", 3, 4};
  static constexpr Kind k3d{"InstanceNorm3d", 4, 5};

  InstanceNorm(const Kind& kind, std::int64_t features, const BatchNormOptions& options,
               const ParameterOptions& parameters)
      : ChannelNorm(kind, features, options, parameters) {}

  ModulePtr shallow_copy() const override { return std::make_shared<InstanceNorm>(*this); }

 protected:
  Tensor apply(const Tensor& input) override;
};

/// Divided by the root of the mean square over the last dimensions, which `normalized_shape` names;
/// weight has that shape.
class RmsNorm final : public UnaryModule<RmsNorm> {
 public:
  /// No eps: the dtype's smallest step at 1.
  RmsNorm(const Shape& normalized_shape, std::optional<double> eps, bool is_affine,
          const ParameterOptions& parameters);

  std::string_view type_name() const override { return "RMSNorm"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  Shape normalized_shape_;
  std::optional<double> eps_;
};

}  // namespace ohm::nn

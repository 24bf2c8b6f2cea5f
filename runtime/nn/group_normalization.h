// Layers that normalise groups of elements of each sample by themselves.
#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"

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

/// [N, C, *] -> the same: each channel of each sample by itself. weight and bias [C] where affine.
class InstanceNorm final : public UnaryModule<InstanceNorm> {
 public:
  /// `dims`: dimensions that an input has.
  struct Kind {
    std::string_view type_name;
    int dims;
  };
  static constexpr Kind k1d{"InstanceNorm1d", 3};
  static constexpr Kind k2d{"InstanceNorm2d", 4};
  static constexpr Kind k3d{"InstanceNorm3d", 5};

  InstanceNorm(const Kind& kind, std::int64_t features, double eps, bool is_affine,
               const ParameterOptions& parameters);

  std::string_view type_name() const override { return kind_.type_name; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  Kind kind_;
  double eps_;
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

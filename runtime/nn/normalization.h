// Normalisation layers.
#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"

namespace ohm::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
  bool is_affine = true;
  bool tracks_running_stats = true;
};

/// [N, C, …] -> the same. Parameters weight and bias [C]; buffers running_mean and running_var [C]
/// and num_batches_tracked (int64). Uses the batch's statistics when training, else the running
/// ones.
class BatchNorm : public UnaryModule<BatchNorm> {
 public:
  /// `dims`: dimensions that an input may have: 2 or 3 for BatchNorm1d, 4 for BatchNorm2d, 5 for
  /// BatchNorm3d.
  struct Kind {
    std::string_view type_name;
    int min_dims;
    int max_dims;
  };
  static constexpr Kind k1d{"BatchNorm1d", 2, 3};
  static constexpr Kind k2d{"BatchNorm2d", 4, 4};
  static constexpr Kind k3d{"BatchNorm3d", 5, 5};

  BatchNorm(const Kind& kind, std::int64_t features, const BatchNormOptions& options,
            const ParameterOptions& parameters);

  std::string_view type_name() const override { return kind_.type_name; }

  /// Running statistics of no batch: 0 and 1; nothing where there are none.
  void reset_running_stats();
  /// Them, and weight and bias as they were made.
  void reset_parameters();
  /// Whether running statistics weigh all batches alike, whatever the momentum.
  void set_cumulative(bool is_cumulative) { is_cumulative_ = is_cumulative; }

 protected:
  /// By how much the running statistics move towards the next batch's.
  double average_factor() const;
  void set_kind(const Kind& kind) { kind_ = kind; }

  Tensor apply(const Tensor& input) final;
  /// What is applied to an input of as many dimensions as it may have.
  virtual Tensor normalize(const Tensor& input);
  const BatchNormOptions& options() const { return options_; }

 private:
  Kind kind_;
  BatchNormOptions options_;
  bool is_cumulative_ = false;
};

struct LayerNormOptions {
  double eps = 1e-5;
  bool is_affine = true;
  bool has_bias = true;  ///< where it is affine
};

/// Over the last dimensions, which `normalized_shape` names; weight and bias have that shape.
class LayerNorm final : public UnaryModule<LayerNorm> {
 public:
  LayerNorm(const Shape& normalized_shape, const LayerNormOptions& options,
            const ParameterOptions& parameters);

  std::string_view type_name() const override { return "LayerNorm"; }
  double eps() const { return eps_; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  Shape normalized_shape_;
  double eps_;
};

}  // namespace ohm::nn

// Normalisation layers.
#pragma once

#include <memory>

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"

namespace ohm::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
  bool is_affine = true;
  bool tracks_running_stats = true;
};

/// A layer that normalises channels, [N, C, …] -> the same. Parameters weight and bias [C] where
/// affine; buffers running_mean and running_var [C] and num_batches_tracked (int64) where it tracks
/// running statistics.
class ChannelNorm : public Module {
 public:
  /// How many dimensions an input may have.
  struct Kind {
    std::string_view type_name;
    int min_dims;
    int max_dims;
  };

  std::string_view type_name() const override { return kind_.type_name; }

  using Module::forward;
  Value forward(const std::vector<Value>& inputs) final;

  /// Running statistics of no batch: 0 and 1; nothing where there are none.
  void reset_running_stats();
  /// Them, and weight and bias as they were made.
  void reset_parameters();

 protected:
  ChannelNorm(const Kind& kind, std::int64_t features, const BatchNormOptions& options,
              const ParameterOptions& parameters);

  /// Of an input of as many dimensions as it may have.
  virtual Tensor apply(const Tensor& input) = 0;
  /// Whether the statistics are those of the input, not the running ones.
  bool uses_input_statistics() const { return is_training() || !options_.tracks_running_stats; }
  const BatchNormOptions& options() const { return options_; }
  const Kind& kind() const { return kind_; }
  void set_kind(const Kind& kind) { kind_ = kind; }

 private:
  Kind kind_;
  BatchNormOptions options_;
};

/// Each channel of all samples together: by the batch's statistics when training, else by the
/// running ones.
class BatchNorm : public ChannelNorm {
 public:
  static constexpr Kind k1d{"BatchNorm1d", 2, 3};
  static constexpr Kind k2d{"BatchNorm2d", 4, 4};
  static constexpr Kind k3d{"BatchNorm3d", 5, 5};

  BatchNorm(const Kind& kind, std::int64_t features, const BatchNormOptions& options,
            const ParameterOptions& parameters)
      : ChannelNorm(kind, features, options, parameters) {}

  ModulePtr shallow_copy() const override { return std::make_shared<BatchNorm>(*this); }

 protected:
  Tensor apply(const Tensor& input) final;
  virtual Tensor normalize(const Tensor& input);
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

// Convolution layers.
#pragma once

#include <optional>
#include <string>

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/ops/value.h"

namespace ohm::nn {

struct ConvOptions {
  Shape kernel_size;  ///< one size for all dimensions, or one for each
  Shape stride{1};
  ops::SizesOrWord padding = Shape{0};  ///< "same" and "valid", too
  Shape dilation{1};
  std::int64_t groups = 1;
  bool has_bias = true;
  /// What pads: zeros, within the convolution, or "reflect", "replicate" and "circular", by
  /// ops::pad() before it.
  std::string padding_mode = "zeros";
};

/// [N, in_channels, …] -> [N, out_channels, …'], of lines, images and volumes. weight
/// [out, in / groups, k…] and bias [out] start uniform in ±1/√(in / groups · k…). Throws
/// std::invalid_argument for words that are not known, and for "same" with a stride.
class Conv final : public UnaryModule<Conv> {
 public:
  struct Kind {
    std::string_view type_name;
    int dims;
    Tensor (*convolve)(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                       const Shape& stride, const ops::SizesOrWord& padding, const Shape& dilation,
                       std::int64_t groups);
  };
  static const Kind k1d;
  static const Kind k2d;
  static const Kind k3d;

  Conv(const Kind& kind, std::int64_t in_channels, std::int64_t out_channels,
       const ConvOptions& options, const ParameterOptions& parameters);

  std::string_view type_name() const override { return kind_->type_name; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  const Kind* kind_;
  ConvOptions options_;
};

struct ConvTransposeOptions {
  Shape kernel_size;  ///< one size for all dimensions, or one for each
  Shape stride{1};
  Shape padding{0};
  Shape output_padding{0};
  std::int64_t groups = 1;
  bool has_bias = true;
  Shape dilation{1};
};

/// [N, in_channels, …] -> [N, out_channels, …'], enlarged where Conv shrinks. weight
/// [in, out / groups, k…] and bias [out] start uniform in ±1/√(out / groups · k…).
class ConvTranspose final : public UnaryModule<ConvTranspose> {
 public:
  struct Kind {
    std::string_view type_name;
    int dims;
    Tensor (*convolve)(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                       const Shape& stride, const Shape& padding, const Shape& output_padding,
                       std::int64_t groups, const Shape& dilation);
  };
  static const Kind k1d;
  static const Kind k2d;
  static const Kind k3d;

  ConvTranspose(const Kind& kind, std::int64_t in_channels, std::int64_t out_channels,
                const ConvTransposeOptions& options, const ParameterOptions& parameters);

  std::string_view type_name() const override { return kind_->type_name; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  const Kind* kind_;
  ConvTransposeOptions options_;
};

}  // namespace ohm::nn

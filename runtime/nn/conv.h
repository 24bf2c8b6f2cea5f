// Convolution layers.
#pragma once

#include <string>

#include "runtime/nn/module.h"
#include "runtime/ops/value.h"

namespace ohm::nn {

struct ConvOptions {
  Shape kernel_size;  ///< of an image: one size for both dimensions, or two
  Shape stride{1};
  ops::SizesOrWord padding = Shape{0};  ///< "same" and "valid", too
  Shape dilation{1};
  std::int64_t groups = 1;
  bool has_bias = true;
  /// What pads: zeros, within the convolution, or "reflect", "replicate" and "circular", by
  /// ops::pad() before it.
  std::string padding_mode = "zeros";
};

/// [N, in_channels, L] -> [N, out_channels, L']. weight [out, in / groups, k] and bias [out] start
/// uniform in ±1/√(in / groups · k). Throws std::invalid_argument for words that are not known, and
/// for "same" with a stride.
class Conv1d final : public UnaryModule<Conv1d> {
 public:
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, const ConvOptions& options,
         const ParameterOptions& parameters);

  std::string_view type_name() const override { return "Conv1d"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  ConvOptions options_;
};

/// [N, in_channels, H, W] -> [N, out_channels, H', W']. weight [out, in / groups, kH, kW] and bias
/// [out] start uniform in ±1/√(in / groups · kH · kW). Throws as Conv1d does.
class Conv2d final : public UnaryModule<Conv2d> {
 public:
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, const ConvOptions& options,
         const ParameterOptions& parameters);

  std::string_view type_name() const override { return "Conv2d"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  ConvOptions options_;
};

struct ConvTransposeOptions {
  Shape kernel_size;  ///< of an image: one size for both dimensions, or two
  Shape stride{1};
  Shape padding{0};
  Shape output_padding{0};
  std::int64_t groups = 1;
  bool has_bias = true;
  Shape dilation{1};
};

/// [N, in_channels, L] -> [N, out_channels, L'], enlarged where Conv1d shrinks. weight
/// [in, out / groups, k] and bias [out] start uniform in ±1/√(out / groups · k).
class ConvTranspose1d final : public UnaryModule<ConvTranspose1d> {
 public:
  ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels,
                  const ConvTransposeOptions& options, const ParameterOptions& parameters);

  std::string_view type_name() const override { return "ConvTranspose1d"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  ConvTransposeOptions options_;
};

/// [N, in_channels, H, W] -> [N, out_channels, H', W'], enlarged where Conv2d shrinks. weight
/// [in, out / groups, kH, kW] and bias [out] start uniform in ±1/√(out / groups · kH · kW).
class ConvTranspose2d final : public UnaryModule<ConvTranspose2d> {
 public:
  ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels,
                  const ConvTransposeOptions& options, const ParameterOptions& parameters);

  std::string_view type_name() const override { return "ConvTranspose2d"; }

 protected:
  Tensor apply(const Tensor& input) override;

 private:
  ConvTransposeOptions options_;
};

}  // namespace ohm::nn

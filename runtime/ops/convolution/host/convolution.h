// The arithmetic of convolutions of images and volumes, on the host: blocks of columns (im2col) and
// matrix products.
//
// The columns are host scratch of a few hundred kilobytes that no device counts: what a GPU's own
// kernels allocate is decided in conv.cpp. All tensors are row-major; float16 and bfloat16 are
// computed in float32.
#pragma once

#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// An image is a volume of depth 1.
struct ConvGeometry {
  bool is_of_volumes = false;  ///< [N, C, D, H, W], and not [N, C, H, W]
  std::int64_t batch = 0;
  std::int64_t groups = 1;
  std::int64_t in_channels = 0;   ///< of one group
  std::int64_t out_channels = 0;  ///< of one group
  std::int64_t in_depth = 1;
  std::int64_t in_height = 0;
  std::int64_t in_width = 0;
  std::int64_t out_depth = 1;
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  std::int64_t kernel_depth = 1;
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride_depth = 1;
  std::int64_t stride_height = 1;
  std::int64_t stride_width = 1;
  std::int64_t padding_depth = 0;
  std::int64_t padding_height = 0;
  std::int64_t padding_width = 0;
  std::int64_t dilation_depth = 1;
  std::int64_t dilation_height = 1;
  std::int64_t dilation_width = 1;

  /// Rows of the column matrix of one group.
  std::int64_t column_rows() const {
    return in_channels * kernel_depth * kernel_height * kernel_width;
  }
  std::int64_t in_pixels() const { return in_depth * in_height * in_width; }
  std::int64_t out_pixels() const { return out_rows() * out_width; }
  std::int64_t out_rows() const { return out_depth * out_height; }
  /// The input itself is the column matrix.
  bool is_pointwise() const;
};

/// out [N, groups·out_channels, …] = input ⋆ weight (+ bias where it is defined).
void conv_forward(const ConvGeometry& geometry, const Tensor& input, const Tensor& weight,
                  const Tensor& bias, const Tensor& out);

/// The gradient of conv_forward by its input.
void conv_grad_input(const ConvGeometry& geometry, const Tensor& grad_out, const Tensor& weight,
                     const Tensor& grad_input);

/// The gradient of conv_forward by its weight.
void conv_grad_weight(const ConvGeometry& geometry, const Tensor& grad_out, const Tensor& input,
                      const Tensor& grad_weight);

}  // namespace ohm::ops

// The plan of a convolution of images or volumes: its sizes, and which of PyTorch's kernels runs,
// which decides what is allocated beside the result.
#pragma once

#include <cstdint>

#include "runtime/ops/convolution/host/convolution.h"
#include "runtime/ops/op_front.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// What it allocates beside the result.
enum class ConvPath : std::uint8_t {
  library,         ///< cuDNN, the host: nothing
  depthwise,       ///< the kernel for one input channel in each group: nothing
  columns,         ///< a buffer of columns
  dilated_columns  ///< the same, and the bias gradient is summed image by image
};

struct ConvPlan {
  ConvGeometry geometry;
  ConvPath path = ConvPath::library;
  bool is_of_lines = false;  ///< the images have one row, and are row-major for the library
};

/// How the filters move. One size for all dimensions, or one for each.
struct ConvWindows {
  Shape stride;
  Shape padding;
  Shape dilation;
};

/// `input` [N, C, H, W], `weight` [O, C / groups, kH, kW]; one size for both dimensions, or two. Of
/// volumes both have a depth, and there may be three sizes.
/// Throws std::invalid_argument where they do not fit.
ConvPlan conv_plan(const OpInfo& info, const Tensor& input, const Tensor& weight,
                   const ConvWindows& windows, std::int64_t groups);

/// Images become columns, and each is a matrix product of its own.
bool is_unfolded(const ConvPlan& plan);

/// PyTorch's own kernels know no groups: each is a convolution of its own.
bool is_split_in_groups(const ConvPlan& plan);
ConvPlan plan_of_one_group(ConvPlan plan);

/// [N, channels, ...]: of what the geometry calls output, and input.
Shape shape_of_output(const ConvGeometry& geometry);
Shape shape_of_input(const ConvGeometry& geometry);

/// Sets what the arguments alone tell of a geometry. Throws std::invalid_argument where there are
/// other sizes than one, or one for each dimension.
void set_windows(const OpInfo& info, ConvGeometry& geometry, const Tensor& weight,
                 const ConvWindows& windows);

}  // namespace ohm::ops

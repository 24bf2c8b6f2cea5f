// The sizes of convolutions and pooling of images and volumes as arguments, and what must fit.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/arithmetic/memory_format.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/ops/op_front.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// One size for all dimensions, or one for each.
inline std::int64_t size_at(const Shape& sizes, int position) {
  return sizes[sizes.dims() == 1 ? 0 : position];
}

/// One size for each dimension.
inline Shape for_each_dim(const Shape& sizes, int dims) {
  return sizes.dims() == dims ? sizes : Shape(dims, sizes[0]);
}

/// Throws std::invalid_argument unless there are one or two sizes of at least `smallest`.
void require_pair(const OpInfo& info, const Shape& sizes, std::int64_t smallest, const char* name);
/// The same, of one size or `dims`: 2 or 3.
void require_sizes(const OpInfo& info, int dims, const Shape& sizes, std::int64_t smallest,
                   const char* name);

/// Throws std::invalid_argument unless these are images [N, C, H, W] (`dims` is 2) or volumes
/// [N, C, D, H, W] (3), filters and, where it is defined, a bias with one element for each of
/// `out_channels`, of one floating dtype on one device, and `groups` divides the filters' first
/// dimension.
void require_images(const OpInfo& info, int dims, const Tensor& input, const Tensor& weight,
                    const Tensor& bias, std::int64_t groups);
void require_bias(const OpInfo& info, const Tensor& weight, const Tensor& bias,
                  std::int64_t out_channels);

/// Zeros around images: as many on both sides of each dimension, and, as pad() takes them, those
/// that one side has more of.
struct NamedPadding {
  Shape both_sides;
  Shape one_side;  ///< empty where there are none
};

/// The padding of that name, of a convolution with these filters: "valid" is none; "same", which
/// takes strides of 1 alone, makes the result as large as the images. Throws std::invalid_argument
/// for other names, and where the arguments do not fit.
NamedPadding named_padding(const OpInfo& info, const std::string& name, const Shape& filters,
                           const Shape& stride, const Shape& dilation);

/// The format in which cuDNN is given two operands of a convolution, and gives its result: channels
/// last where either lies so, but for float64. Row-major on the host.
MemoryFormat library_format(const Tensor& first, const Tensor& second);

/// What the gradient of a bias is summed over, of a tensor with so many dimensions.
constexpr DimMask all_but_channels(int dims) {
  DimMask mask = with(0, 0);
  for (int dim = 2; dim < dims; ++dim) mask = with(mask, dim);
  return mask;
}

/// Lines as images of one row, and back, without a graph: PyTorch does it within its convolutions,
/// where results are not views: they can be written in place, and gradients are added up in place.
Tensor with_row(const Tensor& lines);
Tensor without_row(const Tensor& images);

}  // namespace ohm::ops

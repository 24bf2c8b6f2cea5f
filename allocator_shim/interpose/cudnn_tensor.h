// The tensor descriptors of the stand-in cuDNN (cudnnTensorDescriptor_t), and the sizes of
// cudnnDataType_t.
#pragma once

#include <array>
#include <cstddef>

#include "allocator_shim/interpose/objects.h"

namespace ohm::interpose {

inline constexpr int kMaxTensorDims = 8;  // CUDNN_DIM_MAX

struct TensorDescriptor {
  int data_type;
  int dims;
  std::array<int, kMaxTensorDims> sizes;
  std::array<int, kMaxTensorDims> strides;
};

/// Bytes of an element: float, double, half, int8, int32, int8x4, uint8, uint8x4, int8x32,
/// bfloat16, int64, boolean, fp8 (e4m3, e5m2).
inline std::size_t tensor_element_bytes(int data_type) {
  constexpr std::array<std::size_t, 14> kBytes = {4, 8, 2, 1, 4, 4, 1, 4, 32, 2, 8, 1, 1, 1};
  return kBytes.at(static_cast<std::size_t>(data_type));
}

}  // namespace ohm::interpose

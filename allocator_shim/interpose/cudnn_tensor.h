// The descriptors of the stand-in cuDNN that other descriptors' sizes follow from: tensors
// (cudnnTensorDescriptor_t) and filters, and the sizes of cudnnDataType_t.
//
// What cuDNN accepts was asked of cuDNN 9.19: its descriptors need no GPU.
#pragma once

#include <array>
#include <cstddef>

#include "allocator_shim/interpose/call_library.h"
#include "allocator_shim/interpose/objects.h"

namespace ohm::interpose {

inline constexpr int kMaxTensorDims = 8;  // CUDNN_DIM_MAX
inline constexpr int kCudnnBadParameter = invalid_argument_of(CallLibrary::cudnn);
inline constexpr int kCudnnNotSupported = 3000;

/// cudnnTensorFormat_t.
enum class TensorFormat : int { nchw, nhwc, nchw_vectors };

struct TensorDescriptor {
  int data_type;
  int dims;
  std::array<int, kMaxTensorDims> sizes;
  std::array<int, kMaxTensorDims> strides;
};

struct FilterDescriptor {
  int data_type;
  TensorFormat format;
  int dims;
  std::array<int, kMaxTensorDims> sizes;
};

/// Bytes of an element: float, double, half, int8, int32, int8x4, uint8, uint8x4, int8x32,
/// bfloat16, int64, boolean, fp8 (e4m3, e5m2).
inline constexpr std::array<std::size_t, 14> kTensorElementBytes = {4, 8,  2, 1, 4, 4, 1,
                                                                    4, 32, 2, 8, 1, 1, 1};
/// Those of descriptors end with bfloat16.
inline constexpr int kLastTensorType = 9;

inline bool is_tensor_type(int data_type) { return data_type >= 0 && data_type <= kLastTensorType; }

inline std::size_t tensor_element_bytes(int data_type) {
  return kTensorElementBytes.at(static_cast<std::size_t>(data_type));
}

/// Elements of an element: 1, but for int8x4, uint8x4 and int8x32.
inline int elements_of_vector(int data_type) {
  constexpr int kInt8x4 = 5;
  constexpr int kUint8x4 = 7;
  constexpr int kInt8x32 = 8;
  if (data_type == kInt8x32) return 32;
  return data_type == kInt8x4 || data_type == kUint8x4 ? 4 : 1;
}

}  // namespace ohm::interpose

// The functions of cuDNN that ohm calls: the interface by descriptors, which versions 8 and 9 both
// have.
#pragma once

#include "allocator_shim/device/cuda/driver_functions.h"

namespace ohm::cuda {

using CudnnStatus = int;  ///< cudnnStatus_t: 0 is success
using CudnnHandle = struct OpaqueCudnn*;
using CudnnTensor = struct OpaqueCudnnTensor*;            ///< cudnnTensorDescriptor_t
using CudnnFilter = struct OpaqueCudnnFilter*;            ///< cudnnFilterDescriptor_t
using CudnnConvolution = struct OpaqueCudnnConvolution*;  ///< cudnnConvolutionDescriptor_t
using CudnnPooling = struct OpaqueCudnnPooling*;          ///< cudnnPoolingDescriptor_t

/// cudnnConvolutionFwdAlgoPerf_t and its twins for the gradients.
struct CudnnAlgorithm {
  int algorithm = 0;
  CudnnStatus status = 0;
  float milliseconds = 0;
  std::size_t workspace_bytes = 0;
  int is_deterministic = 0;
  int math = 0;
  int reserved[3] = {};
};

// Answers of version 8, and what version 9 says instead.
inline constexpr CudnnStatus kCudnn8AllocFailed = 2;
inline constexpr CudnnStatus kCudnn8NotSupported = 9;
inline constexpr CudnnStatus kCudnn9NotSupported = 3000;  ///< to 3999
inline constexpr CudnnStatus kCudnn9HostAllocFailed = 4003;
inline constexpr CudnnStatus kCudnn9DeviceAllocFailed = 4004;

inline constexpr int kCudnnFloat = 0;  // cudnnDataType_t
inline constexpr int kCudnnDouble = 1;
inline constexpr int kCudnnHalf = 2;
inline constexpr int kCudnnBFloat16 = 9;
inline constexpr int kCudnnRowMajor = 0;          // cudnnTensorFormat_t: NCHW
inline constexpr int kCudnnCrossCorrelation = 1;  // cudnnConvolutionMode_t
inline constexpr int kCudnnDefaultMath = 0;       // cudnnMathType_t
inline constexpr int kCudnnTensorMath = 1;
inline constexpr int kCudnnNoTensorMath = 3;
inline constexpr int kCudnnAverageWithPadding = 1;  // cudnnPoolingMode_t
inline constexpr int kCudnnAverageWithoutPadding = 2;
inline constexpr int kCudnnPropagateNan = 1;      // cudnnNanPropagation_t
inline constexpr int kCudnnSpatialBatchNorm = 1;  // cudnnBatchNormMode_t

// ROW(name here, symbol, parameters...)
#define OHM_FOR_EACH_CUDNN_FUNCTION(ROW)                                                           \
  ROW(create, cudnnCreate, CudnnHandle*)                                                           \
  ROW(destroy, cudnnDestroy, CudnnHandle)                                                          \
  ROW(tensor_create, cudnnCreateTensorDescriptor, CudnnTensor*)                                    \
  ROW(tensor_destroy, cudnnDestroyTensorDescriptor, CudnnTensor)                                   \
  ROW(tensor_set, cudnnSetTensor4dDescriptor, CudnnTensor, int, int, int, int, int, int)           \
  ROW(filter_create, cudnnCreateFilterDescriptor, CudnnFilter*)                                    \
  ROW(filter_destroy, cudnnDestroyFilterDescriptor, CudnnFilter)                                   \
  ROW(filter_set, cudnnSetFilter4dDescriptor, CudnnFilter, int, int, int, int, int, int)           \
  ROW(convolution_create, cudnnCreateConvolutionDescriptor, CudnnConvolution*)                     \
  ROW(convolution_destroy, cudnnDestroyConvolutionDescriptor, CudnnConvolution)                    \
  ROW(convolution_set, cudnnSetConvolution2dDescriptor, CudnnConvolution, int, int, int, int, int, \
      int, int, int)                                                                               \
  ROW(convolution_set_groups, cudnnSetConvolutionGroupCount, CudnnConvolution, int)                \
  ROW(convolution_set_math, cudnnSetConvolutionMathType, CudnnConvolution, int)                    \
  ROW(forward_algorithms, cudnnGetConvolutionForwardAlgorithm_v7, CudnnHandle, CudnnTensor,        \
      CudnnFilter, CudnnConvolution, CudnnTensor, int, int*, CudnnAlgorithm*)                      \
  ROW(data_algorithms, cudnnGetConvolutionBackwardDataAlgorithm_v7, CudnnHandle, CudnnFilter,      \
      CudnnTensor, CudnnConvolution, CudnnTensor, int, int*, CudnnAlgorithm*)                      \
  ROW(filter_algorithms, cudnnGetConvolutionBackwardFilterAlgorithm_v7, CudnnHandle, CudnnTensor,  \
      CudnnTensor, CudnnConvolution, CudnnFilter, int, int*, CudnnAlgorithm*)                      \
  ROW(forward_measured, cudnnFindConvolutionForwardAlgorithmEx, CudnnHandle, CudnnTensor,          \
      const void*, CudnnFilter, const void*, CudnnConvolution, CudnnTensor, void*, int, int*,      \
      CudnnAlgorithm*, void*, std::size_t)                                                         \
  ROW(data_measured, cudnnFindConvolutionBackwardDataAlgorithmEx, CudnnHandle, CudnnFilter,        \
      const void*, CudnnTensor, const void*, CudnnConvolution, CudnnTensor, void*, int, int*,      \
      CudnnAlgorithm*, void*, std::size_t)                                                         \
  ROW(filter_measured, cudnnFindConvolutionBackwardFilterAlgorithmEx, CudnnHandle, CudnnTensor,    \
      const void*, CudnnTensor, const void*, CudnnConvolution, CudnnFilter, void*, int, int*,      \
      CudnnAlgorithm*, void*, std::size_t)                                                         \
  ROW(convolution_forward, cudnnConvolutionForward, CudnnHandle, const void*, CudnnTensor,         \
      const void*, CudnnFilter, const void*, CudnnConvolution, int, void*, std::size_t,            \
      const void*, CudnnTensor, void*)                                                             \
  ROW(convolution_data, cudnnConvolutionBackwardData, CudnnHandle, const void*, CudnnFilter,       \
      const void*, CudnnTensor, const void*, CudnnConvolution, int, void*, std::size_t,            \
      const void*, CudnnTensor, void*)                                                             \
  ROW(convolution_filter, cudnnConvolutionBackwardFilter, CudnnHandle, const void*, CudnnTensor,   \
      const void*, CudnnTensor, const void*, CudnnConvolution, int, void*, std::size_t,            \
      const void*, CudnnFilter, void*)                                                             \
  ROW(add_tensor, cudnnAddTensor, CudnnHandle, const void*, CudnnTensor, const void*, const void*, \
      CudnnTensor, void*)                                                                          \
  ROW(pooling_create, cudnnCreatePoolingDescriptor, CudnnPooling*)                                 \
  ROW(pooling_destroy, cudnnDestroyPoolingDescriptor, CudnnPooling)                                \
  ROW(pooling_set, cudnnSetPooling2dDescriptor, CudnnPooling, int, int, int, int, int, int, int,   \
      int)                                                                                         \
  ROW(pooling_forward, cudnnPoolingForward, CudnnHandle, CudnnPooling, const void*, CudnnTensor,   \
      const void*, const void*, CudnnTensor, void*)                                                \
  ROW(pooling_backward, cudnnPoolingBackward, CudnnHandle, CudnnPooling, const void*, CudnnTensor, \
      const void*, CudnnTensor, const void*, CudnnTensor, const void*, const void*, CudnnTensor,   \
      void*)                                                                                       \
  ROW(norm_training, cudnnBatchNormalizationForwardTraining, CudnnHandle, int, const void*,        \
      const void*, CudnnTensor, const void*, CudnnTensor, void*, CudnnTensor, const void*,         \
      const void*, double, void*, void*, double, void*, void*)                                     \
  ROW(norm_inference, cudnnBatchNormalizationForwardInference, CudnnHandle, int, const void*,      \
      const void*, CudnnTensor, const void*, CudnnTensor, void*, CudnnTensor, const void*,         \
      const void*, const void*, const void*, double)                                               \
  ROW(norm_backward, cudnnBatchNormalizationBackward, CudnnHandle, int, const void*, const void*,  \
      const void*, const void*, CudnnTensor, const void*, CudnnTensor, const void*, CudnnTensor,   \
      void*, CudnnTensor, const void*, void*, void*, double, const void*, const void*)

/// One pointer for each function, by the name here.
struct CudnnFunctions {
#define OHM_ROW(member, symbol, ...) CudnnStatus (*member)(__VA_ARGS__) = nullptr;
  OHM_FOR_EACH_CUDNN_FUNCTION(OHM_ROW)
#undef OHM_ROW
  /// cudnnGetErrorString: "CUDNN_STATUS_NOT_SUPPORTED".
  const char* (*status_name)(CudnnStatus) = nullptr;
  /// cudnnGetVersion: 8907 is 8.9.7, 90100 is 9.1.0.
  std::size_t (*version)() = nullptr;
};

inline constexpr const char* kCudnnStatusName = "cudnnGetErrorString";
inline constexpr const char* kCudnnVersion = "cudnnGetVersion";

}  // namespace ohm::cuda

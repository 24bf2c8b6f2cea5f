// exec: --gpu tiny-64m
// links: -lcudnn
// What descriptors say of sizes. Every figure and code is that of cuDNN 9.19 itself.
#include <cudnn.h>

#include <cstring>

#include "check.h"

static cudnnTensorDescriptor_t tensor;
static cudnnFilterDescriptor_t filter;
static cudnnConvolutionDescriptor_t convolution;
static cudnnPoolingDescriptor_t pooling;

static void tensors() {
  cudnnDataType_t type;
  int n, c, h, w, strides[4];
  size_t bytes;
  OK(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 2, 8, 5, 7));
  OK(cudnnGetTensor4dDescriptor(tensor, &type, &n, &c, &h, &w, &strides[0], &strides[1],
                                &strides[2], &strides[3]));
  CHECK(type == CUDNN_DATA_HALF && n == 2 && c == 8 && h == 5 && w == 7);
  CHECK(strides[0] == 280 && strides[1] == 1 && strides[2] == 56 && strides[3] == 8);
  OK(cudnnGetTensorSizeInBytes(tensor, &bytes));
  CHECK(bytes == 1120);
  OK(cudnnSetTensor4dDescriptorEx(tensor, CUDNN_DATA_FLOAT, 2, 3, 5, 7, 200, 50, 8, 1));
  OK(cudnnGetTensorSizeInBytes(tensor, &bytes));
  CHECK(bytes == 1356);
  CHECK(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 3, 5, 7) ==
        CUDNN_STATUS_BAD_PARAM);
  CHECK(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW_VECT_C, CUDNN_DATA_FLOAT, 2, 8, 5,
                                   7) == CUDNN_STATUS_BAD_PARAM);
  const int many[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  CHECK(cudnnSetTensorNdDescriptor(tensor, CUDNN_DATA_FLOAT, 9, many, many) ==
        CUDNN_STATUS_NOT_SUPPORTED);
}

static void convolutions() {
  int n, c, h, w;
  OK(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 8, 3, 32, 30));
  OK(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 16, 3, 5, 3));
  OK(cudnnSetConvolution2dDescriptor(convolution, 2, 1, 2, 1, 1, 2, CUDNN_CROSS_CORRELATION,
                                     CUDNN_DATA_FLOAT));
  OK(cudnnGetConvolution2dForwardOutputDim(convolution, tensor, filter, &n, &c, &h, &w));
  CHECK(n == 8 && c == 16 && h == 16 && w == 28);
  int dims[5] = {};
  OK(cudnnGetConvolutionNdForwardOutputDim(convolution, tensor, filter, 4, dims));
  CHECK(dims[1] == 16 && dims[3] == 28);
  CHECK(cudnnGetConvolutionNdForwardOutputDim(convolution, tensor, filter, 5, dims) ==
        CUDNN_STATUS_BAD_PARAM);
  OK(cudnnSetConvolutionGroupCount(convolution, 3));
  CHECK(cudnnGetConvolution2dForwardOutputDim(convolution, tensor, filter, &n, &c, &h, &w) ==
        CUDNN_STATUS_BAD_PARAM);
  OK(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 16, 1, 50, 3));
  CHECK(cudnnGetConvolution2dForwardOutputDim(convolution, tensor, filter, &n, &c, &h, &w) ==
        CUDNN_STATUS_BAD_PARAM);
  size_t bytes;
  OK(cudnnGetFilterSizeInBytes(filter, &bytes));
  CHECK(bytes == 9600);
}

static void poolings() {
  int n, c, h, w;
  OK(cudnnSetPooling2dDescriptor(pooling, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 3, 2, 1, 0, 2,
                                 1));
  OK(cudnnGetPooling2dForwardOutputDim(pooling, tensor, &n, &c, &h, &w));
  CHECK(n == 8 && c == 3 && h == 16 && w == 29);
  CHECK(cudnnSetPooling2dDescriptor(pooling, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 3, 2, 1, 0, 0,
                                    1) == CUDNN_STATUS_BAD_PARAM);
}

int main() {
  OK(cudnnCreateTensorDescriptor(&tensor));
  OK(cudnnCreateFilterDescriptor(&filter));
  OK(cudnnCreateConvolutionDescriptor(&convolution));
  OK(cudnnCreatePoolingDescriptor(&pooling));
  tensors();
  convolutions();
  poolings();
  OK(cudnnDestroyPoolingDescriptor(pooling));
  OK(cudnnDestroyConvolutionDescriptor(convolution));
  OK(cudnnDestroyFilterDescriptor(filter));
  OK(cudnnDestroyTensorDescriptor(tensor));
  CHECK(std::strcmp(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM), "CUDNN_STATUS_BAD_PARAM") == 0);
  return 0;
}

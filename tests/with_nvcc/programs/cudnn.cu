// exec: --gpu a100-80g,capacity=1GiB
// links: -lcudnn
// A handle, its stream, and descriptors of tensors.
#include <cudnn.h>

#include "check.h"

int main() {
  cudnnHandle_t handle;
  OK(cudnnCreate(&handle));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudnnSetStream(handle, stream));
  cudnnTensorDescriptor_t tensor;
  OK(cudnnCreateTensorDescriptor(&tensor));
  OK(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 8, 3, 32, 32));
  CHECK(cudnnGetVersion() >= 9000);
  OK(cudnnDestroyTensorDescriptor(tensor));
  OK(cudnnDestroy(handle));
  OK(cudaStreamDestroy(stream));
  return 0;
}

// exec: --gpu t4-16g
// links: -lcublas -lcudnn
// Handles that are none, or gone, of the mathematical libraries.
#include <cublas_v2.h>
#include <cudnn.h>

#include "check.h"

int main() {
  CHECK(cublasCreate(nullptr) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSetStream(nullptr, 0) == CUBLAS_STATUS_NOT_INITIALIZED);
  float one = 1;
  CHECK(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &one, 1, &one, 1, &one, &one,
                    1) == CUBLAS_STATUS_NOT_INITIALIZED);
  cublasHandle_t blas;
  OK(cublasCreate(&blas));
  OK(cublasDestroy(blas));
  CHECK(cublasDestroy(blas) == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(cudnnCreate(nullptr) == CUDNN_STATUS_BAD_PARAM);
  cudnnHandle_t handle;
  cudaStream_t stream;
  CHECK(cudnnGetStream(nullptr, &stream) == CUDNN_STATUS_BAD_PARAM);
  OK(cudnnCreate(&handle));
  OK(cudnnDestroy(handle));
  CHECK(cudnnDestroy(handle) == CUDNN_STATUS_BAD_PARAM);
  return 0;
}

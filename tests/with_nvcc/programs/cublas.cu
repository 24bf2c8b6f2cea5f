// exec: --gpu a100-80g,capacity=1GiB
// links: -lcublas
// A matrix product: its handle, its workspace, its stream.
#include <cublas_v2.h>

#include "check.h"

int main() {
  constexpr int kSide = 512;
  cublasHandle_t handle;
  OK(cublasCreate(&handle));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cublasSetStream(handle, stream));
  cudaStream_t kept;
  OK(cublasGetStream(handle, &kept));
  CHECK(kept == stream);
  float* matrices[3];
  for (float*& matrix : matrices) OK(cudaMalloc(&matrix, kSide * kSide * sizeof(float)));
  const float one = 1, zero = 0;
  OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, matrices[0], kSide,
                 matrices[1], kSide, &zero, matrices[2], kSide));
  OK(cudaStreamSynchronize(stream));
  for (float* matrix : matrices) OK(cudaFree(matrix));
  OK(cublasDestroy(handle));
  return 0;
}

// exec: --gpu tiny-64m
// links: -lcublas
// Vectors and matrices go to a GPU and come back, and what is wrong has cuBLAS's codes and texts.
#include <cublas_v2.h>

#include <cstring>
#include <vector>

#include "check.h"

static void vectors(float* device) {
  const float sent[] = {1, 2, 3, 4, 5, 6};
  float back[6] = {};
  OK(cublasSetVector(3, sizeof(float), sent, 2, device, 1));
  OK(cublasGetVector(3, sizeof(float), device, 1, back, 2));
  CHECK(back[0] == 1 && back[2] == 3 && back[4] == 5 && back[1] == 0);
  OK(cublasSetVectorAsync(6, sizeof(float), sent, 1, device, 1, 0));
  OK(cublasGetVectorAsync(6, sizeof(float), device, 1, back, 1, 0));
  CHECK(std::memcmp(sent, back, sizeof(sent)) == 0);
  OK(cublasSetVector_64(6, sizeof(float), sent, 1, device, 1));
  OK(cublasSetVector(0, sizeof(float), sent, 1, device, 1));
  CHECK(cublasSetVector(3, 0, sent, 1, device, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSetVector(3, sizeof(float), sent, 0, device, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasGetVector(3, sizeof(float), device, 1, back, -1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSetVector(3, sizeof(float), sent, 1, back, 1) == CUBLAS_STATUS_MAPPING_ERROR);
}

static void matrices(float* device) {
  const float sent[] = {1, 2, 9, 3, 4, 9};
  float back[4] = {};
  OK(cublasSetMatrix(2, 2, sizeof(float), sent, 3, device, 2));
  OK(cublasGetMatrix(2, 2, sizeof(float), device, 2, back, 2));
  CHECK(back[0] == 1 && back[1] == 2 && back[2] == 3 && back[3] == 4);
  CHECK(cublasSetMatrix(2, 2, sizeof(float), sent, 0, device, 2) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSetMatrix(-1, 2, sizeof(float), sent, 3, device, 2) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSetMatrix(2, 2, sizeof(float), sent, 1, device, 2) == CUBLAS_STATUS_MAPPING_ERROR);
}

static void handles() {
  cublasHandle_t handle;
  OK(cublasCreate(&handle));
  cublasAtomicsMode_t mode;
  OK(cublasSetAtomicsMode(handle, CUBLAS_ATOMICS_ALLOWED));
  OK(cublasGetAtomicsMode(handle, &mode));
  CHECK(mode == CUBLAS_ATOMICS_ALLOWED);
  int major = 0;
  OK(cublasGetProperty(MAJOR_VERSION, &major));
  CHECK(major == CUBLAS_VER_MAJOR);
  CHECK(cublasGetAtomicsMode(nullptr, &mode) == CUBLAS_STATUS_NOT_INITIALIZED);
  const float one = 1;
  float* const matrix = nullptr;
  CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, -1, 1, 1, &one, matrix, 1, matrix, 1, &one,
                    matrix, 1) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, matrix, 4, matrix, 8, &one,
                    matrix, 8) == CUBLAS_STATUS_INVALID_VALUE);
  OK(cublasDestroy(handle));
}

int main() {
  float* device = nullptr;
  OK(cudaMalloc(&device, 1024));
  vectors(device);
  matrices(device);
  handles();
  OK(cudaFree(device));
  CHECK(std::strcmp(cublasGetStatusName(CUBLAS_STATUS_MAPPING_ERROR),
                    "CUBLAS_STATUS_MAPPING_ERROR") == 0);
  CHECK(std::strcmp(cublasGetStatusString(CUBLAS_STATUS_SUCCESS), "success") == 0);
  return 0;
}

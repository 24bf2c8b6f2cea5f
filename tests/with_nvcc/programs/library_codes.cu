// exec: --gpu tiny-64m
// links: -lcufft -lcurand -lcusparse
// What cuFFT, cuRAND and cuSPARSE refuse, and what they tell of what they were given.
#include <cufft.h>
#include <curand.h>
#include <cusparse.h>

#include <cstdint>
#include <cstring>

#include "check.h"

static void transforms(cufftComplex* data) {
  cufftHandle plan;
  CHECK(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
  CHECK(cufftPlan1d(&plan, 8, static_cast<cufftType>(1), 1) == CUFFT_INVALID_TYPE);
  CHECK(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE);
  OK(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  OK(cufftExecC2C(plan, data, data, CUFFT_FORWARD));
  CHECK(cufftExecC2C(plan, data, data, 0) == CUFFT_INVALID_VALUE);
  CHECK(cufftExecC2C(plan, nullptr, data, CUFFT_FORWARD) == CUFFT_INVALID_VALUE);
  OK(cufftDestroy(plan));
  CHECK(cufftDestroy(plan) == CUFFT_INVALID_PLAN);
  CHECK(cufftExecC2C(plan, data, data, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
  CHECK(cufftSetStream(plan, 0) == CUFFT_INVALID_PLAN);
  OK(cufftCreate(&plan));
  CHECK(cufftExecC2C(plan, data, data, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
  OK(cufftDestroy(plan));
}

static void numbers(float* data) {
  curandGenerator_t generator;
  CHECK(curandCreateGenerator(&generator, static_cast<curandRngType_t>(7)) ==
        CURAND_STATUS_TYPE_ERROR);
  OK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
  OK(curandSetPseudoRandomGeneratorSeed(generator, 1));
  OK(curandGenerateNormal(generator, data, 8, 0, 1));
  OK(curandGenerateUniform(generator, data, 7));
  CHECK(curandGenerateNormal(generator, data, 7, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  CHECK(curandSetQuasiRandomGeneratorDimensions(generator, 2) == CURAND_STATUS_TYPE_ERROR);
  OK(curandDestroyGenerator(generator));
  CHECK(curandGenerateUniform(generator, data, 7) == CURAND_STATUS_NOT_INITIALIZED);
  OK(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32));
  CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1) == CURAND_STATUS_TYPE_ERROR);
  OK(curandSetQuasiRandomGeneratorDimensions(generator, 2));
  CHECK(curandGenerateUniform(generator, data, 7) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  OK(curandDestroyGenerator(generator));
  int version = 0;
  OK(curandGetVersion(&version));
  CHECK(version == CURAND_VERSION);
}

static void matrices(void* data) {
  cusparseSpMatDescr_t matrix;
  std::int64_t rows, columns, nonzeros, leading;
  CHECK(cusparseCreateCsr(&matrix, 4, 5, 21, data, data, data, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                          CUDA_R_32F) == CUSPARSE_STATUS_INVALID_VALUE);
  OK(cusparseCreateCsr(&matrix, 4, 5, 6, data, data, data, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  OK(cusparseSpMatGetSize(matrix, &rows, &columns, &nonzeros));
  CHECK(rows == 4 && columns == 5 && nonzeros == 6);
  cusparseFormat_t format;
  OK(cusparseSpMatGetFormat(matrix, &format));
  CHECK(format == CUSPARSE_FORMAT_CSR);
  void* values = nullptr;
  OK(cusparseSpMatGetValues(matrix, &values));
  CHECK(values == data);
  OK(cusparseDestroySpMat(matrix));
  CHECK(cusparseSpMatGetSize(matrix, &rows, &columns, &nonzeros) == CUSPARSE_STATUS_INVALID_VALUE);
  cusparseDnMatDescr_t dense;
  CHECK(cusparseCreateDnMat(&dense, 4, 5, 3, data, CUDA_R_32F, CUSPARSE_ORDER_COL) ==
        CUSPARSE_STATUS_INVALID_VALUE);
  OK(cusparseCreateDnMat(&dense, 4, 5, 6, data, CUDA_R_32F, CUSPARSE_ORDER_COL));
  cudaDataType type;
  cusparseOrder_t order;
  OK(cusparseDnMatGet(dense, &rows, &columns, &leading, &values, &type, &order));
  CHECK(leading == 6 && type == CUDA_R_32F && order == CUSPARSE_ORDER_COL);
  OK(cusparseDestroyDnMat(dense));
  CHECK(std::strcmp(cusparseGetErrorString(CUSPARSE_STATUS_INVALID_VALUE), "invalid value") == 0);
}

int main() {
  void* data = nullptr;
  OK(cudaMalloc(&data, 1024));
  transforms(static_cast<cufftComplex*>(data));
  numbers(static_cast<float*>(data));
  matrices(data);
  OK(cudaFree(data));
  return 0;
}

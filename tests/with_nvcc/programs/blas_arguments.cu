// exec: --gpu t4-16g
// links: -lcublas -lcublasLt -lcusolver -lcusparse
// Sizes, leading dimensions, modes and handles that cuBLAS, cuSOLVER and cuSPARSE refuse.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include "check.h"

static cublasHandle_t blas;
static float* a;
static const float kOne = 1;
constexpr auto kN = CUBLAS_OP_N;
constexpr auto kT = CUBLAS_OP_T;
constexpr auto kWrong = CUBLAS_STATUS_INVALID_VALUE;

static cublasStatus_t strides(int leading, int count) {
  return cublasSgemmStridedBatched(blas, kN, kN, 8, 8, 8, &kOne, a, leading, 64, a, 8, 64, &kOne, a,
                                   8, 64, count);
}

static cublasStatus_t batch(int leading, int count) {
  const auto list = reinterpret_cast<float* const*>(a);
  return cublasSgemmBatched(blas, kN, kN, 8, 8, 8, &kOne, list, 8, list, 8, &kOne, list, leading,
                            count);
}

static cublasStatus_t typed(cudaDataType type, int leading) {
  return cublasGemmEx(blas, kT, kN, 8, 8, 4, &kOne, a, type, leading, a, CUDA_R_16F, 4, &kOne, a,
                      CUDA_R_16F, 8, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

static void products() {
  OK(strides(8, 10));
  CHECK(strides(7, 10) == kWrong && strides(8, -1) == kWrong);
  OK(batch(8, 0));
  CHECK(batch(4, 10) == kWrong && batch(8, -1) == kWrong);
  OK(typed(CUDA_R_16F, 4));
  CHECK(typed(CUDA_R_16F, 3) == kWrong);
  CHECK(typed(CUDA_R_64F, 4) == CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(cublasGemmStridedBatchedEx(blas, kN, kN, 8, 8, 8, &kOne, a, CUDA_R_16F, 8, 64, a,
                                   CUDA_R_16F, 7, 64, &kOne, a, CUDA_R_16F, 8, 64, 2,
                                   CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == kWrong);
}

static cublasStatus_t solve(cublasSideMode_t side, int leading) {
  return cublasStrsm(blas, side, CUBLAS_FILL_MODE_LOWER, kN, CUBLAS_DIAG_UNIT, 8, 4, &kOne, a,
                     leading, a, 8);
}

static void others() {
  OK(solve(CUBLAS_SIDE_LEFT, 8));
  OK(solve(CUBLAS_SIDE_RIGHT, 4));
  CHECK(solve(CUBLAS_SIDE_LEFT, 4) == kWrong);
  const auto lower = CUBLAS_FILL_MODE_LOWER;
  OK(cublasSsyrk(blas, lower, kT, 8, 4, &kOne, a, 4, &kOne, a, 8));
  CHECK(cublasSsyrk(blas, lower, kN, 8, 4, &kOne, a, 4, &kOne, a, 8) == kWrong);
  OK(cublasSger(blas, 8, 8, &kOne, a, 1, a, 1, a, 8));
  CHECK(cublasSger(blas, 8, 8, &kOne, a, 0, a, 1, a, 8) == kWrong);
  CHECK(cublasSger(blas, 8, 8, &kOne, a, 1, a, 1, a, 7) == kWrong);
  OK(cublasSgeam(blas, kT, kN, 8, 4, &kOne, a, 4, &kOne, a, 8, a, 8));
  CHECK(cublasSgeam(blas, kN, kN, 8, 4, &kOne, a, 4, &kOne, a, 8, a, 8) == kWrong);
  CHECK(cublasSetMathMode(blas, static_cast<cublasMath_t>(77)) == kWrong);
  CHECK(cublasSetPointerMode(blas, static_cast<cublasPointerMode_t>(7)) == kWrong);
  OK(cublasSetWorkspace(blas, a, 1024));
  CHECK(cublasSetWorkspace(blas, reinterpret_cast<char*>(a) + 1, 1024) == kWrong);
}

static void layouts() {
  cublasLtHandle_t light;
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t square;
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t found;
  int count = 0;
  OK(cublasLtCreate(&light));
  OK(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  OK(cublasLtMatrixLayoutCreate(&square, CUDA_R_32F, 8, 8, 8));
  OK(cublasLtMatmulPreferenceCreate(&preference));
  OK(cublasLtMatmulAlgoGetHeuristic(light, product, square, square, square, square, preference, 1,
                                    &found, &count));
  CHECK(count == 1);
  CHECK(cublasLtMatmulAlgoGetHeuristic(light, product, square, square, square, square, preference,
                                       0, &found, &count) == kWrong);
  OK(cublasLtMatmul(light, product, &kOne, a, square, a, square, &kOne, a, square, a, square,
                    nullptr, nullptr, 0, 0));
  CHECK(cublasLtMatmul(light, nullptr, &kOne, a, square, a, square, &kOne, a, square, a, square,
                       nullptr, nullptr, 0, 0) == kWrong);
  CHECK(cublasLtMatmul(nullptr, product, &kOne, a, square, a, square, &kOne, a, square, a, square,
                       nullptr, nullptr, 0, 0) == CUBLAS_STATUS_NOT_INITIALIZED);
  OK(cublasLtDestroy(light));
}

static void handles() {
  cusolverDnHandle_t solver;
  cudaStream_t stream, told = nullptr;
  int size = 0;
  OK(cudaStreamCreate(&stream));
  OK(cusolverDnCreate(&solver));
  OK(cusolverDnSetStream(solver, stream));
  OK(cusolverDnGetStream(solver, &told));
  CHECK(told == stream);
  OK(cusolverDnSgetrf_bufferSize(solver, 8, 8, a, 8, &size));
  CHECK(cusolverDnSgetrf_bufferSize(nullptr, 8, 8, a, 8, &size) == CUSOLVER_STATUS_NOT_INITIALIZED);
  OK(cusolverDnDestroy(solver));
  CHECK(cusolverDnSetStream(solver, stream) == CUSOLVER_STATUS_NOT_INITIALIZED);
  std::size_t bytes = 0;
  CHECK(cusparseSpMV_bufferSize(nullptr, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, nullptr, nullptr,
                                &kOne, nullptr, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                                &bytes) == CUSPARSE_STATUS_NOT_INITIALIZED);
}

int main() {
  OK(cublasCreate(&blas));
  OK(cudaMalloc(&a, 1 << 16));
  products();
  others();
  layouts();
  handles();
  OK(cudaFree(a));
  OK(cublasDestroy(blas));
  return 0;
}

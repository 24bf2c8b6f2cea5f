// The declarations of cublas_functions.h and its kin against the headers that are installed.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "runtime/cuda/cublaslt_functions.h"
#include "runtime/cuda/cudnn_functions.h"
#include "runtime/cuda/nccl_functions.h"
#include "tests/allocator_shim/device/cuda/same_call.h"

#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

namespace ohm::cuda {
namespace {

#define OHM_TEXT(name) #name
#define OHM_EXPANDED_TEXT(name) OHM_TEXT(name)

// ---- cuBLAS and cuBLASLt ------------------------------------------------------------------------

// The header has each of these twice, for old code too: these are the ones that the library has.
using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const void*, const void*, cudaDataType, int, const void*,
                                  cudaDataType, int, const void*, void*, cudaDataType, int,
                                  cublasComputeType_t, cublasGemmAlgo_t);
using GemmStridedBatchedEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t,
                                                cublasOperation_t, int, int, int, const void*,
                                                const void*, cudaDataType, int, long long,
                                                const void*, cudaDataType, int, long long,
                                                const void*, void*, cudaDataType, int, long long,
                                                int, cublasComputeType_t, cublasGemmAlgo_t);
static_assert(std::is_same_v<decltype(static_cast<GemmEx>(&cublasGemmEx)), GemmEx>);
static_assert(
    std::is_same_v<decltype(static_cast<GemmStridedBatchedEx>(&cublasGemmStridedBatchedEx)),
                   GemmStridedBatchedEx>);
static_assert(SameCall<decltype(CublasFunctions::gemm), GemmEx>::value);
static_assert(
    SameCall<decltype(CublasFunctions::gemm_strided_batched), GemmStridedBatchedEx>::value);

#define OHM_ROW(member, header_name, symbol, ...)                                           \
  static_assert(SameCall<decltype(CublasFunctions::member), decltype(&header_name)>::value, \
                #header_name " has other parameters");
OHM_FOR_EACH_CUBLAS_HANDLE_FUNCTION(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(member, header_name, symbol, ...)                                             \
  static_assert(SameCall<decltype(CublasLtFunctions::member), decltype(&header_name)>::value, \
                #header_name " has other parameters");
OHM_FOR_EACH_CUBLASLT_FUNCTION(OHM_ROW)
#undef OHM_ROW
static_assert(
    SameCall<decltype(CublasFunctions::status_name), decltype(&cublasGetStatusName)>::value);
static_assert(
    SameCall<decltype(CublasLtFunctions::status_name), decltype(&cublasLtGetStatusName)>::value);
static_assert(SameCall<decltype(CublasLtFunctions::version), decltype(&cublasLtGetVersion)>::value);

static_assert(kCublasAllocFailed == CUBLAS_STATUS_ALLOC_FAILED);
static_assert(kCublasNotSupported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(kDataFloat32 == CUDA_R_32F);
static_assert(kDataFloat64 == CUDA_R_64F);
static_assert(kDataFloat16 == CUDA_R_16F);
static_assert(kDataBFloat16 == CUDA_R_16BF);
static_assert(kComputeFloat32 == CUBLAS_COMPUTE_32F);
static_assert(kComputeFloat64 == CUBLAS_COMPUTE_64F);
static_assert(kNotTransposed == CUBLAS_OP_N);
static_assert(kTransposed == CUBLAS_OP_T);
static_assert(kDefaultGemm == CUBLAS_GEMM_DEFAULT);

static_assert(sizeof(LtAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(LtHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(LtHeuristic, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(LtHeuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(kLtTransposeA == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(kLtTransposeB == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(kLtEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE);
static_assert(kLtBiasPointer == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(kLtEpilogueBias == CUBLASLT_EPILOGUE_BIAS);
static_assert(kLtMaxWorkspaceBytes == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(kLtMinAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(kLtMinAlignmentB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(kLtMinAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(kLtMinAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);

TEST(CublasHeader, HasTheSymbolsThatAreLookedUp) {
#define OHM_ROW(member, header_name, symbol, ...) \
  EXPECT_STREQ(OHM_EXPANDED_TEXT(header_name), symbol);
  OHM_FOR_EACH_CUBLAS_FUNCTION(OHM_ROW)
  OHM_FOR_EACH_CUBLASLT_FUNCTION(OHM_ROW)
#undef OHM_ROW
}

// ---- cuDNN --------------------------------------------------------------------------------------

TEST(CudnnHeader, DeclaresWhatIsCalled) {
#if __has_include(<cudnn.h>)
#define OHM_ROW(member, symbol, ...)                                                  \
  static_assert(SameCall<decltype(CudnnFunctions::member), decltype(&symbol)>::value, \
                #symbol " has other parameters");                                     \
  EXPECT_STREQ(OHM_EXPANDED_TEXT(symbol), #symbol);
  OHM_FOR_EACH_CUDNN_FUNCTION(OHM_ROW)
#undef OHM_ROW
  static_assert(
      SameCall<decltype(CudnnFunctions::status_name), decltype(&cudnnGetErrorString)>::value);
  static_assert(SameCall<decltype(CudnnFunctions::version), decltype(&cudnnGetVersion)>::value);
  static_assert(sizeof(CudnnAlgorithm) == sizeof(cudnnConvolutionFwdAlgoPerf_t));
  static_assert(sizeof(CudnnAlgorithm) == sizeof(cudnnConvolutionBwdDataAlgoPerf_t));
  static_assert(sizeof(CudnnAlgorithm) == sizeof(cudnnConvolutionBwdFilterAlgoPerf_t));
  static_assert(offsetof(CudnnAlgorithm, workspace_bytes) ==
                offsetof(cudnnConvolutionFwdAlgoPerf_t, memory));
  static_assert(offsetof(CudnnAlgorithm, math) ==
                offsetof(cudnnConvolutionFwdAlgoPerf_t, mathType));
  static_assert(kCudnnFloat == CUDNN_DATA_FLOAT && kCudnnDouble == CUDNN_DATA_DOUBLE);
  static_assert(kCudnnHalf == CUDNN_DATA_HALF && kCudnnBFloat16 == CUDNN_DATA_BFLOAT16);
  static_assert(kCudnnRowMajor == CUDNN_TENSOR_NCHW);
  static_assert(kCudnnCrossCorrelation == CUDNN_CROSS_CORRELATION);
  static_assert(kCudnnDefaultMath == CUDNN_DEFAULT_MATH);
  static_assert(kCudnnTensorMath == CUDNN_TENSOR_OP_MATH);
  static_assert(kCudnnNoTensorMath == CUDNN_FMA_MATH);
  static_assert(kCudnnAverageWithPadding == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING);
  static_assert(kCudnnAverageWithoutPadding == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING);
  static_assert(kCudnnPropagateNan == CUDNN_PROPAGATE_NAN);
  static_assert(kCudnnSpatialBatchNorm == CUDNN_BATCHNORM_SPATIAL);
#if CUDNN_MAJOR >= 9
  static_assert(kCudnn9NotSupported == CUDNN_STATUS_NOT_SUPPORTED);
  static_assert(kCudnn9HostAllocFailed == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
  static_assert(kCudnn9DeviceAllocFailed == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
#else
  static_assert(kCudnn8AllocFailed == CUDNN_STATUS_ALLOC_FAILED);
  static_assert(kCudnn8NotSupported == CUDNN_STATUS_NOT_SUPPORTED);
#endif
#else
  GTEST_SKIP() << "cuDNN's header is not installed";
#endif
}

// ---- NCCL ---------------------------------------------------------------------------------------

TEST(NcclHeader, DeclaresWhatIsCalled) {
#if __has_include(<nccl.h>)
#define OHM_ROW(member, symbol, ...)                                                 \
  static_assert(SameCall<decltype(NcclFunctions::member), decltype(&symbol)>::value, \
                #symbol " has other parameters");                                    \
  EXPECT_STREQ(OHM_EXPANDED_TEXT(symbol), #symbol);
  OHM_FOR_EACH_NCCL_FUNCTION(OHM_ROW)
#undef OHM_ROW
  static_assert(
      SameCall<decltype(NcclFunctions::result_text), decltype(&ncclGetErrorString)>::value);
  static_assert(kNcclFloat16 == ncclFloat16 && kNcclFloat32 == ncclFloat32);
  static_assert(kNcclFloat64 == ncclFloat64 && kNcclBFloat16 == ncclBfloat16);
  static_assert(kNcclInt32 == ncclInt32 && kNcclInt64 == ncclInt64);
  static_assert(kNcclSum == ncclSum);
#else
  GTEST_SKIP() << "NCCL's header is not installed";
#endif
}

}  // namespace
}  // namespace ohm::cuda

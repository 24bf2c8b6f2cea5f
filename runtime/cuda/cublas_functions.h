// The functions of cuBLAS that ohm calls, as versions 12 and 13 have it in common. Declared here
// for the same reasons as the driver's functions, and compared with the header where a toolkit is
// installed.
#pragma once

#include "allocator_shim/device/cuda/driver_functions.h"

namespace ohm::cuda {

using CublasStatus = int;  ///< cublasStatus_t: 0 is success
using CublasHandle = struct OpaqueCublas*;

inline constexpr CublasStatus kCublasAllocFailed = 3;
inline constexpr CublasStatus kCublasNotSupported = 15;

// cudaDataType_t
inline constexpr int kDataFloat32 = 0;
inline constexpr int kDataFloat64 = 1;
inline constexpr int kDataFloat16 = 2;
inline constexpr int kDataBFloat16 = 14;
// cublasComputeType_t: halves are computed in float32, which is computed without TF32.
inline constexpr int kComputeFloat32 = 68;
inline constexpr int kComputeFloat64 = 70;
// cublasOperation_t
inline constexpr int kNotTransposed = 0;
inline constexpr int kTransposed = 1;
inline constexpr int kDefaultGemm = -1;  ///< cublasGemmAlgo_t

// ROW(name here, name in the header, symbol, parameters...)
#define OHM_FOR_EACH_CUBLAS_HANDLE_FUNCTION(ROW)                                          \
  ROW(create, cublasCreate_v2, "cublasCreate_v2", CublasHandle*)                          \
  ROW(destroy, cublasDestroy_v2, "cublasDestroy_v2", CublasHandle)                        \
  ROW(version, cublasGetVersion_v2, "cublasGetVersion_v2", CublasHandle, int*)            \
  ROW(set_stream, cublasSetStream_v2, "cublasSetStream_v2", CublasHandle, StreamHandle)   \
  ROW(set_workspace, cublasSetWorkspace_v2, "cublasSetWorkspace_v2", CublasHandle, void*, \
      std::size_t)
#define OHM_FOR_EACH_CUBLAS_PRODUCT_FUNCTION(ROW)                                             \
  ROW(gemm, cublasGemmEx, "cublasGemmEx", CublasHandle, int, int, int, int, int, const void*, \
      const void*, int, int, const void*, int, int, const void*, void*, int, int, int, int)   \
  ROW(gemm_strided_batched, cublasGemmStridedBatchedEx, "cublasGemmStridedBatchedEx",         \
      CublasHandle, int, int, int, int, int, const void*, const void*, int, int, long long,   \
      const void*, int, int, long long, const void*, void*, int, int, long long, int, int, int)

#define OHM_FOR_EACH_CUBLAS_FUNCTION(ROW)  \
  OHM_FOR_EACH_CUBLAS_HANDLE_FUNCTION(ROW) \
  OHM_FOR_EACH_CUBLAS_PRODUCT_FUNCTION(ROW)

/// One pointer for each function, by the name here.
struct CublasFunctions {
#define OHM_ROW(member, header_name, symbol, ...) CublasStatus (*member)(__VA_ARGS__) = nullptr;
  OHM_FOR_EACH_CUBLAS_FUNCTION(OHM_ROW)
#undef OHM_ROW
  /// cublasGetStatusName: "CUBLAS_STATUS_NOT_SUPPORTED".
  const char* (*status_name)(CublasStatus) = nullptr;
};

inline constexpr const char* kCublasStatusName = "cublasGetStatusName";

}  // namespace ohm::cuda

// The functions of cuBLASLt that ohm calls, as versions 12 and 13 have it in common: products with
// a bias.
#pragma once

#include "runtime/cuda/cublas_functions.h"

namespace ohm::cuda {

using CublasLtHandle = struct OpaqueCublasLt*;
using LtProduct = struct OpaqueLtProduct*;        ///< cublasLtMatmulDesc_t
using LtLayout = struct OpaqueLtLayout*;          ///< cublasLtMatrixLayout_t
using LtPreference = struct OpaqueLtPreference*;  ///< cublasLtMatmulPreference_t

struct LtAlgorithm {
  std::uint64_t data[8] = {};
};

/// cublasLtMatmulHeuristicResult_t
struct LtHeuristic {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes = 0;
  CublasStatus state = 0;
  float waves = 0;
  int reserved[4] = {};
};

// cublasLtMatmulDescAttributes_t, cublasLtEpilogue_t, cublasLtMatmulPreferenceAttributes_t
inline constexpr int kLtTransposeA = 3;
inline constexpr int kLtTransposeB = 4;
inline constexpr int kLtEpilogue = 7;
inline constexpr int kLtBiasPointer = 8;
inline constexpr std::uint32_t kLtEpilogueBias = 4;
inline constexpr int kLtMaxWorkspaceBytes = 1;
inline constexpr int kLtMinAlignmentA = 5;
inline constexpr int kLtMinAlignmentB = 6;
inline constexpr int kLtMinAlignmentC = 7;
inline constexpr int kLtMinAlignmentD = 8;

// ROW(name here, name in the header, symbol, parameters...)
#define OHM_FOR_EACH_CUBLASLT_FUNCTION(ROW)                                                        \
  ROW(create, cublasLtCreate, "cublasLtCreate", CublasLtHandle*)                                   \
  ROW(destroy, cublasLtDestroy, "cublasLtDestroy", CublasLtHandle)                                 \
  ROW(product_create, cublasLtMatmulDescCreate, "cublasLtMatmulDescCreate", LtProduct*, int, int)  \
  ROW(product_destroy, cublasLtMatmulDescDestroy, "cublasLtMatmulDescDestroy", LtProduct)          \
  ROW(product_set, cublasLtMatmulDescSetAttribute, "cublasLtMatmulDescSetAttribute", LtProduct,    \
      int, const void*, std::size_t)                                                               \
  ROW(layout_create, cublasLtMatrixLayoutCreate, "cublasLtMatrixLayoutCreate", LtLayout*, int,     \
      std::uint64_t, std::uint64_t, std::int64_t)                                                  \
  ROW(layout_destroy, cublasLtMatrixLayoutDestroy, "cublasLtMatrixLayoutDestroy", LtLayout)        \
  ROW(preference_create, cublasLtMatmulPreferenceCreate, "cublasLtMatmulPreferenceCreate",         \
      LtPreference*)                                                                               \
  ROW(preference_destroy, cublasLtMatmulPreferenceDestroy, "cublasLtMatmulPreferenceDestroy",      \
      LtPreference)                                                                                \
  ROW(preference_set, cublasLtMatmulPreferenceSetAttribute,                                        \
      "cublasLtMatmulPreferenceSetAttribute", LtPreference, int, const void*, std::size_t)         \
  ROW(heuristic, cublasLtMatmulAlgoGetHeuristic, "cublasLtMatmulAlgoGetHeuristic", CublasLtHandle, \
      LtProduct, LtLayout, LtLayout, LtLayout, LtLayout, LtPreference, int, LtHeuristic*, int*)    \
  ROW(product, cublasLtMatmul, "cublasLtMatmul", CublasLtHandle, LtProduct, const void*,           \
      const void*, LtLayout, const void*, LtLayout, const void*, const void*, LtLayout, void*,     \
      LtLayout, const LtAlgorithm*, void*, std::size_t, StreamHandle)

/// One pointer for each function, by the name here.
struct CublasLtFunctions {
#define OHM_ROW(member, header_name, symbol, ...) CublasStatus (*member)(__VA_ARGS__) = nullptr;
  OHM_FOR_EACH_CUBLASLT_FUNCTION(OHM_ROW)
#undef OHM_ROW
  /// cublasLtGetStatusName: "CUBLAS_STATUS_NOT_SUPPORTED".
  const char* (*status_name)(CublasStatus) = nullptr;
  std::size_t (*version)() = nullptr;
};

inline constexpr const char* kCublasLtStatusName = "cublasLtGetStatusName";
inline constexpr const char* kCublasLtVersion = "cublasLtGetVersion";

}  // namespace ohm::cuda

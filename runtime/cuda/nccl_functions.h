// The functions of NCCL 2 that ohm calls: collectives of the devices of one process.
#pragma once

#include "allocator_shim/device/cuda/driver_functions.h"

namespace ohm::cuda {

using NcclResult = int;  ///< ncclResult_t: 0 is success
using NcclComm = struct OpaqueNcclComm*;

// ncclDataType_t, ncclRedOp_t
inline constexpr int kNcclInt32 = 2;
inline constexpr int kNcclInt64 = 4;
inline constexpr int kNcclFloat16 = 6;
inline constexpr int kNcclFloat32 = 7;
inline constexpr int kNcclFloat64 = 8;
inline constexpr int kNcclBFloat16 = 9;
inline constexpr int kNcclSum = 0;

// ROW(name here, symbol, parameters...)
#define OHM_FOR_EACH_NCCL_FUNCTION(ROW)                                                            \
  ROW(version, ncclGetVersion, int*)                                                               \
  ROW(create_all, ncclCommInitAll, NcclComm*, int, const int*)                                     \
  ROW(destroy, ncclCommDestroy, NcclComm)                                                          \
  ROW(group_start, ncclGroupStart, void)                                                           \
  ROW(group_end, ncclGroupEnd, void)                                                               \
  ROW(all_reduce, ncclAllReduce, const void*, void*, std::size_t, int, int, NcclComm,              \
      StreamHandle)                                                                                \
  ROW(broadcast, ncclBroadcast, const void*, void*, std::size_t, int, int, NcclComm, StreamHandle) \
  ROW(reduce, ncclReduce, const void*, void*, std::size_t, int, int, int, NcclComm, StreamHandle)  \
  ROW(all_gather, ncclAllGather, const void*, void*, std::size_t, int, NcclComm, StreamHandle)     \
  ROW(reduce_scatter, ncclReduceScatter, const void*, void*, std::size_t, int, int, NcclComm,      \
      StreamHandle)

/// One pointer for each function, by the name here.
struct NcclFunctions {
#define OHM_ROW(member, symbol, ...) NcclResult (*member)(__VA_ARGS__) = nullptr;
  OHM_FOR_EACH_NCCL_FUNCTION(OHM_ROW)
#undef OHM_ROW
  /// ncclGetErrorString: "unhandled cuda error …".
  const char* (*result_text)(NcclResult) = nullptr;
};

inline constexpr const char* kNcclResultText = "ncclGetErrorString";

}  // namespace ohm::cuda

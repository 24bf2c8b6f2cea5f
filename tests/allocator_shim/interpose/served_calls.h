// A program that makes calls of CUDA as lines on its input ask it to, and prints a line about each.
#pragma once

#include <sstream>
#include <string>

namespace ohm::interpose {

/// Until the input ends:
///
///   take DEVICE MIB     cudaMalloc: its status
///   create DEVICE MIB   cuMemCreate: its status
///   drop                cudaFree of what was taken last: its status
///   free DEVICE         cudaMemGetInfo: MiB, or `failed STATUS`
///   used DEVICE         NVML's MiB
///   processes DEVICE    NVML's list: PROCESS:MIB...
///   fork                what cudaMalloc returns in a forked child
///   exec                the process becomes this program anew
///
/// and what serve_stream_call() knows.
int serve_calls();

/// What a call that has to do with streams and events returns. Stream 0 is the legacy default one,
/// 1 and 2 wait for nothing (cudaStreamNonBlocking), 3 is a blocking one.
///
///   launch STREAM             cudaLaunchKernel
///   fill STREAM               cudaMemsetAsync
///   read STREAM               cudaMemcpyAsync to pageable memory
///   read_pinned STREAM        the same to page-locked memory
///   copy                      cudaMemcpy to the host
///   record EVENT STREAM       cudaEventRecord
///   order STREAM EVENT        cudaStreamWaitEvent
///   event EVENT               cudaEventQuery
///   driver_event EVENT        cuEventQuery
///   stream STREAM             cudaStreamQuery
///   driver_stream STREAM      cuStreamQuery
///   elapsed EVENT EVENT       cudaEventElapsedTime
///   wait_event EVENT          cudaEventSynchronize
///   wait_stream STREAM        cudaStreamSynchronize
///   wait_device               cudaDeviceSynchronize
///   wait_context              cuCtxSynchronize
///   destroy STREAM            cudaStreamDestroy
///   call STREAM               cudaLaunchHostFunc
int serve_stream_call(const std::string& name, std::istringstream& arguments);

}  // namespace ohm::interpose

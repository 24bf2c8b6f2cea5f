// What a call of CUDA is to the program that makes it, by its name: which errors it can return, and
// what it means to make it after an error that stays.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "allocator_shim/interpose/call_library.h"

namespace ohm::interpose {

/// What a call is to the program that makes it.
enum class CallKind : std::uint8_t {
  launch,       ///< work that is handed over: its errors show later
  copy,         ///< the same, or a copy that is waited for
  wait,         ///< for work
  allocation,   ///< of GPU or pinned memory
  query,        ///< whether work is complete
  collective,   ///< NCCL's, with other ranks
  computation,  ///< of a mathematical library
  creation,     ///< of a library's handle
  preparation,  ///< what allocators ask first of all: whether a graph is captured
  other         ///< settings, questions, and what cleans up
};

constexpr bool is_work(CallKind kind) {
  return kind != CallKind::other && kind != CallKind::query && kind != CallKind::creation &&
         kind != CallKind::preparation;
}

/// Whether a program that makes the call means to go on with the GPU.
constexpr bool asks_for_work(CallKind kind) {
  return kind == CallKind::preparation || (is_work(kind) && kind != CallKind::wait);
}

namespace call_kind_detail {

template <std::size_t Size>
constexpr bool has_any(std::string_view name, const std::array<std::string_view, Size>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

/// Settings, questions, and what is done with things that are not needed any more.
constexpr bool only_manages(std::string_view name) {
  constexpr std::array<std::string_view, 18> kWords = {
      "Get",     "Set",     "Destroy",  "Free",      "Unload", "Unregister",
      "Unmap",   "Release", "Abort",    "Attribute", "Info",   "Version",
      "Capture", "IpcOpen", "IpcClose", "Workspace", "Bind",   "Profiler"};
  return has_any(name, kWords);
}

constexpr CallKind kind_in_cuda(std::string_view name) {
  constexpr std::array<std::string_view, 2> kLaunches = {"LaunchKernel", "GraphLaunch"};
  constexpr std::array<std::string_view, 4> kCopies = {"Memcpy", "Memset", "cuMemsetD", "cuMemcpy"};
  constexpr std::array<std::string_view, 4> kAllocations = {"cudaMalloc", "cudaHostAlloc",
                                                            "cuMemAlloc", "cuMemHostAlloc"};
  if (name.find("Node") != std::string_view::npos) return CallKind::other;
  if (name.find("IsCapturing") != std::string_view::npos ||
      name.find("GetCaptureInfo") != std::string_view::npos) {
    return CallKind::preparation;
  }
  if (has_any(name, kLaunches)) return CallKind::launch;
  if (name.find("Query") != std::string_view::npos) return CallKind::query;
  if (name.find("Synchronize") != std::string_view::npos) return CallKind::wait;
  if (name == "cuMemCreate" || has_any(name, kAllocations)) {
    return name.find("Free") == std::string_view::npos ? CallKind::allocation : CallKind::other;
  }
  if (has_any(name, kCopies) && !only_manages(name)) return CallKind::copy;
  return CallKind::other;
}

constexpr CallKind kind_in_nccl(std::string_view name) {
  constexpr std::array<std::string_view, 8> kCollectives = {
      "AllReduce", "AllGather", "Broadcast", "Bcast", "Reduce", "Send", "Recv", "AlltoAll"};
  if (name.find("CommInit") != std::string_view::npos) return CallKind::creation;
  return has_any(name, kCollectives) ? CallKind::collective : CallKind::other;
}

constexpr CallKind kind_in_mathematics(std::string_view name) {
  if (name.ends_with("Create") || name.ends_with("Create_v2")) {
    const bool is_handle = name == "cudnnCreate" || name.starts_with("cublasCreate") ||
                           name == "cublasLtCreate" || name.starts_with("cusolver") ||
                           name.starts_with("cusparseCreate") || name.starts_with("cufftCreate");
    return is_handle ? CallKind::creation : CallKind::other;
  }
  constexpr std::array<std::string_view, 10> kComputations = {
      "gemm", "Gemm", "Matmul", "gemv", "Forward", "Backward", "Execute", "Exec", "trsm", "dot"};
  return has_any(name, kComputations) && !only_manages(name) ? CallKind::computation
                                                             : CallKind::other;
}

}  // namespace call_kind_detail

constexpr CallKind kind_of_call(std::string_view name) {
  switch (library_of_call(name)) {
    case CallLibrary::none:
      return CallKind::other;
    case CallLibrary::cuda:
      return call_kind_detail::kind_in_cuda(name);
    case CallLibrary::nccl:
      return call_kind_detail::kind_in_nccl(name);
    default:
      return call_kind_detail::kind_in_mathematics(name);
  }
}

}  // namespace ohm::interpose

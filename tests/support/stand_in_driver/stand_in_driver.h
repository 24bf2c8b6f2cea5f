// A driver for tests: the functions of NVIDIA's driver and of NVML that ohm calls, in a library of
// its own, on virtual cards. It counts memory as a card does, checks how it is used, and fails when
// it is told to.
//
// Tests open it by its path (OHM_STAND_IN_DRIVER) and steer it with what follows; the program is
// steered by the variable OHM_STAND_IN with the same words: "devices=2 capacity=67108864
// context=4194304 version=13000 others=2 fail=cuMemAlloc_v2:3:700" (the fourth call answers 700);
// with "strict=1" misuse ends the process; with "visible=environment" the program sees the cards
// that CUDA_VISIBLE_DEVICES names alone, as a real driver's. Kernels are run as their twins on the
// host. NVIDIA's libraries of mathematics are there too, with loops of the host for kernels:
// "cudnn_version=8907", and "cudnn_workspace=4096" where every algorithm needs so much,
// "cudnn_random=1" where the fastest is not deterministic, "reserved=4096" for what a driver keeps
// for itself; "capability=90" for cards of compute capability 9.0, and "compiles=rows:2500:FILE"
// where loading the kernels of rows.cu takes 2.5 s unless there is FILE, which it then makes, as a
// driver does that compiles them and keeps the result. "wrong=ohm_relu_float32" or
// "wrong=cublasGemmEx" is a kernel or a function of a library that computes something else.
#pragma once

namespace ohm::stand_in {

/// Names of the functions that the library has besides, to be looked up by dlsym().
inline constexpr const char* kReset = "stand_in_reset";
inline constexpr const char* kMisuse = "stand_in_misuse";
inline constexpr const char* kHeldBytes = "stand_in_held_bytes";
inline constexpr const char* kCalls = "stand_in_calls";

inline constexpr const char* kWorkspace = "stand_in_workspace";

/// A new machine, with the words that describe it.
using Reset = void(const char* words);
/// What was done wrong so far, a line each; empty when nothing was.
using Misuse = const char*();
/// Segments, chunks, pinned memory, streams and events that were not given back.
using HeldBytes = unsigned long long();
/// The address of the workspace that a library was given last; 0: none.
using Workspace = unsigned long long();
/// Calls of the function of this name since the reset.
using Calls = int(const char* symbol);

}  // namespace ohm::stand_in

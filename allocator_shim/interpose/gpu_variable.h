// The environment variable that says which virtual GPUs a program sees.
#pragma once

namespace ohm::interpose {

/// `NAME[,capacity=SIZE][,count=N]`; nothing: kDefaultGpu.
inline constexpr const char* kGpusVariable = "OHM_GPU";
inline constexpr const char* kDefaultGpu = "a100-80g";

}  // namespace ohm::interpose

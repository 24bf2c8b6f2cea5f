// Files of PyTorch as stacks of recorded snapshots name them, and where the samples' segments
// start.
#pragma once

#include <cstdint>

namespace ohm::reports {

inline constexpr const char* kFunctional =
    "/venv/lib/python3.11/site-packages/torch/nn/functional.py";
inline constexpr const char* kLinear =
    "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py";
inline constexpr const char* kModule =
    "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py";

inline constexpr std::uint64_t kBase = 0x7f0000000000;

}  // namespace ohm::reports

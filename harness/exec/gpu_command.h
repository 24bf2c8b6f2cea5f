// A command made to see virtual GPUs, and to record what its processes do with their memory.
#pragma once

#include <string>
#include <vector>

#include "harness/exec/child_command.h"

namespace ohm::engine {

/// The command that `words` are, with the library preloaded that takes CUDA's place, and in each
/// Python of it what prepares PyTorch (harness/record/sitecustomize.py). `gpus` as
/// parse_gpu_selection() reads it. Throws std::invalid_argument that says why nothing can be
/// preloaded into it, or that it is not found; GpuUnavailable where the library is missing.
ChildCommand gpu_command(const std::vector<std::string>& words, const std::string& gpus);

/// Makes all processes of a command of gpu_command() compete for the memory of the same GPUs, which
/// they count in a file of this folder (gpu_table.h). Throws std::invalid_argument that says why
/// there can be none.
void share_gpus(ChildCommand& command, const std::string& folder);

/// Makes every Python of a command of gpu_command() record its memory to the folder.
void add_recorder(ChildCommand& command, const std::string& folder);
/// Makes every other process of it record what it requests of the GPUs to the folder.
void add_device_recorder(ChildCommand& command, const std::string& folder);

}  // namespace ohm::engine

// Virtual GPUs as options name them: a profile, or a file with one.
#pragma once

#include <string>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"

namespace ohm::cli {

/// A name with a slash, or that ends in .json, .txt or .log, is the path of a file, which is read
/// (engine::read_gpu_file). Throws UsageError.
GpuSelection gpu_selection(const std::string& text);

/// The same as text that parse_gpu_selection() reads, for other processes: GPUs of nvidia-smi's
/// output by their name and memory; any other text as it is.
std::string named_gpus(const std::string& text);

/// The same, or every whole GPU of the table: "all".
std::vector<GpuSelection> gpu_selections(const std::string& text);

}  // namespace ohm::cli

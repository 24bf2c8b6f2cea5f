// Virtual GPUs as options name them: a profile, or a file with one.
#pragma once

#include <string>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"

namespace ohm::cli {

/// A name with a slash, or that ends in .json, is the path of a file (ohm verify-device
/// --write-profile), which is read. Throws UsageError.
GpuSelection gpu_selection(const std::string& text);

/// The same, or every GPU of the table: "all".
std::vector<GpuSelection> gpu_selections(const std::string& text);

}  // namespace ohm::cli

// Cards as `nvidia-smi -q` prints them.
#pragma once

#include <string>
#include <string_view>

#include "allocator_shim/device/gpu_profile.h"

namespace ohm::engine {

/// Whether a text is meant to be one: it has the tool's headline, or a section for a GPU.
bool is_nvidia_smi_text(std::string_view text);

/// The GPUs of the text, or its MIG devices where there are some: a profile of the table with the
/// text's memory, and how many there are. All have to be alike, as they are in a selection. Throws
/// std::invalid_argument that names `path` and the line of what is missing or wrong.
GpuSelection read_nvidia_smi_text(const std::string& path, std::string_view text);

}  // namespace ohm::engine

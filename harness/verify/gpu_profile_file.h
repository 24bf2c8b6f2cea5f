// Profiles of virtual GPUs in files: the measurements of a card.
#pragma once

#include <string>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"
#include "harness/machine/cuda_devices.h"
#include "reports/model/verification_result.h"

namespace ohm::engine {

/// A virtual GPU like the first card: JSON. What convolutions took, a virtual GPU takes as well;
/// what libraries took by op is there to be read.
std::string gpu_profile_json(const FoundCudaDevices& found, const CardVerification& table);

/// Reads such a file, whose path becomes the profile's name: the name leads to the file; or the
/// output of nvidia-smi -q (nvidia_smi_text.h), whose GPUs keep the names of the table.
/// `file` of the selection is set for the former. Throws std::invalid_argument that says what is
/// wrong with it, and where.
GpuSelection read_gpu_file(const std::string& path);

}  // namespace ohm::engine

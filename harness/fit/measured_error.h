// How far figures of commands were from what real cards measured (docs/accuracy.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"
#include "reports/model/fit_result.h"

namespace ohm::engine {

/// Of jobs like one that ran on such GPUs with that PyTorch, and whose figures rest on the
/// assumptions of these names; nullopt where none was measured.
std::optional<FitError> measured_error(const GpuSelection& gpu, std::string_view torch_version,
                                       const std::vector<std::string>& assumptions);

}  // namespace ohm::engine

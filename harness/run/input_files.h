// The files that a run reads and must not write over.
#pragma once

#include <string>
#include <vector>

#include "harness/run/run_options.h"

namespace ohm::engine {

/// The scenarios, the modules that they require by name, the baselines that lie beside
/// them, and the file of the GPU.
std::vector<std::string> input_files(const RunOptions& run);

}  // namespace ohm::engine

// Input of the commands that look at results: JSON of ohm run, or a memory snapshot of PyTorch.
#pragma once

#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// Whether the file begins as a pickle does, which no JSON does.
bool is_pickle(const std::string& path);

/// Of what --report json=PATH wrote, or of a snapshot. Throws ResultError, PickleError.
RunResult read_result_or_snapshot(const std::string& path);

}  // namespace ohm::reports

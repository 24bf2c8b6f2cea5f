// The reader of a sweep's JSON (ohm.sweep/1), as far as heat maps show it.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/sweep_result.h"

namespace ohm::reports {

/// Names, points and verdicts. Throws ResultError that names the place.
SweepResult read_sweep(std::string_view json);

/// The same of a file; its path stands before the message.
SweepResult read_sweep_file(const std::string& path);

}  // namespace ohm::reports

// Errors of scripts, and their results.
#pragma once

#include <string>

#include "harness/scenario/scenario_program.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

/// "file:line: why"; without a line (0) "file: why".
ScriptError script_error_at(const std::string& file, int line, const std::string& why,
                            const std::string& hint);

ErrorResult error_result(const ScriptError& error);

}  // namespace ohm::engine

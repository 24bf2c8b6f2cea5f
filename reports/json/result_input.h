// Input of the commands that look at results: JSON of ohm run, or a memory snapshot of PyTorch.
#pragma once

#include <string>
#include <variant>

#include "allocator_shim/base/input_file.h"
#include "reports/model/run_result.h"
#include "reports/model/verification_result.h"

namespace ohm::reports {

/// Whether the file begins as a pickle does, which no JSON does.
bool is_pickle(InputFile& file, const std::string& path);
/// The same; a pipe is told by its name alone. False for what cannot be read.
bool is_pickle(const std::string& path);

/// Of what --report json=PATH wrote, or of a snapshot. Throws ResultError, PickleError.
RunResult read_result_or_snapshot(const std::string& path);
/// Of a file that is open: `path` is for messages.
RunResult read_result_or_snapshot(InputFile& file, const std::string& path);

/// The same, or of what ohm verify-device --report json=PATH wrote.
std::variant<RunResult, VerificationResult> read_report_input(const std::string& path);

}  // namespace ohm::reports

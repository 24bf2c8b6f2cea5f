// A result from its JSON: what json_report(), sweep_json() or verification_json() wrote, of this
// version or an older one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "allocator_shim/base/input_file.h"
#include "reports/model/run_result.h"
#include "reports/model/sweep_result.h"
#include "reports/model/verification_result.h"

namespace ohm::reports {

/// The file is not a result, or one of a newer program. Says where and why.
class ResultError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Members that are not known are passed over. Throws ResultError.
RunResult read_result(std::string_view json);

/// The same, of JSON that is parsed.
RunResult result_of(const nlohmann::json& json);

/// The same, with the path before the message; also for a file that cannot be read.
RunResult read_result_file(const std::string& path);
/// Of a file that is open: `path` is for messages.
RunResult read_result_file(InputFile& file, const std::string& path);

/// Of a file that is open, whichever of the two it is; as read_result_file().
std::variant<RunResult, VerificationResult> read_run_or_verification(InputFile& file,
                                                                     const std::string& path);

/// A sweep's report, whole: what sweep_json() wrote. Throws ResultError.
SweepResult read_whole_sweep(std::string_view json);

/// What verification_json() wrote. Throws ResultError.
VerificationResult read_verification(std::string_view json);
/// The same, of JSON that is parsed.
VerificationResult verification_of(const nlohmann::json& json);

}  // namespace ohm::reports

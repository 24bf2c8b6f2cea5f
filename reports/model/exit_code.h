// The exit codes of ohm, all of them, and which one wins when several things went wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ohm {

/// Why a run ended as it did. In JSON: `exit_reason`.
enum class ExitReason : std::uint8_t {
  passed,
  failed,
  usage,
  script_error,
  internal_error,
  nothing_selected,
  unavailable,
  timeout,
  interrupted,
};

struct ExitCode {
  std::string_view reason;  ///< as JSON spells it
  int code;                 ///< of the process
  int precedence;           ///< the highest of a mixed run wins
  std::string_view meaning;
};

/// Indexed by ExitReason.
inline constexpr std::array<ExitCode, 9> kExitCodes = {{
    {"passed", 0, 0, "every variant did what its role says"},
    {"failed", 1, 1, "a limit, an expectation, an equivalence or a baseline failed"},
    {"usage", 2, 7, "a usage error, or a report that cannot be written"},
    {"script_error", 3, 3, "a scenario could not run: script error, missing file, a cap was hit"},
    {"internal_error", 4, 6, "an internal error, or the process of a variant crashed"},
    {"nothing_selected", 5, 0, "nothing was selected"},
    {"unavailable", 6, 2, "a device or a feature is not available"},
    {"timeout", 124, 4, "a variant ran longer than --timeout"},
    {"interrupted", 128, 5, "ended by a signal: 128 + its number"},
}};

constexpr const ExitCode& exit_code(ExitReason reason) {
  return kExitCodes[static_cast<std::size_t>(reason)];
}

constexpr std::string_view name_of(ExitReason reason) { return exit_code(reason).reason; }
constexpr std::size_t word_count(ExitReason /*of*/) { return kExitCodes.size(); }

/// The code of the process: of one that a signal interrupted, with the signal's number.
constexpr int process_code(ExitReason reason, int signal) {
  return exit_code(reason).code + (reason == ExitReason::interrupted ? signal : 0);
}

/// Of two reasons the one that the process ends with.
constexpr ExitReason worse_of(ExitReason a, ExitReason b) {
  return exit_code(a).precedence >= exit_code(b).precedence ? a : b;
}

}  // namespace ohm

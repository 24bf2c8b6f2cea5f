// The words of a result: closed sets, each with the spelling that scripts, tables and JSON use.
//
// An enum and its table of names stand next to each other and are indexed by the enum's value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ohm {

/// What a variant is for. A reference only gives the numbers to compare with: it is not judged.
enum class Role : std::uint8_t { problem, mitigation, partial, non_fix, control, check, reference };

struct RoleName {
  std::string_view name;   ///< "mitigation": `--case`, JSON, tables
  std::string_view group;  ///< "mitigations": the field of ohm.scenario that lists such variants
};

inline constexpr std::array<RoleName, 7> kRoleNames = {{{"problem", "problems"},
                                                        {"mitigation", "mitigations"},
                                                        {"partial", "partials"},
                                                        {"non_fix", "non_fixes"},
                                                        {"control", "controls"},
                                                        {"check", "checks"},
                                                        {"reference", "references"}}};

/// Of one role, or of those that have it.
constexpr bool is_role_name(std::string_view name) {
  return std::any_of(kRoleNames.begin(), kRoleNames.end(),
                     [&](const RoleName& role) { return role.name == name || role.group == name; });
}

constexpr std::string_view name_of(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)].name;
}
constexpr std::size_t word_count(Role /*of*/) { return kRoleNames.size(); }

/// `recorded`: the record of another program, of which nothing was asked that could be judged.
enum class Verdict : std::uint8_t { passed, failed, error, skipped, recorded };

inline constexpr std::array<std::string_view, 5> kVerdictNames = {"passed", "failed", "error",
                                                                  "skipped", "recorded"};

constexpr std::string_view name_of(Verdict verdict) {
  return kVerdictNames[static_cast<std::size_t>(verdict)];
}
constexpr std::size_t word_count(Verdict /*of*/) { return kVerdictNames.size(); }

/// How a variant's process ended, before it is judged.
enum class Outcome : std::uint8_t {
  completed,  ///< the function returned
  oom,        ///< an out-of-memory error left it
  error,      ///< another error left it
  timeout,    ///< it was killed after `--timeout`
  crashed,    ///< a signal or an unexpected exit ended it
  not_run,    ///< the run was interrupted, or stopped at an earlier failure
};

inline constexpr std::array<std::string_view, 6> kOutcomeNames = {
    "completed", "oom", "error", "timeout", "crashed", "not run"};

constexpr std::string_view name_of(Outcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}
constexpr std::size_t word_count(Outcome /*of*/) { return kOutcomeNames.size(); }

/// It reported what it did: no signal or time limit ended it.
constexpr bool has_end_of_its_own(Outcome outcome) {
  return outcome == Outcome::completed || outcome == Outcome::oom || outcome == Outcome::error;
}
/// That, and no mistake of the script cut it short: its figures are those of the variant.
constexpr bool has_figures(Outcome outcome) {
  return outcome == Outcome::completed || outcome == Outcome::oom;
}

/// Whether a variant computed what its reference computed.
enum class Equivalence : std::uint8_t {
  not_checked,  ///< size-only devices, nothing returned, or no reference
  same,
  different,
  trade,  ///< differs by its nature; what must still agree does
};

inline constexpr std::array<std::string_view, 4> kEquivalenceNames = {"not checked", "same",
                                                                      "different", "trade"};

constexpr std::string_view name_of(Equivalence equivalence) {
  return kEquivalenceNames[static_cast<std::size_t>(equivalence)];
}
constexpr std::size_t word_count(Equivalence /*of*/) { return kEquivalenceNames.size(); }

/// Why a variant failed: CI servers group failures by it.
enum class FailureType : std::uint8_t {
  none,            ///< it did not fail
  not_reproduced,  ///< a problem that does nothing wrong, or a non-fix that helps
  limit_exceeded,  ///< a limit is broken, or the memory is not enough
  leak_slope,      ///< memory grows from step to step, in a recorded snapshot
  not_equivalent,  ///< it computed other values than its reference
  fault_unsafe,    ///< an injected fault ended what should survive it
  baseline_regression,
};

inline constexpr std::array<std::string_view, 7> kFailureTypeNames = {"",
                                                                      "NotReproduced",
                                                                      "LimitExceeded",
                                                                      "LeakSlope",
                                                                      "NotEquivalent",
                                                                      "FaultUnsafe",
                                                                      "BaselineRegression"};

constexpr std::string_view name_of(FailureType type) {
  return kFailureTypeNames[static_cast<std::size_t>(type)];
}
constexpr std::size_t word_count(FailureType /*of*/) { return kFailureTypeNames.size(); }

}  // namespace ohm

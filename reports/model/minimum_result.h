// The least memory that variants need, and what fails with less.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/exit_code.h"
#include "reports/model/fields.h"
#include "reports/model/run_result.h"

namespace ohm {

/// In steps of which the least memory is looked for: the driver's own.
inline constexpr std::int64_t kMinimumGranuleBytes = std::int64_t{2} << 20U;

/// Why a capacity is not enough.
enum class Shortage : std::uint8_t {
  no_device,    ///< nothing is left beside the context
  oom,          ///< an out-of-memory error ended the variant
  handled_oom,  ///< the program caught one
  retry,        ///< cached memory was given back
  error,        ///< another error ended the variant
};

inline constexpr std::array<std::string_view, 5> kShortageNames = {"no_device", "oom",
                                                                   "handled_oom", "retry", "error"};

constexpr std::string_view name_of(Shortage shortage) {
  return kShortageNames[static_cast<std::size_t>(shortage)];
}
constexpr std::size_t word_count(Shortage /*of*/) { return kShortageNames.size(); }

/// An out-of-memory error as the JSON of least memory has it.
struct BriefOom {
  std::int64_t requested_bytes = 0;
  std::string op;
  std::string file;
  int line = 0;
  std::int64_t step = 1;
  std::string device;

  static constexpr const char* kSchemaName = "oom";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = BriefOom;
    visit("requested_bytes", &T::requested_bytes);
    visit("op", &T::op);
    visit("file", &T::file);
    visit("line", &T::line);
    visit("step", &T::step);
    visit("device", &T::device);
  }
};

/// A capacity of the device that is enough, and what happens with one granule less.
struct MinimumCapacity {
  std::int64_t bytes = 0;
  std::string rerun;  ///< the command that passes
  Shortage shortage = Shortage::no_device;
  std::string fails_rerun;         ///< the command that does not; empty: there is no such device
  std::optional<OomResult> fails;  ///< of shortage oom

  static std::optional<std::string> failing_command(const MinimumCapacity& of) {
    if (of.fails_rerun.empty()) return std::nullopt;
    return of.fails_rerun;
  }
  static std::optional<BriefOom> failure(const MinimumCapacity& of) {
    if (!of.fails) return std::nullopt;
    const OomResult& oom = *of.fails;
    return BriefOom{oom.requested_bytes, oom.op, oom.file, oom.line, oom.step, oom.device};
  }

  static constexpr const char* kSchemaName = "minimum";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = MinimumCapacity;
    visit("bytes", &T::bytes);
    visit("rerun", &T::rerun);
    visit("shortage", &T::shortage);
    visit("fails_rerun", &T::fails_rerun, kUnwritten);
    visit("fails", &T::fails, kUnwritten);
    visit("fails_rerun", &failing_command);
    visit("fails", &failure);
  }
};

struct VariantMinimum {
  std::string name;
  Role role = Role::mitigation;
  std::optional<ErrorResult> error;  ///< why nothing can be said
  MinimumCapacity without_retry;     ///< no cached memory has to be given back
  MinimumCapacity with_retries;      ///< never out of memory

  static std::optional<std::string> message(const VariantMinimum& of) {
    if (!of.error) return std::nullopt;
    return of.error->message;
  }
  static std::optional<MinimumCapacity> least_without_retry(const VariantMinimum& of) {
    return of.error ? std::nullopt : std::optional(of.without_retry);
  }
  static std::optional<MinimumCapacity> least_with_retries(const VariantMinimum& of) {
    return of.error ? std::nullopt : std::optional(of.with_retries);
  }

  static constexpr const char* kSchemaName = "variant";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = VariantMinimum;
    visit("name", &T::name);
    visit("role", &T::role);
    visit("error", &T::error, kUnwritten);
    visit("without_retry", &T::without_retry, kUnwritten);
    visit("with_retries", &T::with_retries, kUnwritten);
    visit("error", &message);
    visit("without_retry", &least_without_retry, Presence::optional);
    visit("with_retries", &least_with_retries, Presence::optional);
  }
};

struct ScenarioMinimum {
  std::string name;
  std::string file;
  std::optional<ErrorResult> error;
  std::vector<VariantMinimum> variants;

  static std::optional<std::string> message(const ScenarioMinimum& of) {
    if (!of.error) return std::nullopt;
    return of.error->message;
  }

  static constexpr const char* kSchemaName = "scenario";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ScenarioMinimum;
    visit("name", &T::name);
    visit("file", &T::file);
    visit("error", &T::error, kUnwritten);
    visit("variants", &T::variants);
    visit("error", &message);
  }
};

struct MinimumResult {
  ExitReason exit_reason = ExitReason::passed;
  std::vector<ScenarioMinimum> scenarios;

  static constexpr const char* kSchemaName = "minimum_result";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = MinimumResult;
    visit("exit_reason", &T::exit_reason);
    visit("scenarios", &T::scenarios);
  }
};

}  // namespace ohm

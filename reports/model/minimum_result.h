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

/// A capacity of the device that is enough, and what happens with one granule less.
struct MinimumCapacity {
  std::int64_t bytes = 0;
  std::string rerun;  ///< the command that passes
  Shortage shortage = Shortage::no_device;
  std::string fails_rerun;         ///< the command that does not; empty: there is no such device
  std::optional<OomResult> fails;  ///< of shortage oom
};

struct VariantMinimum {
  std::string name;
  Role role = Role::mitigation;
  std::optional<ErrorResult> error;  ///< why nothing can be said
  MinimumCapacity without_retry;     ///< no cached memory has to be given back
  MinimumCapacity with_retries;      ///< never out of memory
};

struct ScenarioMinimum {
  std::string name;
  std::string file;
  std::optional<ErrorResult> error;
  std::vector<VariantMinimum> variants;
};

struct MinimumResult {
  ExitReason exit_reason = ExitReason::passed;
  std::vector<ScenarioMinimum> scenarios;
};

}  // namespace ohm

// The least memory that variants need, and what fails with less.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/exit_code.h"
#include "reports/run_result.h"

namespace ohm {

/// In steps of which the least memory is looked for: the driver's own.
inline constexpr std::int64_t kMinimumGranuleBytes = std::int64_t{2} << 20U;

/// A capacity of the device that is enough, and what happens with one granule less.
struct MinimumCapacity {
  std::int64_t bytes = 0;
  std::string rerun;        ///< the command that passes
  std::string fails_rerun;  ///< the command that does not
  /// What it fails with; absent when it is a retry, or when less than the context is left.
  std::optional<OomResult> fails;
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

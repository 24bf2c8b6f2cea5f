// A scenario as ohm list shows it: described, not run.
#pragma once

#include <optional>

#include "harness/scenario/scenario.h"
#include "reports/model/exit_code.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

/// A file's validated description, or why there is none; in the order of the files.
struct ListedScenario {
  ScenarioDescription description;
  std::optional<ErrorResult> error;
  ExitReason error_reason = ExitReason::passed;
};

}  // namespace ohm::engine

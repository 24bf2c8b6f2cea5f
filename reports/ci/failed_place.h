// The line that a CI server shows a failure at.
#pragma once

#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

struct FailedPlace {
  std::string file;  ///< empty: no file of the user's is known
  int line = 0;      ///< 0: unknown
};

/// Where a variant failed: its error, the request that found no memory, the largest line of what
/// broke its gate; failing all of them, where the variant stands. Never a library's file.
FailedPlace failed_place(const ScenarioResult& scenario, const VariantResult& variant);

/// Where a scenario could not be loaded. Pre-condition: it has an error.
FailedPlace place_of_load_error(const ScenarioResult& scenario);

/// A file that `scenario` names, from the top of its repository, as CI servers name files.
std::string repository_path(const ScenarioResult& scenario, const std::string& file);

}  // namespace ohm::reports

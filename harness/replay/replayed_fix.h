// The savings of a recorded job's fix, as replay computes them.
#pragma once

#include <string>

#include "reports/model/run_result.h"

namespace ohm::engine {

/// A sentence on the snapshot in `file`, of which `variant` is what was read from it; empty where
/// no fix can be computed, or the record does not tell. Of what finding comes first: segments that
/// grow, and what its lines make being freed at the end of its step; without one a fused optimizer,
/// where memory ran out, or the module that made the most being checkpointed.
struct ReplayedFix {
  std::string text;
  bool serves_request = false;  ///< the one that ran out of memory
};

ReplayedFix replayed_fix(const std::string& file, const VariantResult& variant);

}  // namespace ohm::engine

// The rule of each role: when it passes, and the sentence that says why.
#pragma once

#include <optional>
#include <string>

#include "harness/judge/evidence.h"
#include "reports/model/vocabulary.h"

namespace ohm::engine {

struct Judgement {
  Verdict verdict = Verdict::passed;
  FailureType failure_type = FailureType::none;  ///< with verdict failed
  std::string reason;
  std::optional<double> recovered_share;
};

Judgement judgement_of(const Evidence& evidence);

}  // namespace ohm::engine

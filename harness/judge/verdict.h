// The rule of each role: when it passes, and the sentence that says why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/judge/equivalence.h"
#include "harness/judge/limit.h"
#include "harness/scenario/scenario.h"

namespace ohm::engine {

/// A limit on the judged variant, and the same limit on the problem it belongs to.
struct JudgedLimit {
  Limit limit;
  EvaluatedLimit evaluated;
  EvaluatedLimit on_problem;
};

/// All that a rule looks at.
struct Evidence {
  const VariantDescription& description;
  const MeasuredVariant& measured;
  const MeasuredVariant* problem = nullptr;  ///< the one in `of`; nullptr: none
  std::vector<JudgedLimit> limits;
  Comparison comparison;
  std::string no_reference;  ///< why there is nothing to compare with; empty: there is
};

struct Judgement {
  Verdict verdict = Verdict::passed;
  FailureType failure_type = FailureType::none;  ///< with verdict failed
  std::string reason;
  std::optional<double> recovered_share;
};

Judgement judgement_of(const Evidence& evidence);

}  // namespace ohm::engine

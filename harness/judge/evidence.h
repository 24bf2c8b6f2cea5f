// Evidence: all that the rule of a role looks at, and what a verdict says of it.
#pragma once

#include <algorithm>
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

struct Evidence {
  Evidence(const VariantDescription& variant, const MeasuredVariant& run)
      : description(variant), measured(run) {}

  const VariantDescription& description;
  const MeasuredVariant& measured;
  const MeasuredVariant* problem = nullptr;  ///< the one in `of`; nullptr: none
  /// The same variant on a larger GPU, without faults; nullptr: it was not run there.
  const MeasuredVariant* on_larger_gpu = nullptr;
  /// The reference that completed; nullptr: there is none, or no values are compared.
  const MeasuredVariant* reference = nullptr;
  std::vector<JudgedLimit> limits;
  Comparison comparison;
  std::string no_reference;  ///< why there is nothing to compare with; empty: there is
  std::string
      missing_value;  ///< what it or its reference did not return, or neither; empty: nothing
};

/// The variant's run where it completed, else the one on a larger GPU where that did; nullptr where
/// neither did.
const MeasuredVariant* completed_run(const Evidence& evidence);
/// What that run returned; empty where there is none.
const ReturnedValues& returned_values(const Evidence& evidence);

bool ran_out_of_memory(const Evidence& evidence);
bool breaks(const JudgedLimit& limit);
bool breaks_on_problem(const JudgedLimit& limit);
/// It could not be told, and not because the devices are size-only.
bool is_untold(const JudgedLimit& limit);
/// A figure or a value is missing because the devices are size-only, and it would have decided.
bool is_unchecked(const JudgedLimit& limit);

template <class Predicate>
const JudgedLimit* first_limit(const Evidence& evidence, Predicate&& predicate) {
  const auto found = std::find_if(evidence.limits.begin(), evidence.limits.end(), predicate);
  return found == evidence.limits.end() ? nullptr : &*found;
}

/// "1.50 MiB"
std::string measured_figure(const LimitResult& limit);
/// "growth_bytes_per_step == 0: 1.00 KiB and 1 more", of the broken limits; there is one.
std::string broken_text(const Evidence& evidence);
/// "holds peak_allocated_bytes < 2 MiB: 1.50 MiB", "all 3 limits hold".
std::string holding_text(const Evidence& evidence);
/// "OOM in step 4: 2.00 KiB for linear"
std::string oom_text(const Evidence& evidence);
/// "at = step, fits = false", shortened: what a check's own figures were.
std::string returned_text(const ReturnedValues& values);
/// "trades the optimizer; first_loss, finite agree; ", or nothing.
std::string trade_text(const Evidence& evidence);

}  // namespace ohm::engine

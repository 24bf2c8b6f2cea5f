// A conclusion in three lines: the cause, the line of the program, the remedy.
#pragma once

#include <string>
#include <vector>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// "Cause: …", "Line: train.py:21: losses.append(loss)", "Suggestion: …" or, where a replay has
/// shown it, "Remedy, proved by replay: …". What is not known has no line.
std::vector<std::string> conclusion_lines(const ConclusionResult& conclusion);

/// What the card holds beside tensors when memory has run out: "private pools of CUDA graphs" and
/// its bytes, largest first.
std::vector<std::pair<std::string, std::int64_t>> beside_tensors(const OomResult& oom);

}  // namespace ohm::reports

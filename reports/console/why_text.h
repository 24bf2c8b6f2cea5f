// The reason why a job ran out of memory, in one paragraph, from a log or a result.
#pragma once

#include <cstddef>
#include <string>

#include "reports/conclusion/oom_advice.h"
#include "reports/model/run_result.h"
#include "reports/text/crash_log.h"

namespace ohm::reports {

inline constexpr std::size_t kMostWhyLines = 10;

/// What the log tells beside its figures.
Circumstances circumstances_of(const CrashLog& log);

/// What the log says, the cause, what to do, and the lines to put into the job to learn more. At
/// most kMostWhyLines lines of at most `columns`, where that are 80 or more.
std::string why_text(const CrashLog& log, std::size_t columns);

/// Of the first variant that ran out of memory, else the first with a finding, else the peak. What
/// a replay says of it can be added: `replayed`, one sentence or nothing.
std::string why_text(const RunResult& result, const std::string& replayed, std::size_t columns);

/// The variant of which it tells; nullptr: the result has none with figures.
const VariantResult* why_variant(const RunResult& result);
VariantResult* why_variant(RunResult& result);

}  // namespace ohm::reports

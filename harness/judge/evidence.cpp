#include "harness/judge/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "reports/text/measured_text.h"

namespace ohm::engine {

const MeasuredVariant* completed_run(const Evidence& evidence) {
  for (const MeasuredVariant* run : {&evidence.measured, evidence.on_larger_gpu}) {
    if (run != nullptr && run->outcome == Outcome::completed) return run;
  }
  return nullptr;
}

const ReturnedValues& returned_values(const Evidence& evidence) {
  static const ReturnedValues kNone;
  const MeasuredVariant* run = completed_run(evidence);
  return run == nullptr ? kNone : run->values;
}

bool breaks(const JudgedLimit& limit) {
  return limit.evaluated.result.holds && !*limit.evaluated.result.holds;
}

bool breaks_on_problem(const JudgedLimit& limit) {
  return limit.on_problem.result.holds && !*limit.on_problem.result.holds;
}

bool is_untold(const JudgedLimit& limit) {
  return !limit.evaluated.result.holds && !limit.evaluated.needs_values;
}

bool ran_out_of_memory(const Evidence& evidence) {
  return evidence.measured.outcome == Outcome::oom;
}

std::string measured_figure(const LimitResult& limit) {
  return reports::short_figure(limit.measured.value_or(0), limit.unit);
}

std::string broken_text(const Evidence& evidence) {
  const LimitResult& first = first_limit(evidence, breaks)->evaluated.result;
  const auto count = std::count_if(evidence.limits.begin(), evidence.limits.end(), breaks);
  return fmt::format("{}: {}{}", first.limit, measured_figure(first),
                     count > 1 ? fmt::format(" and {} more", count - 1) : "");
}

std::string holding_text(const Evidence& evidence) {
  const auto count = static_cast<std::ptrdiff_t>(evidence.limits.size());
  const auto held = std::count_if(
      evidence.limits.begin(), evidence.limits.end(),
      [](const JudgedLimit& limit) { return limit.evaluated.result.holds.value_or(false); });
  if (count == 0) return "completes";
  if (held < count)
    return fmt::format("{} of {} limits hold, the rest are not checked", held, count);
  if (count > 1)
    return fmt::format("{} limits hold", count == 2 ? "both" : fmt::format("all {}", count));
  const LimitResult& only = evidence.limits.front().evaluated.result;
  return fmt::format("holds {}: {}", only.limit, measured_figure(only));
}

namespace {

std::string oom_text(const OomResult& oom) {
  const std::string op = oom.op.empty() ? "" : " for " + oom.op;
  return fmt::format(
      "OOM in step {}: {}{}{}{}", oom.step, reports::short_bytes(oom.requested_bytes), op,
      oom.device == "cuda:0" ? "" : " on " + oom.device, oom.injected ? " (injected)" : "");
}

}  // namespace

std::string oom_text(const Evidence& evidence) {
  return evidence.measured.oom ? oom_text(*evidence.measured.oom) : "OOM";
}

std::string returned_text(const ReturnedValues& values) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) {
    if (parts.size() == kMost) {
      parts.push_back(fmt::format("{} more", values.size() - kMost));
      break;
    }
    const bool is_boolean = value.dtype == name_of(ScriptType::boolean) && value.values.size() == 1;
    if (value.dtype == name_of(ScriptType::string)) {
      parts.push_back(fmt::format("{} = {}", name, value.text));
    } else if (is_boolean) {
      parts.push_back(fmt::format("{} = {}", name, value.values[0] != 0));
    } else if (value.values.size() == 1) {
      parts.push_back(fmt::format("{} = {:.10g}", name, value.values[0]));
    } else {
      parts.push_back(fmt::format("{}: {} values", name, value.values.size()));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool is_unchecked(const JudgedLimit& limit) { return limit.evaluated.needs_values; }

std::string trade_text(const Evidence& evidence) {
  if (evidence.description.trades.empty()) return "";
  const bool told = evidence.comparison.state == Equivalence::trade;
  return fmt::format("trades {}; {} {}; ", evidence.description.trades,
                     fmt::join(evidence.description.must_agree, ", "),
                     told ? "agree" : "not checked");
}

}  // namespace ohm::engine

#include "harness/judge/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "reports/text/measured_text.h"

namespace ohm::engine {

namespace {

Judgement passed(std::string reason) { return {Verdict::passed, {}, std::move(reason), {}}; }
Judgement failed(FailureType type, std::string reason) {
  return {Verdict::failed, type, std::move(reason), {}};
}
Judgement error(std::string reason) { return {Verdict::error, {}, std::move(reason), {}}; }

// ---- what the limits say ------------------------------------------------------------------------

bool breaks(const JudgedLimit& limit) {
  return limit.evaluated.result.holds && !*limit.evaluated.result.holds;
}

/// It could not be told, and not because the devices are size-only.
bool is_untold(const JudgedLimit& limit) {
  return !limit.evaluated.result.holds && !limit.evaluated.needs_values;
}

template <class Predicate>
const JudgedLimit* first_limit(const Evidence& evidence, Predicate&& predicate) {
  const auto found = std::find_if(evidence.limits.begin(), evidence.limits.end(), predicate);
  return found == evidence.limits.end() ? nullptr : &*found;
}

bool ran_out_of_memory(const Evidence& evidence) {
  return evidence.measured.outcome == Outcome::oom;
}

std::string measured_figure(const LimitResult& limit) {
  return reports::short_figure(limit.measured.value_or(0), limit.unit);
}

/// "growth_bytes_per_step == 0: 1.00 KiB and 1 more", of the broken limits.
std::string broken_text(const Evidence& evidence) {
  const LimitResult& first = first_limit(evidence, breaks)->evaluated.result;
  const auto count = std::count_if(evidence.limits.begin(), evidence.limits.end(), breaks);
  return fmt::format("{}: {}{}", first.limit, measured_figure(first),
                     count > 1 ? fmt::format(" and {} more", count - 1) : "");
}

/// "holds peak_allocated_bytes < 2 MiB: 1.50 MiB", "all 3 limits hold".
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

std::string oom_text(const OomResult& oom) {
  const std::string op = oom.op.empty() ? "" : " for " + oom.op;
  return fmt::format(
      "OOM in step {}: {}{}{}{}", oom.step, reports::short_bytes(oom.requested_bytes), op,
      oom.device == "cuda:0" ? "" : " on " + oom.device, oom.injected ? " (injected)" : "");
}

std::string oom_text(const Evidence& evidence) {
  return evidence.measured.oom ? oom_text(*evidence.measured.oom) : "OOM";
}

Judgement untold(const JudgedLimit& limit) {
  return error(fmt::format("{}: {}", limit.limit.text, limit.evaluated.result.note));
}

/// A figure or a value is missing because the devices are size-only, and it would have decided.
bool is_unchecked(const JudgedLimit& limit) { return limit.evaluated.needs_values; }

Judgement skipped() {
  return {Verdict::skipped, {}, "values are not computed on size-only devices", {}};
}

// ---- rules that several roles share -------------------------------------------------------------

/// It has to complete and to hold every limit; nullopt when it does.
std::optional<Judgement> broken_promise(const Evidence& evidence) {
  if (ran_out_of_memory(evidence)) {
    const bool injected = evidence.measured.oom && evidence.measured.oom->injected;
    return failed(injected ? FailureType::fault_unsafe : FailureType::limit_exceeded,
                  oom_text(evidence));
  }
  if (first_limit(evidence, breaks) != nullptr) {
    return failed(FailureType::limit_exceeded, "breaks " + broken_text(evidence));
  }
  if (const JudgedLimit* limit = first_limit(evidence, is_untold)) return untold(*limit);
  return std::nullopt;
}

/// It has to compute what its reference computes; nullopt when it does, or when it cannot be told.
std::optional<Judgement> other_numbers(const Evidence& evidence) {
  if (!evidence.no_reference.empty()) return error(evidence.no_reference);
  if (evidence.measured.values.empty() && evidence.description.trades.empty()) {
    return error("it returns nothing to compare: return a table of what must agree");
  }
  if (evidence.comparison.state != Equivalence::different) return std::nullopt;
  return failed(FailureType::not_equivalent, "other numbers: " + evidence.comparison.difference);
}

std::string trade_text(const Evidence& evidence) {
  if (evidence.description.trades.empty()) return "";
  const bool told = evidence.comparison.state == Equivalence::trade;
  return fmt::format("trades {}; {} {}; ", evidence.description.trades,
                     fmt::join(evidence.description.must_agree, ", "),
                     told ? "agree" : "not checked");
}

// ---- one rule for each role ---------------------------------------------------------------------

Judgement judge_problem(const Evidence& evidence) {
  if (ran_out_of_memory(evidence)) return passed(oom_text(evidence));
  if (first_limit(evidence, breaks) != nullptr) return passed("breaks " + broken_text(evidence));
  if (const JudgedLimit* limit = first_limit(evidence, is_untold)) return untold(*limit);
  if (first_limit(evidence, is_unchecked) != nullptr) return skipped();
  return failed(FailureType::not_reproduced, "nothing goes wrong: " + holding_text(evidence));
}

Judgement judge_mitigation(const Evidence& evidence) {
  if (std::optional<Judgement> broken = broken_promise(evidence)) return *broken;
  if (std::optional<Judgement> different = other_numbers(evidence)) return *different;
  return passed(trade_text(evidence) + holding_text(evidence));
}

Judgement judge_control(const Evidence& evidence) {
  if (std::optional<Judgement> broken = broken_promise(evidence)) return *broken;
  const bool proves_nothing =
      !evidence.limits.empty() &&
      std::all_of(evidence.limits.begin(), evidence.limits.end(), is_unchecked);
  return proves_nothing ? skipped() : passed(holding_text(evidence));
}

Judgement judge_non_fix(const Evidence& evidence) {
  if (ran_out_of_memory(evidence)) return passed("still " + oom_text(evidence));
  if (first_limit(evidence, breaks) != nullptr) {
    return passed("still breaks " + broken_text(evidence));
  }
  if (evidence.comparison.state == Equivalence::different) {
    return passed("other numbers: " + evidence.comparison.difference);
  }
  if (!evidence.no_reference.empty()) return error(evidence.no_reference);
  if (const JudgedLimit* limit = first_limit(evidence, is_untold)) return untold(*limit);
  if (first_limit(evidence, is_unchecked) != nullptr) return skipped();
  return failed(FailureType::not_reproduced, "it helps: " + holding_text(evidence));
}

/// Of what the problem is over the limit by, the share that the variant is not; nullopt where the
/// problem holds it or one of the two has no figure.
std::optional<double> share_of(const JudgedLimit& limit) {
  const LimitResult& mine = limit.evaluated.result;
  const LimitResult& theirs = limit.on_problem.result;
  if (!mine.holds || !theirs.holds || *theirs.holds) return std::nullopt;
  const double excess = -slack(limit.limit.comparator, *theirs.measured, *theirs.bound);
  const double left = -slack(limit.limit.comparator, *mine.measured, *mine.bound);
  return excess > 0 ? (excess - std::max(left, 0.0)) / excess : (*mine.holds ? 1.0 : 0.0);
}

Judgement judge_partial_by_steps(const Evidence& evidence) {
  const std::int64_t mine = evidence.measured.steps;
  const std::int64_t theirs = evidence.problem->steps;
  if (mine > theirs) {
    return passed(fmt::format("{}, instead of after {} steps", oom_text(evidence), theirs));
  }
  return failed(FailureType::limit_exceeded, "no improvement: " + oom_text(evidence));
}

Judgement judge_partial_by_figures(const Evidence& evidence) {
  const JudgedLimit* best = nullptr;
  double best_share = 0;
  for (const JudgedLimit& limit : evidence.limits) {
    const double share = share_of(limit).value_or(0);
    if (share <= best_share) continue;
    best = &limit;
    best_share = share;
  }
  if (best == nullptr) {
    return failed(FailureType::limit_exceeded,
                  ran_out_of_memory(evidence) ? "no improvement: " + oom_text(evidence)
                                              : "no improvement: breaks " + broken_text(evidence));
  }
  Judgement judgement = passed(fmt::format("{}recovers {:.1f} % of {} ({} instead of {})",
                                           trade_text(evidence), 100 * best_share, best->limit.text,
                                           measured_figure(best->evaluated.result),
                                           measured_figure(best->on_problem.result)));
  judgement.recovered_share = best_share;
  return judgement;
}

Judgement judge_partial(const Evidence& evidence) {
  if (evidence.problem == nullptr) {
    return error(fmt::format("{} was not measured", evidence.description.of));
  }
  const bool still_over = ran_out_of_memory(evidence) || first_limit(evidence, breaks) != nullptr;
  if (!still_over) {
    if (const JudgedLimit* limit = first_limit(evidence, is_untold)) return untold(*limit);
    return failed(FailureType::not_reproduced, "it is a mitigation: " + holding_text(evidence));
  }
  if (ran_out_of_memory(evidence) && evidence.problem->outcome == Outcome::oom) {
    return judge_partial_by_steps(evidence);
  }
  if (!ran_out_of_memory(evidence)) {
    if (std::optional<Judgement> different = other_numbers(evidence)) return *different;
  }
  return judge_partial_by_figures(evidence);
}

std::string raised_message(const MeasuredVariant& measured) {
  if (measured.oom) return measured.oom->message;
  return measured.error ? measured.error->message : "";
}

/// "at = step, fits = false", shortened: what a check's own figures were.
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

Judgement judge_returning_check(const Evidence& evidence) {
  if (std::optional<Judgement> broken = broken_promise(evidence)) return *broken;
  const ReturnedValues& expected = *evidence.description.returns;
  const Comparison comparison =
      compare_values(evidence.measured.values, expected, evidence.description.compare_as);
  if (comparison.state == Equivalence::different) {
    return failed(FailureType::not_equivalent, "returns " + comparison.difference);
  }
  if (comparison.state == Equivalence::not_checked) return skipped();
  return passed("returns " + returned_text(evidence.measured.values));
}

Judgement judge_check(const Evidence& evidence) {
  if (evidence.description.returns) return judge_returning_check(evidence);
  if (!evidence.description.raises) return judge_control(evidence);
  const std::string& expected = *evidence.description.raises;
  if (evidence.measured.outcome == Outcome::completed) {
    return failed(FailureType::not_reproduced,
                  fmt::format("raises nothing instead of \"{}\"", expected));
  }
  const std::string message = raised_message(evidence.measured);
  if (message.find(expected) == std::string::npos) {
    return failed(FailureType::not_reproduced,
                  fmt::format(R"(raises "{}" instead of "{}")", message, expected));
  }
  if (first_limit(evidence, breaks) != nullptr) {
    return failed(FailureType::limit_exceeded, "breaks " + broken_text(evidence));
  }
  return passed(fmt::format("raises \"{}\"", expected));
}

Judgement judge_reference(const Evidence& evidence) {
  return ran_out_of_memory(evidence) ? error(oom_text(evidence)) : passed("gives the values");
}

/// Indexed by Role.
constexpr std::array<Judgement (*)(const Evidence&), kRoleNames.size()> kRules = {
    judge_problem, judge_mitigation, judge_partial,  judge_non_fix,
    judge_control, judge_check,      judge_reference};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// No rule looks at a variant that did not run to an end of its own; nullopt when it did.
std::optional<Judgement> no_end(const Evidence& evidence) {
  const MeasuredVariant& measured = evidence.measured;
  const std::string message = measured.error ? first_line(measured.error->message) : "";
  switch (measured.outcome) {
    case Outcome::completed:
      return std::nullopt;
    case Outcome::oom:
      // The host ran out, not a GPU: that proves nothing about the scenario's limits.
      if (measured.oom && measured.oom->device == "cpu") return error(oom_text(evidence));
      return std::nullopt;
    case Outcome::error:
      if (evidence.description.raises) return std::nullopt;
      return error(message);
    case Outcome::timeout:
    case Outcome::crashed:
      return error(message);
    case Outcome::not_run:
      break;
  }
  return Judgement{Verdict::skipped, {}, "the run ended before it", {}};
}

}  // namespace

Judgement judgement_of(const Evidence& evidence) {
  if (std::optional<Judgement> judgement = no_end(evidence)) return *judgement;
  return kRules[static_cast<std::size_t>(evidence.description.role)](evidence);
}

}  // namespace ohm::engine

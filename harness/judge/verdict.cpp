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

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Judgement untold(const JudgedLimit& limit) {
  return error(fmt::format("{}: {}", limit.limit.text, limit.evaluated.result.note));
}

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

/// It has to return what its reference returns, if anything; nullopt when it does.
std::optional<Judgement> missing_values(const Evidence& evidence) {
  if (!evidence.missing_value.empty()) return error(evidence.missing_value);
  return std::nullopt;
}

bool has_elements(const ReturnedValues& values) {
  return std::any_of(values.begin(), values.end(), [](const auto& value) {
    const std::vector<std::int64_t>& shape = value.second.shape;
    return std::find(shape.begin(), shape.end(), 0) == shape.end();
  });
}

/// It has to compute what its reference computes; nullopt when it does, or when it cannot be told.
std::optional<Judgement> other_numbers(const Evidence& evidence) {
  if (!evidence.no_reference.empty()) return error(evidence.no_reference);
  if (!has_elements(returned_values(evidence))) {
    return error("it returns nothing to compare: return a table of what must agree");
  }
  if (std::optional<Judgement> missing = missing_values(evidence)) return missing;
  if (evidence.comparison.state != Equivalence::different) return std::nullopt;
  return failed(FailureType::not_equivalent, "other numbers: " + evidence.comparison.difference);
}

std::int64_t peak_of(const MeasuredVariant& measured) {
  std::int64_t peak = 0;
  for (const DeviceResult& device : measured.devices) {
    peak = std::max(peak, device.peak_allocated_bytes);
  }
  return peak;
}

/// Where running out of memory is what a variant has to do: with more memory it gets further, so
/// that it was memory that it lacked; nullopt when it does.
std::optional<Judgement> no_lack_of_memory(const Evidence& evidence) {
  const MeasuredVariant* larger = evidence.on_larger_gpu;
  if (larger == nullptr) return error("it was not run on a larger GPU");
  switch (larger->outcome) {
    case Outcome::completed:
      return missing_values(evidence);
    case Outcome::oom:
      if (peak_of(*larger) > peak_of(evidence.measured)) return std::nullopt;
      return failed(FailureType::not_reproduced,
                    fmt::format("{}; it does not fit into {} either", oom_text(evidence),
                                reports::short_bytes(larger->devices.front().capacity_bytes)));
    case Outcome::error:
      // The host may have had no room for the values; it got further all the same.
      if (peak_of(*larger) > peak_of(evidence.measured)) return std::nullopt;
      break;
    case Outcome::timeout:
    case Outcome::crashed:
    case Outcome::not_run:
      break;
  }
  return error(fmt::format(
      "{}; on a larger GPU: {}", oom_text(evidence),
      larger->error ? first_line(larger->error->message) : std::string(name_of(larger->outcome))));
}

// ---- one rule for each role ---------------------------------------------------------------------

Judgement judge_problem(const Evidence& evidence) {
  if (ran_out_of_memory(evidence)) {
    if (std::optional<Judgement> other = no_lack_of_memory(evidence)) return *other;
    return passed(oom_text(evidence));
  }
  if (std::optional<Judgement> missing = missing_values(evidence)) return *missing;
  if (const JudgedLimit* limit = first_limit(evidence, is_untold)) return untold(*limit);
  if (first_limit(evidence, breaks) != nullptr) return passed("breaks " + broken_text(evidence));
  if (first_limit(evidence, is_unchecked) != nullptr) return skipped();
  return failed(FailureType::not_reproduced, "nothing goes wrong: " + holding_text(evidence));
}

/// Of all limits it cannot be told whether they hold.
bool proves_nothing(const Evidence& evidence) {
  return !evidence.limits.empty() &&
         std::all_of(evidence.limits.begin(), evidence.limits.end(), is_unchecked);
}

Judgement judge_mitigation(const Evidence& evidence) {
  if (std::optional<Judgement> broken = broken_promise(evidence)) return *broken;
  if (std::optional<Judgement> different = other_numbers(evidence)) return *different;
  if (proves_nothing(evidence) && evidence.comparison.state == Equivalence::not_checked) {
    return skipped();
  }
  return passed(trade_text(evidence) + holding_text(evidence));
}

Judgement judge_by_limits(const Evidence& evidence) {
  if (std::optional<Judgement> broken = broken_promise(evidence)) return *broken;
  return proves_nothing(evidence) ? skipped() : passed(holding_text(evidence));
}

/// A variant that allocates nothing satisfies every limit.
Judgement judge_control(const Evidence& evidence) {
  Judgement judgement = judge_by_limits(evidence);
  if (judgement.verdict != Verdict::passed) return judgement;
  const MeasuredVariant* const problem = evidence.problem;
  const bool may_take_none = problem != nullptr && !takes_memory(*problem);
  if (!takes_memory(evidence.measured) && !may_take_none) {
    return error("it allocates nothing: nothing shows that it does what a problem does");
  }
  const bool must_use_gpus = problem != nullptr && takes_device_memory(*problem);
  if (takes_device_memory(evidence.measured) || !must_use_gpus) return judgement;
  return error("it allocates nothing on a GPU: nothing shows that it does what its problem does");
}

bool must_run_out_of_memory(const Evidence& evidence) {
  const std::vector<std::string>& named = evidence.description.must_break;
  if (!named.empty()) return std::find(named.begin(), named.end(), kOomWord) != named.end();
  return evidence.description.must_differ.empty() && evidence.problem != nullptr &&
         evidence.problem->outcome == Outcome::oom;
}

/// The first of the measurements that it says it breaks without doing so; empty: it breaks all.
std::string unbroken_measurement(const Evidence& evidence) {
  for (const std::string& name : evidence.description.must_break) {
    const auto breaks_it = [&](const JudgedLimit& limit) {
      return limit.limit.measurement->name == name && breaks(limit);
    };
    if (name != kOomWord && first_limit(evidence, breaks_it) == nullptr) return name;
  }
  return {};
}

Judgement judge_non_fix_by_oom(const Evidence& evidence) {
  if (!ran_out_of_memory(evidence)) {
    return failed(FailureType::not_reproduced, "it helps: it does not run out of memory");
  }
  if (std::optional<Judgement> other = no_lack_of_memory(evidence)) return *other;
  if (const std::string unbroken = unbroken_measurement(evidence); !unbroken.empty()) {
    return failed(FailureType::not_reproduced,
                  fmt::format("{}, but it does not break {}, which must_break names",
                              oom_text(evidence), unbroken));
  }
  return passed("still " + oom_text(evidence));
}

Judgement judge_non_fix_by_limits(const Evidence& evidence) {
  const bool names_limits = !evidence.description.must_break.empty();
  const std::string unbroken = unbroken_measurement(evidence);
  const JudgedLimit* broken = first_limit(evidence, [&](const JudgedLimit& limit) {
    return breaks(limit) && (names_limits || breaks_on_problem(limit));
  });
  if (unbroken.empty() && broken != nullptr) return passed("still breaks " + broken_text(evidence));
  if (first_limit(evidence, is_unchecked) != nullptr) return skipped();
  if (first_limit(evidence, breaks) == nullptr) {
    return failed(FailureType::not_reproduced, "it helps: " + holding_text(evidence));
  }
  return failed(FailureType::not_reproduced,
                fmt::format("it breaks {}, but not {}", broken_text(evidence),
                            names_limits ? unbroken + ", which must_break names"
                                         : "what its problem breaks"));
}

/// It fits, and computes something else: what it names, and nothing beside it.
Judgement judge_non_fix_by_values(const Evidence& evidence) {
  if (!evidence.no_reference.empty()) return error(evidence.no_reference);
  if (first_limit(evidence, breaks) != nullptr) {
    return failed(
        FailureType::limit_exceeded,
        fmt::format("breaks {}, which it does not say: must_break = {{\"{}\"}}",
                    broken_text(evidence), first_limit(evidence, breaks)->limit.measurement->name));
  }
  switch (evidence.comparison.state) {
    case Equivalence::different:
      return passed("other numbers: " + evidence.comparison.difference);
    case Equivalence::not_checked:
      return skipped();
    case Equivalence::same:
    case Equivalence::trade:
      break;
  }
  return failed(FailureType::not_reproduced, evidence.comparison.difference);
}

Judgement judge_non_fix(const Evidence& evidence) {
  if (must_run_out_of_memory(evidence)) return judge_non_fix_by_oom(evidence);
  if (ran_out_of_memory(evidence)) {
    return failed(FailureType::not_reproduced,
                  fmt::format("{}, which it does not say: must_break = {{\"{}\"}}",
                              oom_text(evidence), kOomWord));
  }
  if (std::optional<Judgement> missing = missing_values(evidence)) return *missing;
  if (const JudgedLimit* limit = first_limit(evidence, is_untold)) return untold(*limit);
  return evidence.description.must_differ.empty() ? judge_non_fix_by_limits(evidence)
                                                  : judge_non_fix_by_values(evidence);
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
  if (ran_out_of_memory(evidence)) {
    if (std::optional<Judgement> other = no_lack_of_memory(evidence)) return *other;
  }
  if (std::optional<Judgement> different = other_numbers(evidence)) return *different;
  // Figures of a run that ended early are no measure of another.
  const bool problem_ran_out = evidence.problem->outcome == Outcome::oom;
  if (ran_out_of_memory(evidence)) {
    if (problem_ran_out) return judge_partial_by_steps(evidence);
    return failed(
        FailureType::limit_exceeded,
        fmt::format("{}, where {} completes", oom_text(evidence), evidence.description.of));
  }
  if (problem_ran_out) {
    return passed(fmt::format("{}completes, where {} runs out of memory; still breaks {}",
                              trade_text(evidence), evidence.description.of,
                              broken_text(evidence)));
  }
  return judge_partial_by_figures(evidence);
}

std::string raised_message(const MeasuredVariant& measured) {
  if (measured.oom) return measured.oom->message;
  return measured.error ? measured.error->message : "";
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
  if (!evidence.description.raises) return judge_by_limits(evidence);
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
  if (const JudgedLimit* limit = first_limit(evidence, is_untold)) return untold(*limit);
  return passed(fmt::format("raises \"{}\"", expected));
}

Judgement judge_reference(const Evidence& evidence) {
  return ran_out_of_memory(evidence) ? error(oom_text(evidence)) : passed("gives the values");
}

/// Indexed by Role.
constexpr std::array<Judgement (*)(const Evidence&), kRoleNames.size()> kRules = {
    judge_problem, judge_mitigation, judge_partial,  judge_non_fix,
    judge_control, judge_check,      judge_reference};

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

#include "harness/gate/snapshot_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "allocator_shim/snapshot/snapshot_reader.h"
#include "harness/gate/baseline_check.h"
#include "harness/judge/limit.h"
#include "harness/process/shell_quote.h"
#include "reports/history/snapshot_result.h"
#include "reports/json/result_input.h"
#include "reports/text/measured_text.h"

namespace ohm::engine {

namespace {

void check_answerable(const Limit& limit) {
  if (limit.measurement->in_snapshot == InSnapshot::absent) {
    throw std::invalid_argument(fmt::format("limit \"{}\": a snapshot does not record {}",
                                            limit.text, limit.measurement->name));
  }
  for (const BoundTerm& term : limit.bound) {
    if (term.variant.empty()) continue;
    throw std::invalid_argument(
        fmt::format("limit \"{}\": a snapshot has no variant \"{}\" to compare with", limit.text,
                    term.variant));
  }
}

MeasuredVariant measured(const reports::RecordedRun& recorded) {
  const VariantResult& variant = recorded.result.scenarios.front().variants.front();
  MeasuredVariant measured;
  measured.outcome = Outcome::completed;
  measured.steps = variant.steps;
  measured.devices = variant.devices;
  measured.allocated_at_marks = recorded.allocated_at_marks;
  return measured;
}

void fail(VariantResult& variant, FailureType type, const std::string& reason) {
  if (variant.verdict == Verdict::failed) {
    variant.reason += "; " + reason;
    return;
  }
  variant.verdict = Verdict::failed;
  variant.failure_type = type;
  variant.reason = reason;
}

void judge_limits(const std::vector<std::string>& limits, const MeasuredVariant& figures,
                  VariantResult& variant) {
  for (const std::string& text : limits) {
    const Limit limit = parse_limit(text);
    check_answerable(limit);
    LimitResult result = evaluate(limit, {&figures, nullptr}, [](const std::string&) {
                           return MeasurementSource{};
                         }).result;
    const bool is_growth = limit.measurement->in_snapshot == InSnapshot::slope;
    if (is_growth && !result.measured) {
      result.note = fmt::format(
          "the snapshot shows {} steps, marked or repeated: too few to tell growth", figures.steps);
    }
    if (result.holds != true) {
      fail(variant, is_growth ? FailureType::leak_slope : FailureType::limit_exceeded,
           reports::limit_sentence(result));
    }
    variant.limits.push_back(std::move(result));
  }
  if (variant.verdict == Verdict::passed && !limits.empty()) {
    variant.reason =
        limits.size() == 1 ? "the limit holds" : fmt::format("all {} limits hold", limits.size());
  }
}

bool is_baseline_file(InputFile& file, const std::string& path) {
  constexpr std::size_t kLeastBytes = 5;
  const std::string_view start = file.beginning(kLeastBytes);
  // What is too short for anything is said in the words of baselines.
  return start.size() < kLeastBytes || (!start.starts_with('{') && !reports::is_pickle(file, path));
}

Baseline baseline_in(InputFile& file, const std::string& path) {
  if (is_baseline_file(file, path)) return read_baseline(file, path);
  const RunResult other = reports::read_result_or_snapshot(file, path);
  const bool is_single =
      other.scenarios.size() == 1 && other.scenarios.front().variants.size() == 1;
  if (!is_single) {
    throw BaselineError(fmt::format(
        "{}: does not have exactly one variant, as the result of a snapshot has", path));
  }
  return baseline_of(other.scenarios.front(), 0);
}

Baseline baseline_at(const std::string& path) {
  try {
    InputFile file(path);
    return baseline_in(file, path);
  } catch (const std::system_error& error) {
    throw BaselineError(fmt::format("cannot read {}: {}", path, error.code().message()));
  }
}

void judge_baseline(const SnapshotGate& gate, ScenarioResult& scenario) {
  const Baseline baseline = baseline_at(gate.baseline);
  VariantResult& variant = scenario.variants.front();
  for (const BaselineCheck& check : check_baseline(baseline, scenario, 0)) {
    using State = BaselineCheck::State;
    const bool is_worse =
        check.state == State::regressed &&
        (gate.tolerance_percent == 0 || exceeds(check.diff, gate.tolerance_percent));
    if (is_worse || check.state == State::incomparable || check.state == State::missing) {
      fail(variant, FailureType::baseline_regression,
           fmt::format("against {}: {}", gate.baseline, check.reason));
    }
  }
}

std::string rerun_command(const SnapshotGate& gate) {
  std::string command = "ohm replay " + shell_quoted(gate.file);
  for (const std::string& limit : gate.limits) command += " --limit " + shell_quoted(limit);
  if (!gate.baseline.empty()) command += " --baseline " + shell_quoted(gate.baseline);
  if (gate.tolerance_percent > 0) command += fmt::format(" --tolerance {}", gate.tolerance_percent);
  return command;
}

}  // namespace

RunResult judge_snapshot(const SnapshotGate& gate) {
  reports::RecordedRun recorded = reports::recorded_run(read_snapshot_file(gate.file), gate.file);
  ScenarioResult& scenario = recorded.result.scenarios.front();
  VariantResult& variant = scenario.variants.front();
  variant.rerun = rerun_command(gate);
  judge_limits(gate.limits, measured(recorded), variant);
  if (!gate.baseline.empty()) judge_baseline(gate, scenario);
  scenario.verdict = variant.verdict;
  if (variant.verdict == Verdict::failed) recorded.result.exit_reason = ExitReason::failed;
  return std::move(recorded.result);
}

}  // namespace ohm::engine

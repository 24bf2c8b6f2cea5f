#include "harness/sweep/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/process/processor_stopwatch.h"
#include "harness/sweep/repeated_work.h"

namespace ohm::engine {

namespace {

bool same_bits(const ReturnedValue& a, const ReturnedValue& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.text == b.text &&
         a.has_values == b.has_values && a.integers == b.integers &&
         a.values.size() == b.values.size() &&
         (a.values.empty() ||
          std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof a.values[0]) == 0);
}

/// A script can make an error's text of any length: a report needs the beginning.
std::string beginning_of(std::string text) {
  constexpr std::size_t kMostBytes = 2048;
  if (text.size() <= kMostBytes) return text;
  std::size_t end = kMostBytes;
  const auto is_within_letter = [&] { return (static_cast<unsigned char>(text[end]) >> 6U) == 2; };
  while (end > 0 && is_within_letter()) --end;
  const std::size_t rest = text.size() - end;
  text.resize(end);
  return text + fmt::format("... ({} more bytes)", rest);
}

/// The first name whose values differ; nullopt when none do.
std::optional<std::string> different_value(const ReturnedValues& values,
                                           const ReturnedValues& others) {
  for (std::size_t i = 0; i < std::max(values.size(), others.size()); ++i) {
    if (i >= values.size()) return others[i].first;
    if (i >= others.size() || values[i].first != others[i].first) return values[i].first;
    if (!same_bits(values[i].second, others[i].second)) return values[i].first;
  }
  return std::nullopt;
}

bool has_values(const ReturnedValues& values) {
  return !values.empty() && std::all_of(values.begin(), values.end(),
                                        [](const auto& value) { return value.second.has_values; });
}

TrialVerdict bad(FaultVerdict verdict, std::string what) {
  TrialVerdict found;
  found.verdict = verdict;
  found.what = std::move(what);
  return found;
}

}  // namespace

TrialVerdict hung() {
  TrialVerdict found = bad(FaultVerdict::hang, "timed out");
  found.handled = true;
  return found;
}

Trial::Trial(const ScenarioLoader& loader, const TrialSetup& setup, CallRecorder::Decide decide)
    : setup_(setup),
      machine_(setup.machine),
      context_(machine_.context()),
      program_(loader(setup.request)),
      recorder_(machine_, *program_, setup.filter, std::move(decide)) {
  machine_.add_gpus();
  run_ = std::make_unique<UnmeasuredRun>(machine_);
  settings_at_start_ = program_settings(machine_, *program_);
  machine_.faults().add(recorder_);
}

Trial::~Trial() { machine_.faults().remove(recorder_); }

TrialEnding Trial::ending_of(const std::function<ReturnedValues()>& body) {
  TrialEnding ending;
  try {
    ending.values = body();
    ending.outcome = Outcome::completed;
  } catch (const OutOfMemory& error) {
    ending.outcome = Outcome::oom;
    ending.is_injected = error.report().injected;
    ending.message = error.what();
  } catch (const ScriptError& error) {
    ending.outcome = error.is_endless ? Outcome::timeout : Outcome::error;
    ending.message = error.what();
  } catch (const std::invalid_argument& error) {
    ending.outcome = Outcome::error;
    ending.message = error.what();
  } catch (const std::bad_alloc&) {
    ending.outcome = Outcome::error;
    ending.message = "the host has no memory left";
  }
  ending.message = beginning_of(std::move(ending.message));
  return ending;
}

void Trial::run() {
  ending_ = ending_of([&] { return program_->run(setup_.variant, *run_); });
}

FaultFreeRun Trial::fault_free() {
  FaultFreeRun run;
  run.ending = ending_;
  run.calls = recorder_.calls();
  run.points = recorder_.points();
  run.hashes = recorder_.point_hashes();
  program_->let_go();
  run.left = end_state(machine_, *program_);
  run.peak_bytes = peak_bytes();
  recorder_.disarm();
  run.later = go_on();
  program_->let_go();
  run.memory_later = memory_at_end(machine_);
  run.modules_later = program_->module_counts();
  run.built_on = steps_.built_on();
  return run;
}

// ---- what is left -------------------------------------------------------------------------------

std::int64_t Trial::peak_bytes() const {
  std::int64_t peak = 0;
  for (const DeviceResult& gpu : machine_.device_results()) {
    peak = std::max(peak, gpu.peak_allocated_bytes);
  }
  return peak;
}

std::string Trial::broken_invariant() {
  try {
    for (int gpu = 0; gpu < machine_.gpu_count(); ++gpu) {
      machine_.caching_allocator(gpu).check_invariants();
    }
  } catch (const std::logic_error& broken) {
    return broken.what();
  }
  return {};
}

/// 0 where the state cannot be told from others. More is asked of a program that has recovered.
std::uint64_t Trial::state_key(const EndState& left, FaultVerdict so_far) {
  const std::optional<std::uint64_t> script = program_->fingerprint();
  if (!script) return 0;
  PointHash hash;
  hash.add(*script).add(settings_key(machine_));
  for (const ProgramSetting& setting : program_->settings()) hash.add(setting.value);
  hash.add(std::uint64_t{so_far == FaultVerdict::recovered_same});
  for (const std::string& mode : left.modes) hash.add(mode);
  for (int device = -1; device < machine_.gpu_count(); ++device) {
    for (const LiveBlock& block : machine_.requests(device).live_blocks()) {
      // What only waits for a stream is the allocator's; where the rest lies is all the same.
      if (!block.pending_free) hash.add(block.bytes).add(std::uint64_t{block.site});
    }
  }
  return hash.value() | 1U;
}

/// One more step, or the variant once more.
TrialEnding Trial::go_on() {
  machine_.context().seed(setup_.machine.seed);
  machine_.begin_step(1);
  if (!program_->has_next_step(setup_.variant)) {
    machine_.restart_faults();
    return ending_of([&] { return program_->run(setup_.variant, *run_); });
  }
  machine_.drop_faults();
  return ending_of([&] {
    program_->next_step(setup_.variant, *run_);
    return ReturnedValues();
  });
}

/// Why the program cannot go on, empty when it can. One whose results were the same as without the
/// failure has left what it leaves then: its next run has the same results, too.
std::string Trial::unusable(const FaultFreeRun& fault_free, FaultVerdict so_far) {
  const bool is_next_step = program_->has_next_step(setup_.variant);
  const TrialEnding again = go_on();
  if (is_next_step) {
    return again.outcome == Outcome::completed ? std::string()
                                               : "its next_step fails: " + again.message;
  }
  if (again.outcome != fault_free.ending.outcome) {
    return again.message.empty() ? "run again, it ends differently"
                                 : "run again, it fails: " + again.message;
  }
  const bool is_compared = so_far == FaultVerdict::recovered_same &&
                           again.outcome == Outcome::completed && setup_.machine.gpu.values &&
                           has_values(fault_free.later.values);
  const auto different =
      is_compared ? different_value(again.values, fault_free.later.values) : std::nullopt;
  if (!different) return {};
  return fmt::format("run again, it returns another '{}' than after the fault-free run",
                     *different);
}

/// A step that was made on a part of another one: its weights are those of no training.
std::string Trial::partial_step(const FaultFreeRun& fault_free) const {
  if (steps_.built_on().empty() || !fault_free.built_on.empty()) return {};
  return fmt::format("a step of {} begins with what an earlier one left partially updated",
                     steps_.built_on());
}

// ---- the verdict --------------------------------------------------------------------------------

TrialVerdict Trial::judged_values(const FaultFreeRun& fault_free) const {
  TrialVerdict same;
  same.verdict = FaultVerdict::recovered_same;
  std::string what;
  const ReturnedValues& theirs = fault_free.ending.values;
  const auto different =
      has_values(theirs) ? different_value(ending_.values, theirs) : std::nullopt;
  if (different) {
    what = fmt::format("'{}' is not what the fault-free run returns", *different);
  } else if (has_values(theirs) && setup_.machine.gpu.values) {
    return same;
  } else {
    // Without values a script's numbers may agree whatever was computed.
    // Of what the allocator survived by itself the program has seen nothing.
    if (!recorder_.reached_program() || recorder_.has_changed_nothing() ||
        goes_on_as(recorder_, fault_free.calls)) {
      return same;
    }
    what = "its requests after the failure are not those of the fault-free run";
  }
  if (!is_work_missing(recorder_, fault_free.calls))
    return bad(FaultVerdict::recovered_different, std::move(what));
  return bad(FaultVerdict::swallowed, what + ", and the failed request was not made again");
}

TrialVerdict Trial::judged_ending(const FaultFreeRun& fault_free) const {
  switch (ending_.outcome) {
    case Outcome::completed:
      return judged_values(fault_free);
    case Outcome::oom: {
      if (!ending_.is_injected && fault_free.ending.outcome != Outcome::oom) {
        return bad(FaultVerdict::wrong_error,
                   "a genuine out-of-memory error followed: " + ending_.message);
      }
      TrialVerdict clean;
      clean.verdict = FaultVerdict::clean_error;
      return clean;
    }
    default:
      if (fault_free.ending.outcome == ending_.outcome &&
          fault_free.ending.message == ending_.message) {
        return judged_values(fault_free);
      }
      return bad(FaultVerdict::wrong_error, ending_.message);
  }
}

/// Makes a verdict worse; false where there is nothing to say.
bool Trial::worsen(TrialVerdict& found, FaultVerdict verdict, const std::string& what) {
  if (what.empty()) return false;
  found.verdict = verdict;
  found.what = what;
  found.state_key = 0;
  return true;
}

/// Goes on with the program. What it holds of the failed work can be as large as what it had not
/// made by then, and what it left on may have been no fault yet: both are looked at once more.
void Trial::judge_later(const FaultFreeRun& fault_free, TrialVerdict& found) {
  if (worsen(found, FaultVerdict::corrupt, unusable(fault_free, found.verdict))) return;
  program_->let_go();
  if (is_good(found.verdict) && worsen(found, FaultVerdict::corrupt, partial_step(fault_free)))
    return;
  if (fault_free.later.outcome != Outcome::completed) return;
  const std::string leak = leaked(memory_at_end(machine_), fault_free.memory_later);
  if (!leak.empty() && worsen(found, FaultVerdict::leak, "when it went on: " + leak)) return;
  worsen(found, FaultVerdict::corrupt,
         left_behind(program_->module_counts(), fault_free.modules_later));
}

/// Looks at what the program left, before it goes on; true when that decides.
bool Trial::judge_end_state(const FaultFreeRun& fault_free, const EndState& end,
                            TrialVerdict& found) {
  if (worsen(found, FaultVerdict::corrupt, left_behind(end, fault_free.left))) return true;
  const std::string changed = left_changed(end.settings, fault_free.left.settings,
                                           settings_at_start_, recorder_.settings_at_failure());
  if (worsen(found, FaultVerdict::corrupt, changed)) return true;
  if (worsen(found, FaultVerdict::leak, leaked(end.memory, fault_free.left.memory))) return true;
  // What looks like the failed request made again is one only if all that followed it follows.
  const bool is_retry = recorder_.is_retry_immediate() || goes_on_as(recorder_, fault_free.calls);
  if (is_retry && !recorder_.held_by_failed_try().empty()) {
    return worsen(found, FaultVerdict::leak,
                  "when the failed request was made again, the failed attempt still held " +
                      recorder_.held_by_failed_try());
  }
  return false;
}

/// Whether up to the failure the program made the requests of the fault-free run.
bool Trial::began_as(const FaultFreeRun& fault_free) const {
  const RecordedCalls& calls = recorder_.calls();
  const auto until = static_cast<std::ptrdiff_t>(recorder_.target() + 1);
  return fault_free.calls.size() > recorder_.target() &&
         std::equal(calls.points.begin(), calls.points.begin() + until,
                    fault_free.calls.points.begin());
}

TrialVerdict Trial::judged(const FaultFreeRun& fault_free, const UsableStates& usable) {
  recorder_.disarm();
  if (!recorder_.has_fired()) return bad(FaultVerdict::not_reached, "the request was never made");
  // A fast machine comes to the last instruction that a script may execute before its time is over.
  const bool is_endless = ending_.outcome == Outcome::timeout;
  if (is_endless && fault_free.ending.outcome != Outcome::timeout) return hung();
  if (!began_as(fault_free)) {
    return bad(FaultVerdict::nondeterministic,
               "the requests before the failure are not those of the fault-free run");
  }
  program_->let_go();
  TrialVerdict found = judged_ending(fault_free);
  found.ended_at_failure = recorder_.calls().size() == recorder_.calls_before_recovery();
  found.handled = ending_.outcome != Outcome::oom;
  found.benign = found.handled && !recorder_.reached_program();
  if (found.handled && !found.benign) {
    found.peak_bytes = peak_bytes();
    found.repeated_calls = static_cast<std::int64_t>(recorder_.calls().size()) -
                           static_cast<std::int64_t>(fault_free.calls.size());
  }
  if (worsen(found, FaultVerdict::corrupt, broken_invariant())) return found;
  const EndState end = end_state(machine_, *program_);
  if (judge_end_state(fault_free, end, found)) return found;
  if (found.verdict == FaultVerdict::wrong_error) return found;
  if (is_good(found.verdict) && worsen(found, FaultVerdict::corrupt, partial_step(fault_free))) {
    return found;
  }
  found.state_key = state_key(end, found.verdict);
  const bool is_known = found.state_key != 0 && usable.count(found.state_key) != 0;
  if (!is_known) judge_later(fault_free, found);
  return found;
}

FaultFreeRun fault_free_run(const ScenarioLoader& loader, const TrialSetup& setup) {
  const ProcessorStopwatch stopwatch;
  Trial trial(loader, setup, [](std::size_t) { return std::optional<FaultForm>(); });
  trial.run();
  FaultFreeRun run = trial.fault_free();
  run.seconds = stopwatch.seconds();
  return run;
}

}  // namespace ohm::engine

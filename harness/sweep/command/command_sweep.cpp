#include "harness/sweep/command/command_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/exec/child_command.h"
#include "harness/process/shell_quote.h"
#include "harness/sweep/command/alike_verdicts.h"
#include "harness/sweep/command/command_verdict.h"
#include "harness/sweep/command/folder_changes.h"
#include "harness/sweep/command/recovery_notes.h"
#include "reports/text/result_text.h"

namespace ohm::engine {

namespace {

std::string request_text(const CountedCommand& counted, std::size_t call) {
  const std::uint64_t hash = counted.calls.points[call];
  const auto known = std::find(counted.hashes.begin(), counted.hashes.end(), hash);
  const SweepPoint& point =
      counted.points[static_cast<std::size_t>(known - counted.hashes.begin())];
  return fmt::format("of {} bytes for {}, {}", counted.calls.bytes[call], point.op,
                     reports::place_text(point.file, point.line));
}

/// Where two runs without faults differ; empty when they do not.
std::string difference(const CountedCommand& a, const CountedCommand& b) {
  const std::size_t calls = std::min(a.calls.size(), b.calls.size());
  for (std::size_t i = 0; i < calls; ++i) {
    if (a.calls.points[i] == b.calls.points[i] && a.calls.bytes[i] == b.calls.bytes[i]) continue;
    return fmt::format("request {} is one {} and one {}", i + 1, request_text(a, i),
                       request_text(b, i));
  }
  if (a.calls.size() != b.calls.size()) {
    const bool is_a_longer = a.calls.size() > b.calls.size();
    return fmt::format(
        "one makes {} requests, the other {}: the first that only one of them makes "
        "is one {}",
        a.calls.size(), b.calls.size(), request_text(is_a_longer ? a : b, calls));
  }
  if (a.outcome.checked != b.outcome.checked) {
    return fmt::format("what is checked is {} and {}", checked_beyond(a.outcome, b.outcome),
                       checked_beyond(b.outcome, a.outcome));
  }
  return {};
}

std::string hash_of(std::string_view text) {
  return fmt::format("{:016x}", PointHash().add(text).value());
}

/// What all shards have to have in common: the command, and the files that it names.
std::vector<ShardInput> inputs_of(const std::vector<std::string>& words) {
  const std::string command = shell_command(words);
  std::vector<ShardInput> inputs = {{command, hash_of(command)}};
  for (const std::string& word : words) {
    if (!std::filesystem::is_regular_file(word)) continue;
    std::ifstream stream(word, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    inputs.push_back({word, hash_of(text.str())});
  }
  return inputs;
}

class CommandSweep {
 public:
  CommandSweep(const CommandSweepOptions& options, FailingMemory& memory, SweepObserver& observer)
      : options_(options), memory_(memory), observer_(observer) {}

  SweepOutcome run() {
    SweepOutcome outcome;
    try {
      sweep();
    } catch (const CommandInterrupted& interrupted) {
      outcome.signal = interrupted.signal();
      reason_ = worse_of(reason_, ExitReason::interrupted);
      if (counted_.calls.size() == 0) {
        fail("the sweep was interrupted before its requests were counted", {},
             ExitReason::interrupted);
      }
    }
    outcome.result = result();
    observer_.on_scenario(outcome.result.scenarios.back());
    return outcome;
  }

 private:
  void sweep() {
    const FolderChanges changes(std::filesystem::current_path());
    counted_ = memory_.count();
    if (!is_sound(counted_)) return;
    note_what_changed(changes);
    const CountedCommand again = memory_.count();
    if (!is_sound(again)) return;
    difference_ = difference(counted_, again);
    if (!difference_.empty()) return;
    // What it prints is its own in each run, as the time is.
    if (counted_.outcome.printed != again.outcome.printed) counted_.outcome.printed.reset();
    counted_.seconds = std::max(counted_.seconds, again.seconds);
    choose_tasks();
    memory_.fail(counted_, tasks_, [this](std::size_t task, const CommandOutcome& outcome) {
      judge(task, outcome);
      observer_.on_progress(++finished_, tasks_.size());
    });
    say_what_was_not_copied();
    if (!memory_.sharing().empty()) confirm();
    for (const std::string& note : recovery_notes_.texts()) options_.on_note(note);
  }

  void judge(std::size_t task, const CommandOutcome& outcome) {
    verdicts_[task] = command_verdict(counted_.outcome, outcome);
    recovery_notes_.add(task, memory_.plan_of(tasks_[task]), outcome, *verdicts_[task]);
  }

  void say_what_was_not_copied() const {
    const Uncopied uncopied = memory_.uncopied();
    if (uncopied.faults == 0) return;
    options_.on_note(fmt::format("{} of {} faults had a run of their own instead of a copy: {}",
                                 uncopied.faults, tasks_.size(), uncopied.why));
  }

  /// A copy finds the files of the program as other copies left them, and so does one of several
  /// runs: a bad verdict has to be that of a run of its own, too.
  void confirm() {
    for (const std::size_t task : first_of_alike(verdicts_)) {
      const TrialVerdict first = *verdicts_[task];
      fail_alone({task});
      if (is_alike(*verdicts_[task], first)) continue;
      options_.on_note(fmt::format(
          "{} does otherwise {} ({}) than in a run of its own, as where files are shared: each "
          "failure gets a run of its own",
          memory_.plan_of(tasks_[task]), memory_.sharing(), first.what));
      std::vector<std::size_t> all(tasks_.size());
      std::iota(all.begin(), all.end(), 0);
      fail_alone(all);
      return;
    }
  }

  void fail_alone(const std::vector<std::size_t>& which) {
    std::vector<FaultTask> tasks;
    for (const std::size_t task : which) tasks.push_back(tasks_[task]);
    std::size_t finished = 0;
    memory_.fail_alone(counted_, tasks, [&](std::size_t i, const CommandOutcome& outcome) {
      judge(which[i], outcome);
      observer_.on_progress(++finished, which.size());
    });
  }

  void fail(std::string message, std::string hint, ExitReason reason) {
    error_ = ErrorResult{std::move(message), {}, 0, {}, std::move(hint)};
    reason_ = worse_of(reason_, reason);
  }

  /// Whether it ends well, so that there is something to compare failures with.
  bool is_sound(const CountedCommand& counted) {
    const CommandOutcome& outcome = counted.outcome;
    if (outcome.is_overdue) {
      fail("the command without faults took longer than --timeout", {}, ExitReason::timeout);
    } else if (outcome.status != 0) {
      const bool reads = counted.last_line.find("EOFError") != std::string::npos;
      fail(fmt::format("the command fails without faults: exit status {}: {}", outcome.status,
                       counted.last_line),
           reads ? "it reads its standard input, which is empty in a sweep" : "",
           ExitReason::script_error);
    } else if (!counted.problem.empty()) {
      fail(counted.problem, counted.hint, ExitReason::script_error);
    } else if (!options_.check.empty() && !outcome.checked) {
      fail(fmt::format("--check: {}",
                       outcome.check_error.empty() ? "it was not evaluated" : outcome.check_error),
           "it is an expression of Python, evaluated in the script's module at its end",
           ExitReason::script_error);
    }
    return !error_;
  }

  void note_what_changed(const FolderChanges& changes) {
    const std::vector<std::string> left = changes.since();
    if (left.empty() || options_.in_scratch) return;
    counted_.shares_changed_files = true;
    options_.on_note(fmt::format(
        "files changed in this folder while the command ran ({}{}): if it writes them, so does "
        "each run with a fault; where memory of GPUs fails, --scratch gives each of them a copy of "
        "this folder",
        left.front(), left.size() == 1 ? "" : fmt::format(" and {} more", left.size() - 1)));
  }

  void choose_tasks() {
    const ChosenFaults chosen = chosen_faults(counted_.calls, options_.points, options_.forms);
    beyond_budget_ = chosen.beyond_budget;
    not_tried_ = counted_.calls.size() * kFaultFormNames.size() - chosen.tasks.size();
    for (std::size_t i = 0; i < chosen.tasks.size(); ++i) {
      if (options_.shard.has(i)) tasks_.push_back(chosen.tasks[i]);
    }
    verdicts_.resize(tasks_.size());
  }

  // ---- the result -------------------------------------------------------------------------------

  std::size_t point_index(const FaultTask& task) const {
    const auto known =
        std::find(counted_.hashes.begin(), counted_.hashes.end(), counted_.calls.points[task.call]);
    return static_cast<std::size_t>(known - counted_.hashes.begin());
  }

  void add_failed(SweptVariant& swept, const FaultTask& task, const TrialVerdict& found) const {
    const SweepPoint& point = counted_.points[point_index(task)];
    FailedFault failed;
    failed.plan = memory_.plan_of(task);
    failed.form = task.form;
    failed.verdict = found.verdict;
    failed.what = found.what;
    failed.call = static_cast<std::int64_t>(task.call) + 1;
    failed.op = point.op;
    failed.file = point.file;
    failed.line = point.line;
    failed.bytes = static_cast<std::int64_t>(counted_.calls.bytes[task.call]);
    failed.rerun = memory_.rerun_command(failed.plan);
    swept.failed.push_back(std::move(failed));
  }

  void add_verdict(SweptVariant& swept, const FaultTask& task, const TrialVerdict& found) const {
    SweepPoint& point = swept.points[point_index(task)];
    ++point.faults;
    if (!found.handled && task.form == options_.forms.front()) ++point.unhandled;
    ++swept.faults;
    ++swept.verdicts[static_cast<std::size_t>(found.verdict)];
    swept.benign += found.benign ? 1 : 0;
    swept.handled += found.handled ? 1 : 0;
    swept.peak_after_faults_bytes = std::max(swept.peak_after_faults_bytes, found.peak_bytes);
    swept.repeated_calls += found.repeated_calls;
    if (!is_good(found.verdict)) add_failed(swept, task, found);
  }

  SweptVariant variant() const {
    SweptVariant swept;
    swept.name = counted_.description.empty() ? "command" : counted_.description;
    swept.role = Role::control;
    swept.error = error_;
    swept.values = counted_.outcome.checked.has_value();
    if (error_) return swept;
    swept.calls = static_cast<std::int64_t>(counted_.calls.size());
    swept.points = counted_.points;
    swept.peak_bytes = counted_.outcome.peak_bytes;
    swept.not_tried = static_cast<std::int64_t>(not_tried_);
    swept.beyond_budget = static_cast<std::int64_t>(beyond_budget_);
    if (!difference_.empty()) {
      ++swept.verdicts[static_cast<std::size_t>(FaultVerdict::nondeterministic)];
      FailedFault failed;
      failed.verdict = FaultVerdict::nondeterministic;
      failed.what = "two runs without faults differ: " + difference_;
      failed.rerun = memory_.rerun_command({});
      swept.failed.push_back(std::move(failed));
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (verdicts_[i]) {
        add_verdict(swept, tasks_[i], *verdicts_[i]);
      } else {
        ++swept.untested;
      }
    }
    return swept;
  }

  SweepResult result() const {
    SweepResult result;
    result.points = options_.points.text();
    result.form = options_.forms.size() == 1 ? std::string(name_of(options_.forms[0])) : "both";
    result.level = name_of(options_.level);
    if (!options_.shard.is_whole()) {
      ShardResult& shard = result.shard.emplace();
      shard.number = static_cast<std::int64_t>(options_.shard.index) + 1;
      shard.count = static_cast<std::int64_t>(options_.shard.count);
      shard.settings = options_.settings;
      shard.inputs = inputs_of(options_.words);
    }
    SweptScenario& scenario = result.scenarios.emplace_back();
    scenario.file = shell_command(options_.words);
    scenario.name = counted_.program.empty()
                        ? std::filesystem::path(options_.words.front()).filename().string()
                        : counted_.program;
    scenario.variants.push_back(variant());
    result.exit_reason = reason_;
    if (!scenario.variants.back().failed.empty()) {
      result.exit_reason = worse_of(result.exit_reason, ExitReason::failed);
    }
    return result;
  }

  const CommandSweepOptions& options_;
  FailingMemory& memory_;
  SweepObserver& observer_;
  CountedCommand counted_;
  RecoveryNotes recovery_notes_{counted_.outcome};
  std::string difference_;
  std::vector<FaultTask> tasks_;
  std::vector<std::optional<TrialVerdict>> verdicts_;  ///< of each task
  std::size_t finished_ = 0;
  std::size_t beyond_budget_ = 0;
  std::size_t not_tried_ = 0;
  std::optional<ErrorResult> error_;
  ExitReason reason_ = ExitReason::passed;
};

}  // namespace

SweepOutcome sweep_command(const CommandSweepOptions& options, FailingMemory& memory,
                           SweepObserver& observer) {
  return CommandSweep(options, memory, observer).run();
}

}  // namespace ohm::engine

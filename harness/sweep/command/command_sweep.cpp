#include "harness/sweep/command/command_sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/checkpoint/program_fingerprint.h"
#include "harness/exec/child_command.h"
#include "harness/exec/command_inputs.h"
#include "harness/process/current_folder.h"
#include "harness/process/shell_quote.h"
#include "harness/sweep/command/alike_verdicts.h"
#include "harness/sweep/command/command_verdict.h"
#include "harness/sweep/command/folder_changes.h"
#include "harness/sweep/command/recovery_notes.h"
#include "harness/sweep/sweep_messages.h"
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
  if (compared_lines(a.outcome, b.outcome) != compared_lines(b.outcome, a.outcome)) {
    return fmt::format("the checked value is {} and {}", checked_beyond(a.outcome, b.outcome),
                       checked_beyond(b.outcome, a.outcome));
  }
  return {};
}

std::uint64_t hash_of(const RecordedCalls& calls) {
  PointHash hash;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    hash.add(calls.points[i]).add(std::uint64_t{calls.bytes[i]});
  }
  return hash.value();
}

/// What may be the reason for which a command fails without faults.
std::string hint_for_failing(const CountedCommand& counted) {
  if (counted.cause.find("EOFError") != std::string::npos) {
    return "it reads its standard input, which is empty in a sweep";
  }
  if (counted.network_host.empty()) return {};
  return fmt::format("it opens a network connection to {}", counted.network_host);
}

std::string form_text(const CommandSweepOptions& options) {
  return options.forms.size() == 1 ? std::string(name_of(options.forms[0])) : "both";
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
        give_up("the sweep was interrupted before its requests were counted", {},
                ExitReason::interrupted);
      }
    }
    outcome.result = result();
    observer_.on_scenario(outcome.result.scenarios.back());
    return outcome;
  }

 private:
  void sweep() {
    const FolderChanges changes(current_folder(), options_.own_files);
    counted_ = memory_.count();
    if (!is_sound(counted_)) return;
    note_network();
    note_what_changed(changes);
    note_not_computed(counted_.outcome);
    if (!is_repeatable()) return;
    fail_chosen();
    if (makes_other_requests_now() && is_repeatable()) fail_chosen();
  }

  /// Whether another run makes the requests of the one that was counted.
  bool is_repeatable() {
    const CountedCommand again = memory_.count();
    if (!is_sound(again)) return false;
    difference_ = difference(counted_, again);
    if (!difference_.empty()) return false;
    // What it prints is its own in each run, as the time is.
    if (counted_.outcome.printed != again.outcome.printed) counted_.outcome.printed.reset();
    counted_.seconds = std::max(counted_.seconds, again.seconds);
    requests_ = hash_of(counted_.calls);
    return true;
  }

  void fail_chosen() {
    choose_tasks();
    fail(every_task(), Company::others);
    say_what_was_not_copied();
    if (!memory_.sharing().empty()) confirm();
  }

  /// Requests that runs with a fault did not make may be gone from those without, too: a program
  /// may change files that it reads the next time (an index, a cache). Counts what it makes now.
  bool makes_other_requests_now() {
    const auto is_missed = [](const std::optional<JudgedFault>& fault) {
      return fault && fault->verdict.verdict == FaultVerdict::not_reached;
    };
    // Shards would not agree on what there is to fail.
    if (!options_.shard.is_whole() || std::none_of(judged_.begin(), judged_.end(), is_missed)) {
      return false;
    }
    CountedCommand now = memory_.count();
    const std::string change = difference(counted_, now);
    if (now.outcome.is_overdue || now.outcome.status != 0 || change.empty()) return false;
    options_.on_note(
        fmt::format("the fault-free request sequence has changed since it was counted ({}), "
                    "perhaps because the command changed files that it reads: it is swept again",
                    change));
    now.shares_changed_files = counted_.shares_changed_files;
    counted_ = std::move(now);
    tasks_.clear();
    judged_.clear();
    return true;
  }

  JudgedFault judged(const FaultTask& task, const CommandOutcome& outcome) {
    JudgedFault fault{command_verdict(counted_.outcome, outcome), {}};
    if (fault.verdict.verdict == FaultVerdict::recovered_same) {
      note_not_computed(outcome);
      fault.notes = recovery_notes(task, memory_.plan_of(task), outcome, counted_.outcome);
    }
    return fault;
  }

  std::vector<std::size_t> every_task() const {
    std::vector<std::size_t> all(tasks_.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  /// Whether a fault is tried beside others, or in a run of its own.
  enum class Company : std::uint8_t { others, none };

  /// Tries those of `which` that the checkpoint does not know.
  void fail(const std::vector<std::size_t>& which, Company company) {
    std::vector<std::size_t> untried;
    std::vector<FaultTask> tasks;
    for (const std::size_t task : which) {
      if (take_known(task, company)) continue;
      untried.push_back(task);
      tasks.push_back(tasks_[task]);
    }
    if (tasks.empty()) return;
    std::size_t finished = which.size() - untried.size();
    const auto on_end = [&](std::size_t i, const CommandOutcome& outcome) {
      const std::size_t task = untried[i];
      judged_[task] = judged(tasks_[task], outcome);
      if (options_.checkpoint != nullptr) {
        options_.checkpoint->add(piece_of(task, company), encoded(*judged_[task]));
      }
      observer_.on_progress(++finished, which.size());
    };
    if (company == Company::none) {
      memory_.fail_alone(counted_, tasks, on_end);
    } else {
      memory_.fail(counted_, tasks, on_end);
    }
  }

  bool take_known(std::size_t task, Company company) {
    if (options_.checkpoint == nullptr) return false;
    const std::optional<std::string> known = options_.checkpoint->find(piece_of(task, company));
    if (!known) return false;
    judged_[task] = decoded_judged_fault(*known);
    return true;
  }

  /// What is known of a command that makes other requests now is of no use.
  std::string piece_of(std::size_t task, Company company) const {
    return fmt::format("{:016x}/{}/{}/{}", requests_, company == Company::none ? "alone" : "beside",
                       tasks_[task].call, name_of(tasks_[task].form));
  }

  void say_what_was_not_copied() const {
    const Uncopied uncopied = memory_.uncopied();
    if (uncopied.faults == 0) return;
    options_.on_note(fmt::format("{} of {} faults needed their own run instead of a copy: {}",
                                 uncopied.faults, tasks_.size(), uncopied.why));
  }

  /// A copy finds the files of the program as other copies left them, and so does one of several
  /// runs: a bad verdict has to be that of a run of its own, too.
  void confirm() {
    for (const std::size_t task : first_of_alike(judged_)) {
      const TrialVerdict first = judged_[task]->verdict;
      fail({task}, Company::none);
      if (is_alike(judged_[task]->verdict, first)) continue;
      options_.on_note(
          fmt::format("{} behaves differently {} ({}) than in its own run, perhaps because files "
                      "are shared: each failure gets its own run",
                      memory_.plan_of(tasks_[task]), memory_.sharing(), first.what));
      fail(every_task(), Company::none);
      return;
    }
  }

  void give_up(std::string message, std::string hint, ExitReason reason) {
    error_ = ErrorResult{std::move(message), {}, 0, {}, std::move(hint)};
    reason_ = worse_of(reason_, reason);
  }

  /// Whether it ends well, so that there is something to compare failures with.
  bool is_sound(const CountedCommand& counted) {
    const CommandOutcome& outcome = counted.outcome;
    if (outcome.is_overdue) {
      give_up("the command without faults took longer than --timeout", {}, ExitReason::timeout);
    } else if (outcome.status != 0) {
      give_up(
          "the command fails without faults: " + exit_status_text(outcome.status, counted.cause),
          hint_for_failing(counted), ExitReason::script_error);
    } else if (!counted.problem.empty()) {
      give_up(counted.problem, counted.hint, ExitReason::script_error);
    } else if (!options_.check.empty() && !outcome.checked && outcome.not_computed.empty()) {
      give_up(fmt::format("--check: {}", outcome.check_error.empty() ? "it was not evaluated"
                                                                     : outcome.check_error),
              "it is an expression of Python, evaluated in the script's module at its end",
              ExitReason::script_error);
    }
    return !error_;
  }

  void note_network() const {
    if (counted_.network_host.empty()) return;
    options_.on_note(
        fmt::format("the command opens a network connection (to {}), and so does each run with a "
                    "fault: the reply may decide how it ends",
                    counted_.network_host));
  }

  /// Each name once.
  void note_not_computed(const CommandOutcome& outcome) {
    std::vector<std::string> names;
    for (const std::string& name : outcome.not_computed) {
      if (not_compared_.insert(name).second) names.push_back(name);
    }
    if (names.empty()) return;
    options_.on_note(fmt::format(
        "no kernel computed {}, which {} not compared: with --values cpu all values are computed",
        fmt::join(names, ", "), names.size() == 1 ? "is" : "are"));
  }

  void note_what_changed(const FolderChanges& changes) {
    const std::vector<std::string> left = changes.since();
    if (left.empty() || options_.in_scratch) return;
    counted_.shares_changed_files = true;
    options_.on_note(fmt::format(
        "files changed in this folder while the command ran ({}{}): if it writes them, so does "
        "each run with a fault; for GPU memory, --scratch gives each of them a copy of this folder",
        left.front(), left.size() == 1 ? "" : fmt::format(" and {} more", left.size() - 1)));
  }

  void choose_tasks() {
    const ChosenFaults chosen = chosen_faults(counted_.calls, options_.points, options_.forms);
    beyond_budget_ = chosen.beyond_budget;
    not_tried_ = counted_.calls.size() * kFaultFormNames.size() - chosen.tasks.size();
    for (std::size_t i = 0; i < chosen.tasks.size(); ++i) {
      if (options_.shard.has(i)) tasks_.push_back(chosen.tasks[i]);
    }
    judged_.resize(tasks_.size());
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
    failed.waived = waived_reason(options_.waivers, found.verdict, point.point);
    if (!failed.waived.empty()) ++swept.waived;
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
      if (judged_[i]) {
        add_verdict(swept, tasks_[i], judged_[i]->verdict);
      } else {
        ++swept.untested;
      }
    }
    swept.notes = sum_of_notes(judged_);
    return swept;
  }

  SweepResult result() const {
    SweepResult result;
    result.points = options_.points.text();
    result.form = form_text(options_);
    result.level = name_of(options_.level);
    if (!options_.shard.is_whole()) {
      ShardResult& shard = result.shard.emplace();
      shard.number = static_cast<std::int64_t>(options_.shard.index) + 1;
      shard.count = static_cast<std::int64_t>(options_.shard.count);
      shard.settings = options_.settings;
      shard.inputs = command_inputs(options_.words);
    }
    SweptScenario& scenario = result.scenarios.emplace_back();
    scenario.file = shell_command(options_.words);
    scenario.name = counted_.program.empty()
                        ? std::filesystem::path(options_.words.front()).filename().string()
                        : counted_.program;
    scenario.variants.push_back(variant());
    result.exit_reason = reason_;
    const std::vector<FailedFault>& failed = scenario.variants.back().failed;
    if (!std::all_of(failed.begin(), failed.end(), is_waived)) {
      result.exit_reason = worse_of(result.exit_reason, ExitReason::failed);
    }
    return result;
  }

  const CommandSweepOptions& options_;
  FailingMemory& memory_;
  SweepObserver& observer_;
  CountedCommand counted_;
  std::string difference_;
  std::uint64_t requests_ = 0;  ///< a hash of those that are made without faults
  std::vector<FaultTask> tasks_;
  std::vector<std::optional<JudgedFault>> judged_;  ///< of each task
  std::size_t beyond_budget_ = 0;
  std::size_t not_tried_ = 0;
  std::optional<ErrorResult> error_;
  ExitReason reason_ = ExitReason::passed;
  std::set<std::string> not_compared_;  ///< names that were told
};

}  // namespace

CheckpointedWork checkpointed_work(const CommandSweepOptions& options) {
  CheckpointedWork work{program_fingerprint(), options.settings, {}};
  work.settings["command"] = "sweep";
  work.settings["points"] = options.points.text();
  work.settings["form"] = form_text(options);
  work.settings["level"] = name_of(options.level);
  work.settings["scratch"] = options.in_scratch ? "true" : "false";
  work.settings["shard"] = fmt::format("{}/{}", options.shard.index + 1, options.shard.count);
  for (const ShardInput& input : command_inputs(options.words))
    work.files.emplace_back(input.file, input.hash);
  return work;
}

SweepOutcome sweep_command(const CommandSweepOptions& options, FailingMemory& memory,
                           SweepObserver& observer) {
  return CommandSweep(options, memory, observer).run();
}

}  // namespace ohm::engine

#include "harness/sweep/fault_trials.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "harness/process/memory_image.h"
#include "harness/process/stopwatch.h"
#include "harness/sweep/sweep_messages.h"

namespace ohm::engine {

namespace {

TaskVerdict ended_badly(const TrialProcess::Ended& ended) {
  TaskVerdict task;
  if (ended.end == TrialProcess::End::hung) {
    task.verdict = hung();
    return task;
  }
  task.verdict.verdict = FaultVerdict::crash;
  task.verdict.handled = true;
  task.verdict.what = ended.how;
  return task;
}

/// Whether runs in turn are still cheaper than forks. One late run proves nothing: a process's
/// first one finds nothing made yet, and any may have waited for its turn on the processor.
class TurnCosts {
 public:
  explicit TurnCosts(double seconds_of_a_fork) : seconds_of_a_fork_(seconds_of_a_fork) {}

  bool are_low() const { return lost_seconds_ <= kMostLost * seconds_of_a_fork_; }
  void add(const TaskVerdict& tried) {
    lost_seconds_ = std::max(0.0, lost_seconds_ + tried.seconds_before - seconds_of_a_fork_);
  }

 private:
  static constexpr double kMostLost = 8;

  double seconds_of_a_fork_;
  double lost_seconds_ = 0;
};

/// One worker's part of a sweep. An object lives on in every child that it forks, and knows which
/// of the processes it is in.
class FaultTrials {
 public:
  FaultTrials(const ScenarioLoader& loader, const TrialSetup& setup, const FaultFreeRun& fault_free,
              const std::vector<FaultTask>& tasks, const TrialsOptions& options,
              const KeepVerdict& keep)
      : loader_(loader),
        setup_(setup),
        fault_free_(fault_free),
        tasks_(tasks),
        options_(options),
        keep_(keep),
        verdicts_(tasks.size()),
        image_(options.depth < 2 ? options.most_bytes_put_back : 0) {}

  std::vector<TaskVerdict> run() {
    if (options_.engine == SweepEngine::fork) {
      // The second failure of a chain needs a fork of the first one's run.
      if (options_.depth < 2 && options_.seconds_of_a_fork > 0) run_in_turn();
      if (is_any_left_to_copy()) run_once();
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const bool needs_one = needs_own_run_.count(i) != 0;
      if (options_.engine == SweepEngine::exec || (needs_one && !is_known(i))) run_alone(i);
    }
    return std::move(verdicts_);
  }

 private:
  using Form = std::optional<FaultForm>;

  /// Note [Both forms]
  /// A failure that lasts is another run than one that passes only where the program asks for
  /// memory once more before it ends. Where it does not, the verdict on the one is that on the
  /// other, without a run. The engine `exec` runs both.
  bool is_known(std::size_t index) {
    if (index == 0 || tasks_[index].call != tasks_[index - 1].call) return false;
    const TaskVerdict& other_form = verdicts_[index - 1];
    if (!other_form.verdict.ended_at_failure) return false;
    set_verdict(index, other_form);
    return true;
  }

  // ---- the first of them in turn

  void run_in_turn() {
    bool is_worth_it = true;
    while (is_worth_it && next_ < tasks_.size()) {
      if (process_.fork_child(options_.limits)) try_in_turn();
      is_worth_it = take_all();
    }
  }

  [[noreturn]] void try_in_turn() {
    child_ = &process_;
    TurnCosts costs(options_.seconds_of_a_fork);
    for (std::size_t i = next_; i < tasks_.size() && costs.are_low(); ++i) {
      if (is_known(i)) continue;
      TrialProcess::renew(options_.limits);
      verdicts_[i] = tried(tasks_[i]);
      costs.add(verdicts_[i]);
    }
    process_.leave();
  }

  /// Posts the verdict. The process ends here where the next trial could see what this one left.
  TaskVerdict tried(const FaultTask& task) {
    const Stopwatch stopwatch;
    TaskVerdict found;
    Trial trial(loader_, setup_, [&](std::size_t call) {
      if (call != task.call) return Form();
      found.seconds_before = stopwatch.seconds();
      return Form(task.form);
    });
    prepare(trial);
    trial.run();
    found.verdict = trial.judged(fault_free_, usable_);
    process_.post(encoded(std::vector<TaskVerdict>{found}));
    if (!is_good(found.verdict.verdict)) process_.leave();
    note_usable(found);
    return found;
  }

  /// False when forks are cheaper from here on.
  bool take_all() {
    const TrialProcess::Ended ended = process_.wait();
    TurnCosts costs(options_.seconds_of_a_fork);
    for (const std::string& message : ended.messages) {
      const TaskVerdict task = decoded_verdicts(message).at(0);
      costs.add(task);
      take(task);
    }
    // What killed the process may be a trial's own failure, or what the one before it left.
    if (ended.end != TrialProcess::End::left && next_ < tasks_.size()) {
      needs_own_run_.insert(next_++);
    }
    return costs.are_low() && !ended.messages.empty();
  }

  // ---- the others from one run

  /// The others get runs of their own.
  bool is_any_left_to_copy() {
    const std::vector<std::uint8_t>& can_be_copied = fault_free_.calls.can_be_copied;
    for (std::size_t i = next_; i < tasks_.size(); ++i) {
      if (can_be_copied[tasks_[i].call] != 0) return true;
    }
    for (; next_ < tasks_.size(); ++next_) needs_own_run_.insert(next_);
    return false;
  }

  void run_once() {
    Trial trial(loader_, setup_, [this](std::size_t call) { return fork_at(call); });
    prepare(trial);
    trial.run();
    if (child_ == nullptr) return;
    if (!trial.recorder().has_fired()) child_->leave();
    report(trial);
  }

  Form fork_at(std::size_t call) {
    while (next_ < tasks_.size() && tasks_[next_].call == call) {
      if (is_known(next_)) {
        ++next_;
      } else if (!TrialProcess::can_fork()) {
        if (child_ != nullptr) child_->leave();
        needs_own_run_.insert(next_++);
      } else if (child_ != nullptr || process_.fork_child(options_.limits)) {
        if (const Form form = tried_here()) return form;
      } else {
        take_some();
      }
    }
    if (child_ != nullptr && next_ == tasks_.size()) child_->leave();
    return std::nullopt;
  }

  /// In the child: how the next call fails; nothing once it has, and its verdict is posted. The
  /// process goes on then as if it had not, to the call after it.
  Form tried_here() {
    constexpr std::size_t kMostTrials = 64;  // what is judged and not yet kept
    child_ = &process_;
    if (trials_here_ == kMostTrials) child_->leave();
    if (is_time_for_an_image()) {
      trials_before_image_ = trials_here_;
      const MemoryImage::Taken taken = image_.take();
      if (taken == MemoryImage::Taken::put_back) {
        take_posted();
        return std::nullopt;
      }
      goes_back_ = taken == MemoryImage::Taken::now;
      if (!goes_back_ && trials_here_ > 0) child_->leave();
    }
    TrialProcess::renew(options_.limits);
    return tasks_[next_].form;
  }

  /// The first in this process, or one that costs no more than the trials since the last one have
  /// lost on the way from there.
  bool is_time_for_an_image() const {
    if (!goes_back_) return true;
    const auto trials = static_cast<double>(trials_here_ - trials_before_image_);
    return 0.5 * trials * since_back_.seconds() >= image_.seconds_of_a_take();
  }

  /// In the child, which knows no more than when the image was taken.
  void take_posted() {
    TrialProcess::renew(kBetweenTrials);
    for (const std::string& message : child_->messages_after(trials_before_image_)) {
      take(decoded_verdicts(message).at(0));
      ++trials_here_;
    }
    goes_back_ = true;
    since_back_ = Stopwatch();
  }

  /// In the parent.
  void take_some() {
    const TrialProcess::Ended ended = process_.wait();
    for (const std::string& message : ended.messages) {
      take(decoded_verdicts(message).at(0));
    }
    // A trial that was not the first in its process may have failed through an earlier one.
    const bool is_its_own = ended.messages.empty() || ended.end == TrialProcess::End::hung;
    if (!is_its_own || next_ == tasks_.size()) return;
    if (ended.end != TrialProcess::End::left) {
      take(ended_badly(ended));
    } else {
      // Its run ended before the request was made again: without memory, say.
      needs_own_run_.insert(next_++);
    }
  }

  // ---- one of them, from the start

  void run_alone(std::size_t index) {
    const FaultTask& task = tasks_[index];
    if (!process_.fork_child(options_.limits)) return set_verdict(index, taken(process_));
    child_ = &process_;
    Trial trial(loader_, setup_,
                [&](std::size_t call) { return call == task.call ? Form(task.form) : Form(); });
    prepare(trial);
    trial.run();
    report(trial);
  }

  // ---- in the child

  /// What trials do in the process that this object is in, now or after a fork.
  void prepare(Trial& trial) {
    CallRecorder& recorder = trial.recorder();
    recorder.on_hang([this] {
      TaskVerdict hung = ended_badly({TrialProcess::End::hung, {}, {}});
      hung.verdict.what = "one request fails over and over, without any progress";
      send(hung);
    });
    if (options_.depth < 2) return;
    recorder.then([this, &recorder](std::size_t call) { return fork_second(recorder, call); });
  }

  /// A second failure at each point that is passed after the first: where it is passed first. After
  /// a failure that lasts there is nothing left to fail.
  Form fork_second(const CallRecorder& recorder, std::size_t call) {
    if (recorder.form() == FaultForm::persistent) return {};
    const std::uint64_t point = recorder.calls().points[call];
    if (is_second_ || !TrialProcess::can_fork() || !seconds_.insert(point).second) return {};
    ChainVerdict chain{point, 1, {}};
    if (second_process_.fork_child(options_.limits)) {
      is_second_ = true;
      chains_.clear();
      child_ = &second_process_;
      return FaultForm::transient;
    }
    chain.verdict = taken(second_process_).verdict;
    chains_.push_back(chain);
    return {};
  }

  [[noreturn]] void send(TaskVerdict& task) {
    task.chains = std::move(chains_);
    TrialProcess::renew(kBetweenTrials);  // what follows is not part of the trial
    child_->post(encoded(std::vector<TaskVerdict>{task}));
    if (goes_back_) image_.put_back();
    child_->leave();
  }

  [[noreturn]] void report(Trial& trial) {
    TaskVerdict task;
    task.verdict = trial.judged(fault_free_, usable_);
    send(task);
  }

  // ---- in the parent

  TaskVerdict taken(TrialProcess& process) {
    const TrialProcess::Ended ended = process.wait();
    TaskVerdict task = ended.end == TrialProcess::End::left
                           ? decoded_verdicts(ended.messages.at(0)).at(0)
                           : ended_badly(ended);
    note_usable(task);
    return task;
  }

  /// The next one's, and what is known with it.
  void take(const TaskVerdict& verdict) {
    note_usable(verdict);
    set_verdict(next_++, verdict);
    if (next_ < tasks_.size() && is_known(next_)) ++next_;
  }

  // ---- in both

  /// A child's knowledge is its own: what is to be kept is told by the worker.
  void set_verdict(std::size_t index, const TaskVerdict& verdict) {
    verdicts_[index] = verdict;
    if (keep_ && child_ == nullptr) keep_(index, verdict);
  }
  void note_usable(const TaskVerdict& task) {
    if (task.verdict.state_key != 0) usable_.insert(task.verdict.state_key);
  }

  const ScenarioLoader& loader_;
  const TrialSetup& setup_;
  const FaultFreeRun& fault_free_;
  const std::vector<FaultTask>& tasks_;
  const TrialsOptions& options_;
  const KeepVerdict& keep_;
  std::vector<TaskVerdict> verdicts_;
  std::set<std::size_t> needs_own_run_;
  std::size_t next_ = 0;
  UsableStates usable_;
  TrialProcess process_;
  TrialProcess second_process_;
  TrialProcess* child_ = nullptr;  ///< whose child this process is; nullptr: of none
  MemoryImage image_;
  bool goes_back_ = false;       ///< this process, once it has posted its verdict
  std::size_t trials_here_ = 0;  ///< after which this process went back
  std::size_t trials_before_image_ = 0;
  Stopwatch since_back_;
  bool is_second_ = false;
  std::set<std::uint64_t> seconds_;
  std::vector<ChainVerdict> chains_;
};

}  // namespace

std::vector<TaskVerdict> run_tasks(const ScenarioLoader& loader, const TrialSetup& setup,
                                   const FaultFreeRun& fault_free,
                                   const std::vector<FaultTask>& tasks,
                                   const TrialsOptions& options, const KeepVerdict& keep) {
  return FaultTrials(loader, setup, fault_free, tasks, options, keep).run();
}

}  // namespace ohm::engine

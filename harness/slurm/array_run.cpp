#include "harness/slurm/array_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <ctime>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "reports/model/exit_code.h"

namespace ohm::engine {

namespace {

/// The largest number of a task that Slurm takes unless it is set up otherwise.
constexpr std::size_t kMostTasksOfAnArray = 1000;

/// A report may be seen on this machine some time after its task is gone: a network's file system
/// tells of new files when it pleases.
constexpr std::size_t kLooksUntilLost = 3;

/// A controller that is started again does not answer for a while.
constexpr std::size_t kMostSilentLooks = 40;

std::string jobs_text(const std::vector<std::size_t>& shards) {
  return fmt::format("{}", fmt::join(shards, " "));
}

}  // namespace

ArrayRun::ArrayRun(const ArrayWork& work, ArrayOptions options, ArrayObserver& observer)
    : work_(work),
      options_(std::move(options)),
      observer_(observer),
      folder_(work),
      known_(folder_.work_path(), work.described(0)),
      shards_(work.shards + 1) {
  counts_.shards = work.shards;
  take_known_jobs();
}

/// What another run submitted may still wait or run. A record is a job's offset and shards.
void ArrayRun::take_known_jobs() {
  for (std::size_t i = 0; const std::string* const record = known_.find(fmt::format("job/{}", i));
       ++i) {
    std::istringstream words(*record);
    SlurmJob job;
    std::size_t offset = 0;
    words >> job >> offset;
    jobs_.push_back(job);
    for (std::size_t shard = 0; words >> shard;) {
      if (shard < shards_.size()) shards_[shard].task = {job, shard - offset};
    }
  }
}

int ArrayRun::follow() {
  constexpr double kFirstWaitSeconds = 0.5;
  constexpr double kLonger = 1.3;
  const InterruptGuard interrupts;
  double seconds = kFirstWaitSeconds;
  while (!look()) {
    if (!wait(interrupts, seconds)) return InterruptGuard::signal();
    seconds = std::min(kLonger * seconds, options_.most_seconds_between_looks);
  }
  // What would merge once more.
  if (!merge_job_.empty()) cancel_jobs({merge_job_});
  return 0;
}

/// Whether all shards have their reports.
bool ArrayRun::look() {
  const std::map<SlurmTask, std::string> queued = queue();
  // After the queue: a task that has left it has written its report before.
  const std::vector<bool> finished = folder_.finished();
  note(queued, finished);
  if (counts_.finished == counts_.shards) return true;
  if (silent_looks_ > 0) return false;
  const std::vector<std::size_t> again = lost(queued, finished);
  if (!again.empty()) submit(again);
  return false;
}

std::map<SlurmTask, std::string> ArrayRun::queue() {
  try {
    std::map<SlurmTask, std::string> queued = queued_tasks();
    silent_looks_ = 0;
    return queued;
  } catch (const SlurmUnavailable&) {
    if (jobs_.empty() || ++silent_looks_ > kMostSilentLooks) throw;
    return {};
  }
}

void ArrayRun::note(const std::map<SlurmTask, std::string>& queue,
                    const std::vector<bool>& finished) {
  counts_.finished = static_cast<std::size_t>(std::count(finished.begin(), finished.end(), true));
  if (silent_looks_ == 0) {
    counts_.running = 0;
    counts_.waiting = 0;
    queued_jobs_.clear();
    for (std::size_t shard = 1; shard < shards_.size(); ++shard) {
      const auto task = queue.find(shards_[shard].task);
      if (finished[shard] || task == queue.end()) continue;
      ++(task->second == "PENDING" ? counts_.waiting : counts_.running);
      queued_jobs_.insert(task->first.job);
    }
  }
  observer_.on_counts(counts_);
}

/// Shards without a report that no task is at.
std::vector<std::size_t> ArrayRun::lost(const std::map<SlurmTask, std::string>& queue,
                                        const std::vector<bool>& finished) {
  std::vector<std::size_t> lost;
  for (std::size_t number = 1; number < shards_.size(); ++number) {
    Shard& shard = shards_[number];
    if (finished[number]) continue;
    if (queue.count(shard.task) != 0) {
      shard.looks_absent = 0;
      continue;
    }
    const bool had_one = !shard.task.job.empty();
    if (had_one && ++shard.looks_absent < kLooksUntilLost) continue;
    if (shard.tasks > 0) {
      require_another_try(number);
      ++counts_.submitted_again;
      observer_.on_again(number, end_of_task(shard.task));
    }
    lost.push_back(number);
  }
  return lost;
}

/// Throws where another task would end as the last one did, or there were enough of them.
void ArrayRun::require_another_try(std::size_t shard) const {
  const int usage = ohm::exit_code(ExitReason::usage).code;
  if (folder_.exit_code(shard) == usage) {
    throw std::invalid_argument(fmt::format("shard {}/{} cannot be done: {}", shard, counts_.shards,
                                            folder_.log_end(shard)));
  }
  if (shards_[shard].tasks < options_.most_tasks) return;
  const std::string how = end_of_task(shards_[shard].task);
  throw SlurmUnavailable(fmt::format("shard {}/{} ended {} times without a report{}; {}", shard,
                                     counts_.shards, shards_[shard].tasks,
                                     how.empty() ? "" : fmt::format(", the last time as {}", how),
                                     folder_.log_end(shard)));
}

void ArrayRun::submit(const std::vector<std::size_t>& shards) {
  std::map<std::size_t, std::vector<std::size_t>> arrays;
  for (const std::size_t shard : shards) {
    arrays[(shard - 1) / kMostTasksOfAnArray * kMostTasksOfAnArray].push_back(shard);
  }
  for (const auto& [offset, of_array] : arrays) submit_array(of_array, offset);
  submit_merge();
  observer_.on_submitted(jobs_);
}

void ArrayRun::submit_array(const std::vector<std::size_t>& shards, std::size_t offset) {
  std::vector<std::size_t> numbers = shards;
  for (std::size_t& number : numbers) number -= offset;
  for (const std::size_t shard : shards) folder_.forget_end(shard);
  std::vector<std::string> options = {"--job-name=ohm", "--output=/dev/null"};
  options.insert(options.end(), options_.slurm_options.begin(), options_.slurm_options.end());
  options.push_back("--array=" + array_text(numbers));
  const SlurmJob job = submit_job(options, folder_.shard_script(), {std::to_string(offset)});
  known_.add(fmt::format("job/{}", jobs_.size()),
             fmt::format("{} {} {}", job, offset, jobs_text(shards)));
  known_.sync();
  jobs_.push_back(job);
  for (const std::size_t shard : shards) {
    shards_[shard].task = {job, shard - offset};
    ++shards_[shard].tasks;
    shards_[shard].looks_absent = 0;
  }
}

/// For a user who goes home: the last job that depends on all of them merges.
void ArrayRun::submit_merge() {
  if (!merge_job_.empty()) cancel_jobs({merge_job_});
  std::set<SlurmJob> jobs = queued_jobs_;
  for (const Shard& shard : shards_) {
    if (shard.tasks > 0) jobs.insert(shard.task.job);
  }
  std::vector<std::string> options = {
      "--job-name=ohm-merge", "--output=/dev/null",
      fmt::format("--dependency=afterany:{}", fmt::join(jobs, ":"))};
  options.insert(options.end(), options_.slurm_options.begin(), options_.slurm_options.end());
  merge_job_ = submit_job(options, folder_.merge_script());
}

std::vector<SlurmJob> ArrayRun::jobs_at_work() const {
  std::set<SlurmJob> jobs;
  for (const auto& [task, state] : queued_tasks()) {
    if (std::find(jobs_.begin(), jobs_.end(), task.job) != jobs_.end()) jobs.insert(task.job);
  }
  if (!jobs.empty() && !merge_job_.empty()) jobs.insert(merge_job_);
  return {jobs.begin(), jobs.end()};
}

/// False when a signal arrived.
bool ArrayRun::wait(const InterruptGuard& interrupts, double seconds) const {
  constexpr double kNanoseconds = 1e9;
  const timespec time = {
      static_cast<time_t>(seconds),
      static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) *
                        kNanoseconds)};
  ::ppoll(nullptr, 0, &time, &interrupts.waiting_mask());
  return InterruptGuard::signal() == 0;
}

}  // namespace ohm::engine

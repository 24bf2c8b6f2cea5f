#include "harness/slurm/array_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
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

/// Of shards that any machine may do, in the place of a type's name.
constexpr std::string_view kNoType = "-";

}  // namespace

ArrayRun::ArrayRun(const ArrayWork& work, ArrayOptions options, ArrayObserver& observer)
    : work_(work),
      options_(std::move(options)),
      observer_(observer),
      folder_(work),
      known_(folder_.work_path(), work.described(0)) {
  for (const ArrayPiece& piece : folder_.pieces()) shards_[piece];
  counts_.shards = shards_.size();
  take_known_jobs();
}

/// What another run submitted may still wait or run. A record is a job's type of cards, offset and
/// shards; those of a type that is not asked for now go on by themselves.
void ArrayRun::take_known_jobs() {
  for (std::size_t i = 0;
       const std::optional<std::string> record = known_.find(fmt::format("job/{}", i)); ++i) {
    std::istringstream words(*record);
    SlurmJob job;
    std::string type;
    std::size_t offset = 0;
    words >> job >> type >> offset;
    jobs_.push_back(job);
    ArrayPiece piece;
    while (piece.card_type < folder_.groups() && type_name(piece.card_type) != type) {
      ++piece.card_type;
    }
    while (words >> piece.shard) {
      const auto shard = shards_.find(piece);
      if (shard != shards_.end()) shard->second.task = {job, piece.shard - offset};
    }
  }
}

std::string ArrayRun::type_name(std::size_t card_type) const {
  return work_.card_types.empty() ? std::string(kNoType) : work_.card_types[card_type];
}

std::string ArrayRun::text_of(const ArrayPiece& piece, bool has_count) const {
  std::string text = std::to_string(piece.shard);
  if (has_count) text += fmt::format("/{}", work_.shards);
  return work_.card_types.empty() ? text : text + " on " + type_name(piece.card_type);
}

std::vector<std::string> ArrayRun::slurm_options_of(std::size_t card_type) const {
  std::vector<std::string> options = {"--job-name=ohm", "--output=/dev/null"};
  options.insert(options.end(), options_.slurm_options.begin(), options_.slurm_options.end());
  if (!work_.card_types.empty()) options.push_back("--gres=gpu:" + type_name(card_type) + ":1");
  return options;
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
  const std::set<ArrayPiece> finished = folder_.finished();
  note(queued, finished);
  if (counts_.finished == counts_.shards) return true;
  if (silent_looks_ > 0) return false;
  const std::vector<ArrayPiece> again = lost(queued, finished);
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
                    const std::set<ArrayPiece>& finished) {
  counts_.finished = finished.size();
  if (silent_looks_ == 0) {
    counts_.running = 0;
    counts_.waiting = 0;
    queued_jobs_.clear();
    for (const auto& [piece, shard] : shards_) {
      const auto task = queue.find(shard.task);
      if (finished.count(piece) > 0 || task == queue.end()) continue;
      ++(task->second == "PENDING" ? counts_.waiting : counts_.running);
      queued_jobs_.insert(task->first.job);
    }
  }
  observer_.on_counts(counts_);
}

/// Shards without a report that no task is at.
std::vector<ArrayPiece> ArrayRun::lost(const std::map<SlurmTask, std::string>& queue,
                                       const std::set<ArrayPiece>& finished) {
  std::vector<ArrayPiece> lost;
  for (auto& [piece, shard] : shards_) {
    if (finished.count(piece) > 0) continue;
    if (queue.count(shard.task) != 0) {
      shard.looks_absent = 0;
      continue;
    }
    const bool had_one = !shard.task.job.empty();
    if (had_one && ++shard.looks_absent < kLooksUntilLost) continue;
    if (shard.tasks > 0) {
      require_another_try(piece);
      ++counts_.submitted_again;
      observer_.on_again(text_of(piece, false), end_of_task(shard.task));
    }
    lost.push_back(piece);
  }
  return lost;
}

/// Throws where another task would end as the last one did, or there were enough of them.
void ArrayRun::require_another_try(const ArrayPiece& piece) const {
  const int usage = ohm::exit_code(ExitReason::usage).code;
  if (folder_.exit_code(piece) == usage) {
    throw std::invalid_argument(
        fmt::format("shard {} cannot be done: {}", text_of(piece, true), folder_.log_end(piece)));
  }
  const Shard& shard = shards_.at(piece);
  if (shard.tasks < options_.most_tasks) return;
  const std::string how = end_of_task(shard.task);
  throw SlurmUnavailable(fmt::format(
      "shard {} ended {} times without a report{}; {}", text_of(piece, true), shard.tasks,
      how.empty() ? "" : fmt::format(", the last time as {}", how), folder_.log_end(piece)));
}

void ArrayRun::submit(const std::vector<ArrayPiece>& pieces) {
  // By type of cards and offset.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<ArrayPiece>> arrays;
  for (const ArrayPiece& piece : pieces) {
    const std::size_t offset = (piece.shard - 1) / kMostTasksOfAnArray * kMostTasksOfAnArray;
    arrays[{piece.card_type, offset}].push_back(piece);
  }
  for (const auto& [place, of_array] : arrays) require_known_type(place.first);
  for (const auto& [place, of_array] : arrays) submit_array(of_array, place.second);
  submit_merge();
  observer_.on_submitted(jobs_);
}

/// Throws for a type that Slurm does not have, before anything runs on another.
void ArrayRun::require_known_type(std::size_t card_type) const {
  if (work_.card_types.empty()) return;
  try {
    test_job(slurm_options_of(card_type), folder_.shard_script());
  } catch (const std::invalid_argument& refused) {
    throw std::invalid_argument(
        fmt::format("a card of the type {}: {}", type_name(card_type), refused.what()));
  }
}

/// Of one type of cards.
void ArrayRun::submit_array(const std::vector<ArrayPiece>& pieces, std::size_t offset) {
  const std::size_t card_type = pieces.front().card_type;
  std::vector<std::size_t> shards;
  std::vector<std::size_t> numbers;
  for (const ArrayPiece& piece : pieces) {
    folder_.forget_end(piece);
    shards.push_back(piece.shard);
    numbers.push_back(piece.shard - offset);
  }
  std::vector<std::string> options = slurm_options_of(card_type);
  options.push_back("--array=" + array_text(numbers));
  std::vector<std::string> arguments = {std::to_string(offset)};
  if (!work_.card_types.empty()) arguments.push_back(folder_.prefix_of(card_type));
  const SlurmJob job = submit_job(options, folder_.shard_script(), arguments);
  known_.add(fmt::format("job/{}", jobs_.size()),
             fmt::format("{} {} {} {}", job, type_name(card_type), offset, fmt::join(shards, " ")));
  known_.sync();
  jobs_.push_back(job);
  for (const ArrayPiece& piece : pieces) {
    Shard& shard = shards_[piece];
    shard.task = {job, piece.shard - offset};
    ++shard.tasks;
    shard.looks_absent = 0;
  }
}

/// For a user who goes home: the last job that depends on all of them merges.
void ArrayRun::submit_merge() {
  if (!merge_job_.empty()) cancel_jobs({merge_job_});
  std::set<SlurmJob> jobs = queued_jobs_;
  for (const auto& [piece, shard] : shards_) {
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

#include "harness/process/worker_pool.h"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <optional>
#include <vector>

#include "harness/process/worker_process.h"

namespace ohm::engine {

WorkerPool::WorkerPool(const WorkerOptions& options) : options_(options) {}

WorkerPool::~WorkerPool() { drop_all(); }

void WorkerPool::submit(std::int64_t order, Work work, WorkDone done) {
  add(order, fork_for(std::move(work)), std::move(done), options_.timeout_seconds);
}

void WorkerPool::submit_untimed(std::int64_t order, Work work, WorkDone done) {
  add(order, fork_for(std::move(work)), std::move(done), 0);
}

void WorkerPool::submit_copy(std::int64_t order, std::shared_ptr<WorkOrigin> origin,
                             std::string request, WorkDone done) {
  const auto copy = [origin, request = std::move(request)](const Outlets& outlets) {
    return origin->copy(outlets, request);
  };
  // Whose end the origin tells: it stays until then.
  const auto tell = [origin = std::move(origin), done = std::move(done)](WorkResult result) {
    done(std::move(result));
  };
  add(order, copy, tell, options_.timeout_seconds);
}

StartProcess WorkerPool::fork_for(Work work) const {
  return [this, work = std::move(work)](const Outlets& outlets) {
    return fork_worker(work, outlets, interrupts_);
  };
}

void WorkerPool::add(std::int64_t order, StartProcess start, WorkDone done,
                     double timeout_seconds) {
  ++submitted_;
  const auto count_and_tell = [this, done = std::move(done)](WorkResult result) {
    ++finished_;
    done(std::move(result));
  };
  waiting_.emplace(order, Waiting{std::move(start), count_and_tell, timeout_seconds});
}

void WorkerPool::start(std::int64_t order, std::shared_ptr<WorkOrigin> origin, WorkDone done) {
  const auto begin = [this, origin](const Outlets& outlets) {
    return origin->start(outlets, interrupts_);
  };
  const auto take_and_tell = [origin, done = std::move(done)](WorkResult result) {
    origin->take_beginning(result);
    done(std::move(result));
  };
  waiting_.emplace(order, Waiting{begin, take_and_tell, options_.timeout_seconds});
}

void WorkerPool::run(const std::function<bool()>& keep_going) {
  while (keep_going()) {
    if (waiting_.empty() && running_.empty()) return;
    if (InterruptGuard::signal() != 0) {
      interrupt_all();
      continue;
    }
    while (room_for_another()) start_next();
    wait_for_news();
    kill_overdue();
    collect_finished();
  }
  drop_all();
}

bool WorkerPool::room_for_another() const {
  return !waiting_.empty() && running_.size() < static_cast<std::size_t>(options_.jobs);
}

void WorkerPool::start_next() {
  const auto first = waiting_.begin();
  Waiting next = std::move(first->second);
  waiting_.erase(first);
  running_.push_back(
      std::make_unique<WorkerProcess>(next.start, std::move(next.done), next.timeout_seconds));
}

namespace {

timespec to_timespec(double seconds) {
  const double whole = std::floor(seconds);
  return {static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
}

}  // namespace

void WorkerPool::wait_for_news() {
  std::vector<pollfd> polled;
  std::vector<PipeReader*> readers;
  std::optional<double> seconds;
  if (options_.wake_seconds > 0) seconds = options_.wake_seconds;
  for (const std::unique_ptr<WorkerProcess>& process : running_) {
    for (PipeReader* reader : {&process->message, &process->output}) {
      if (!reader->is_open()) continue;
      polled.push_back({reader->descriptor(), POLLIN, 0});
      readers.push_back(reader);
    }
    const std::optional<double> left = process->is_overdue ? std::nullopt : process->seconds_left();
    if (left) seconds = std::max(0.0, std::min(*left, seconds.value_or(*left)));
  }
  const timespec timeout = to_timespec(seconds.value_or(0));
  const int ready = ::ppoll(polled.data(), polled.size(), seconds ? &timeout : nullptr,
                            &interrupts_.waiting_mask());
  for (std::size_t i = 0; ready > 0 && i < polled.size(); ++i) {
    if (polled[i].revents != 0) readers[i]->read_some();
  }
}

void WorkerPool::kill_overdue() {
  std::vector<const WorkerProcess*> overdue;
  for (const std::unique_ptr<WorkerProcess>& process : running_) {
    const std::optional<double> left = process->seconds_left();
    if (process->is_overdue || !left || *left > 0) continue;
    process->is_overdue = true;
    overdue.push_back(process.get());
  }
  end_all(overdue);
}

void WorkerPool::collect_finished() {
  for (auto it = running_.begin(); it != running_.end();) {
    if (!(*it)->is_finished()) {
      ++it;
      continue;
    }
    const std::unique_ptr<WorkerProcess> process = std::move(*it);
    it = running_.erase(it);
    process->done(process->reap());
  }
}

void WorkerPool::end_running() {
  std::vector<const WorkerProcess*> all;
  for (const std::unique_ptr<WorkerProcess>& process : running_) all.push_back(process.get());
  end_all(all);
}

void WorkerPool::interrupt_all() {
  end_running();
  while (!running_.empty()) {
    const std::unique_ptr<WorkerProcess> process = std::move(running_.front());
    running_.pop_front();
    WorkResult result = process->reap();
    result.end = WorkEnd::interrupted;
    process->done(std::move(result));
  }
  while (!waiting_.empty()) {
    const WorkDone done = std::move(waiting_.begin()->second.done);
    waiting_.erase(waiting_.begin());
    done(WorkResult{});
  }
}

void WorkerPool::drop_all() {
  waiting_.clear();
  end_running();
  for (const std::unique_ptr<WorkerProcess>& process : running_) process->reap();
  running_.clear();
}

}  // namespace ohm::engine

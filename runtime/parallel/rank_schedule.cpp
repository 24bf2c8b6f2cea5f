#include "runtime/parallel/rank_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

namespace ohm::parallel {
namespace {

constexpr int kNobody = -1;

ExecutionState state_of_new_rank(const Context& context, std::size_t rank) {
  ExecutionState state = context.state;
  // A process of its own has computed nothing yet, and is in no pass and under no checkpoint.
  state.convolution_plans.forget_all();
  state.autograd = {};
  state.after_backward.clear();
  state.backward_pass = 0;
  state.running_module = nullptr;
  if (!context.gpus.empty()) {
    state.current_gpu = Device::cuda(static_cast<int>(rank % context.gpus.size()));
  }
  return state;
}

}  // namespace

std::string names_of_ranks(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  const std::vector<int> first(ranks.begin(), ranks.end() - (ranks.empty() ? 0 : 1));
  return ranks.empty() ? "no rank"
                       : fmt::format("ranks {} and {}", fmt::join(first, ", "), ranks.back());
}

RankSchedule::RankSchedule(int world_size, Context& context)
    : context_(context), ranks_(static_cast<std::size_t>(world_size)) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) ranks_[i].state = state_of_new_rank(context, i);
}

void RankSchedule::run(const std::function<void(int rank)>& body) {
  ExecutionState callers_state = context_.state;
  std::vector<std::thread> threads;
  threads.reserve(ranks_.size());
  for (int rank = 0; rank < world_size(); ++rank) {
    threads.emplace_back([this, &body, rank] { rank_main(rank, body); });
  }
  for (std::thread& thread : threads) thread.join();
  context_.state = std::move(callers_state);
  std::exception_ptr first_error;
  if (first_failed_ >= 0) first_error = ranks_[static_cast<std::size_t>(first_failed_)].error;
  // Handles may outlive the ranks; what an error holds may lead to them.
  for (Rank& rank : ranks_) {
    rank.state = ExecutionState();
    rank.error = nullptr;
  }
  if (first_error) std::rethrow_exception(first_error);
}

void RankSchedule::rank_main(int rank, const std::function<void(int rank)>& body) {
  const ContextGuard guard(context_);
  Rank& self = ranks_[static_cast<std::size_t>(rank)];
  wait_for_turn(rank);
  try {
    body(rank);
  } catch (...) {
    self.error = std::current_exception();
    if (first_failed_ < 0) first_failed_ = rank;
  }
  self.phase = Phase::ended;
  pass_turn_from(rank);
}

void RankSchedule::wait_for_turn(int rank) {
  std::unique_lock<std::mutex> lock(mutex_);
  turn_changed_.wait(lock, [&] { return running_ == rank; });
  context_.state = std::move(ranks_[static_cast<std::size_t>(rank)].state);
}

bool RankSchedule::can_go_on(const Rank& rank, Phase most_patient) const {
  if (rank.phase == Phase::ended) return false;
  return rank.phase <= most_patient || rank.wait->is_over();
}

// The next rank in order that can go on; then one that only let others go first. Where there is
// neither, ranks that wait go on too: into the error that tells them why.
void RankSchedule::pass_turn_from(int rank) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ranks_[static_cast<std::size_t>(rank)].state = std::move(context_.state);
  running_ = kNobody;
  for (const Phase most_patient : {Phase::ready, Phase::letting_others, Phase::waiting}) {
    for (int step = 1; step <= world_size() && running_ == kNobody; ++step) {
      const int candidate = (rank + step) % world_size();
      if (can_go_on(ranks_[static_cast<std::size_t>(candidate)], most_patient)) {
        running_ = candidate;
      }
    }
  }
  turn_changed_.notify_all();
}

void RankSchedule::pause(Phase phase, const Wait& wait) {
  const int rank = running_;
  Rank& self = running();
  self.phase = phase;
  self.wait = &wait;
  pass_turn_from(rank);
  wait_for_turn(rank);
  self.phase = Phase::ready;
}

void RankSchedule::wait(const Wait& wait) {
  if (world_size() > 1) pause(Phase::waiting, wait);
  if (wait.is_over()) return;
  require_running(wait.call, wait.missing());
  // Those that wait as well are in the text.
  running().phase = Phase::waiting;
  running().wait = &wait;
  const std::string text = deadlock(wait.call);
  running().phase = Phase::ready;
  throw std::runtime_error(text);
}

void RankSchedule::let_others_go_on(const Wait& wait) {
  if (world_size() > 1 && !wait.is_over()) pause(Phase::letting_others, wait);
}

void RankSchedule::require_running(std::string_view call, const std::vector<int>& ranks) const {
  if (first_failed_ >= 0) {
    throw std::runtime_error(fmt::format("[{}] rank {} failed", call, first_failed_));
  }
  for (const int rank : ranks) {
    if (ranks_[static_cast<std::size_t>(rank)].phase != Phase::ended) continue;
    throw std::runtime_error(fmt::format("[{}] rank {} ended without joining it", call, rank));
  }
}

StreamId RankSchedule::next_stream() { return kFirstRankStream + streams_++ % kRankStreamsInPool; }

std::string RankSchedule::deadlock(std::string_view call) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = ranks_[i];
    texts.push_back(rank.phase == Phase::ended
                        ? fmt::format("rank {} has ended", i)
                        : fmt::format("rank {} waits in {} for {}", i, rank.wait->call,
                                      names_of_ranks(rank.wait->missing())));
  }
  return fmt::format("[{}] no rank can go on: {}", call, fmt::join(texts, ", "));
}

}  // namespace ohm::parallel

#include "harness/fit/matched_requests.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace ohm::engine {

namespace {

/// Who asked: blocks of different streams are never one another's counterparts.
struct Asker {
  std::uint32_t step = 0;
  StackId stack = kNoStack;
  StreamId stream = kDefaultStream;
  std::uint64_t after = 0;  ///< the last act before that has a counterpart; 0: none

  friend bool operator<(const Asker& a, const Asker& b) {
    return std::tie(a.step, a.stack, a.stream, a.after) <
           std::tie(b.step, b.stack, b.stream, b.after);
  }
};
using LivesOfRecordings = std::vector<std::vector<std::uint32_t>>;

std::uint32_t step_at(const RecordedGpu& gpu, std::size_t event) {
  const auto after = std::upper_bound(gpu.step_ends.begin(), gpu.step_ends.end(), event);
  return static_cast<std::uint32_t>(after - gpu.step_ends.begin());
}

EventAction free_action(const BlockLives& lives) {
  return lives.has_free_requested ? EventAction::free_requested : EventAction::free_completed;
}

/// Calls visit(life, is_request) for each request and each free before event `end`, in their order.
template <class Visit>
void for_each_act(const RecordedGpu& gpu, std::size_t end, Visit&& visit) {
  const DeviceHistory& history = gpu.history.history();
  const BlockLives& lives = gpu.history.lives();
  const EventAction free = free_action(lives);
  for (std::size_t i = gpu.history.first_event(); i < end; ++i) {
    const bool is_request = history.events[i].action == EventAction::alloc;
    if (is_request || history.events[i].action == free) visit(lives.life_of[i], is_request);
  }
}

/// A number for each act that has a counterpart, the same in every recording.
std::uint64_t act_number(std::uint32_t match, bool is_request) {
  return 2 * (std::uint64_t{match} + 1) + (is_request ? 0 : 1);
}

bool are_as_many(const LivesOfRecordings& lives) {
  return std::all_of(lives.begin(), lives.end(),
                     [&](const auto& some) { return some.size() == lives.front().size(); });
}

UnmatchedRequests unmatched_of(const Asker& asker, const LivesOfRecordings& lives) {
  UnmatchedRequests requests;
  requests.step = asker.step;
  for (const auto& some : lives) requests.counts.push_back(some.size());
  const auto most = std::max_element(requests.counts.begin(), requests.counts.end());
  requests.in = static_cast<std::size_t>(most - requests.counts.begin());
  requests.life = lives[requests.in].front();
  return requests;
}

}  // namespace

MatchedRequests::MatchedRequests(const RecordingsOfGpu& recordings) {
  find_ends(recordings);
  match(recordings);
  add_part(recordings);
  const std::vector<std::uint64_t> order = order_in(recordings, 0);
  for (std::size_t i = 1; i < recordings.recordings.size(); ++i) {
    has_one_order_ = has_one_order_ && order == order_in(recordings, i);
  }
}

void MatchedRequests::find_ends(const RecordingsOfGpu& recordings) {
  const std::size_t count = recordings.recordings.size();
  std::size_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t steps = recordings.of(i).step_ends.size();
    steps_ = i == 0 ? steps : std::min(steps_, steps);
    most = std::max(most, steps);
  }
  is_cut_ = steps_ != most;
  for (std::size_t i = 0; i < count; ++i) {
    const RecordedGpu& gpu = recordings.of(i);
    ends_.push_back(is_cut_ ? gpu.step_ends[steps_ - 1] : gpu.history.history().events.size());
  }
}

void MatchedRequests::match(const RecordingsOfGpu& recordings) {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    matches_.emplace_back(recordings.of(i).history.lives().lives.size(), kUnmatched);
  }
  while (match_some(recordings)) {
  }
  std::sort(unmatched_.begin(), unmatched_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.step, a.in, a.life) < std::tie(b.step, b.in, b.life);
  });
}

/// Of what has no counterpart yet, what now is as often in every recording; false: nothing is. What
/// is found tells more of what stands between it.
bool MatchedRequests::match_some(const RecordingsOfGpu& recordings) {
  std::vector<std::int64_t> values;
  std::map<Asker, LivesOfRecordings> all;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    values.push_back(recordings.recordings[i].value);
    const RecordedGpu& gpu = recordings.of(i);
    std::uint64_t after = 0;
    for_each_act(gpu, ends_[i], [&](std::uint32_t index, bool is_request) {
      const std::uint32_t match = matches_[i][index];
      if (match != kUnmatched) {
        after = act_number(match, is_request);
      } else if (is_request) {
        const BlockLife& life = gpu.history.lives().lives[index];
        LivesOfRecordings& lives =
            all[{step_at(gpu, life.allocated_at), gpu.stacks[index], life.stream, after}];
        lives.resize(ends_.size());
        lives[i].push_back(index);
      }
    });
  }
  const std::size_t before = laws_.size();
  unmatched_.clear();
  std::vector<std::int64_t> sizes(values.size());
  for (const auto& [asker, lives] : all) {
    if (!are_as_many(lives)) {
      unmatched_.push_back(unmatched_of(asker, lives));
      continue;
    }
    for (std::size_t nth = 0; nth < lives.front().size(); ++nth) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint32_t life = lives[i][nth];
        sizes[i] =
            static_cast<std::int64_t>(recordings.of(i).history.lives().lives[life].requested_bytes);
        matches_[i][life] = static_cast<std::uint32_t>(laws_.size());
      }
      laws_.emplace_back(values, sizes);
    }
  }
  return laws_.size() > before;
}

void MatchedRequests::add_part(const RecordingsOfGpu& recordings) {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    Part& all = compared_.emplace_back();
    Part& left = left_over_.emplace_back();
    const RecordedGpu& gpu = recordings.of(i);
    for_each_act(gpu, ends_[i], [&](std::uint32_t life, bool is_request) {
      if (!is_request) return;
      const std::size_t bytes = gpu.history.lives().lives[life].requested_bytes;
      for (Part* part : {&all, matches_[i][life] == kUnmatched ? &left : nullptr}) {
        if (part == nullptr) continue;
        ++part->requests;
        part->bytes += bytes;
      }
    });
  }
}

/// What has a counterpart; blocks that are freed one after another in the order of their matches,
/// for what is free afterwards is the same.
std::vector<std::uint64_t> MatchedRequests::order_in(const RecordingsOfGpu& recordings,
                                                     std::size_t recording) const {
  std::vector<std::uint64_t> order;
  std::size_t first_free = 0;
  const auto order_frees = [&] {
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first_free), order.end());
  };
  for_each_act(recordings.of(recording), ends_[recording],
               [&](std::uint32_t life, bool is_request) {
                 const std::uint32_t match = matches_[recording][life];
                 if (match == kUnmatched) return;
                 if (is_request) order_frees();
                 order.push_back(act_number(match, is_request));
                 if (is_request) first_free = order.size();
               });
  order_frees();
  return order;
}

}  // namespace ohm::engine

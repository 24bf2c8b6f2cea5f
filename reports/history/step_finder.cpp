#include "reports/history/step_finder.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>
#include <utility>

namespace ohm::reports {

namespace {

/// Periods that are tried: those that the most allocations speak for.
constexpr std::size_t kMostCandidates = 64;

std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EB;
  return value ^ (value >> 31U);
}

/// Counts requests. One flat table: most requests of a long record may be unlike all others, and a
/// node for each takes longer than everything else here.
class Occurrences {
 public:
  struct Seen {
    std::uint64_t request = 0;
    std::size_t first = 0;  ///< where
    std::size_t count = 0;  ///< 0: a free slot
  };

  explicit Occurrences(const std::vector<std::uint64_t>& requests)
      : slots_(std::bit_ceil(2 * requests.size() + 1)) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      Seen& seen = slot_of(requests[i]);
      if (seen.count++ == 0) {
        seen.request = requests[i];
        seen.first = i;
      }
    }
  }

  /// In no order; free ones too.
  const std::vector<Seen>& slots() const { return slots_; }

 private:
  Seen& slot_of(std::uint64_t request) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = mixed(request) & mask;
    while (slots_[at].count != 0 && slots_[at].request != request) at = (at + 1) & mask;
    return slots_[at];
  }

  std::vector<Seen> slots_;
};

struct Repetition {
  std::vector<std::size_t> begins;  ///< of each step, and behind the last
  std::size_t regular = 0;          ///< steps that are like most
  std::size_t covered = 0;          ///< allocations in them

  std::size_t steps() const { return begins.empty() ? 0 : begins.size() - 1; }

  /// Explains more; or as much, with fewer exceptions; or in shorter steps.
  bool is_better_than(const Repetition& other) const {
    if (covered != other.covered) return covered > other.covered;
    const std::size_t mine = regular * other.steps();
    const std::size_t others = other.regular * steps();
    return mine != others ? mine > others : steps() > other.steps();
  }
};

class StepFinder {
 public:
  explicit StepFinder(const std::vector<std::uint64_t>& requests) : requests_(requests) {
    sums_.reserve(requests.size() + 1);
    sums_.push_back(0);
    for (const std::uint64_t request : requests) sums_.push_back(sums_.back() + mixed(request));
  }

  Repetition best() const {
    Repetition best;
    for (const std::vector<std::size_t>& anchor : anchors()) {
      Repetition one = repetition_at(anchor);
      if (one.is_better_than(best)) best = std::move(one);
    }
    return best;
  }

 private:
  struct Group {
    std::uint64_t request = 0;  ///< the one that comes first
    std::size_t first = 0;      ///< where
    std::size_t requests = 0;   ///< of all that occur as often
  };

  /// Of each number of occurrences the request that comes first; those with most requests first.
  std::vector<Group> groups() const {
    const Occurrences occurrences(requests_);
    std::map<std::size_t, Group> by_count;
    for (const Occurrences::Seen& one : occurrences.slots()) {
      if (one.count < kFewestSteps) continue;
      const auto [group, is_new] =
          by_count.try_emplace(one.count, Group{one.request, one.first, 0});
      group->second.requests += one.count;
      if (!is_new && one.first < group->second.first) {
        group->second.request = one.request;
        group->second.first = one.first;
      }
    }
    std::vector<Group> order;
    order.reserve(by_count.size());
    for (const auto& [count, group] : by_count) order.push_back(group);
    std::stable_sort(order.begin(), order.end(),
                     [](const Group& a, const Group& b) { return a.requests > b.requests; });
    if (order.size() > kMostCandidates) order.resize(kMostCandidates);
    return order;
  }

  /// Where the first request of each group occurs.
  std::vector<std::vector<std::size_t>> anchors() const {
    std::unordered_map<std::uint64_t, std::size_t> wanted;
    for (const Group& group : groups()) wanted.try_emplace(group.request, wanted.size());
    std::vector<std::vector<std::size_t>> anchors(wanted.size());
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const auto found = wanted.find(requests_[i]);
      if (found != wanted.end()) anchors[found->second].push_back(i);
    }
    return anchors;
  }

  /// What a range of requests is made of, whatever their order.
  std::uint64_t sum(std::size_t begin, std::size_t end) const { return sums_[end] - sums_[begin]; }

  Repetition repetition_at(const std::vector<std::size_t>& anchor) const {
    std::map<std::pair<std::uint64_t, std::size_t>, std::size_t> kinds;
    for (std::size_t i = 0; i + 1 < anchor.size(); ++i) {
      ++kinds[{sum(anchor[i], anchor[i + 1]), anchor[i + 1] - anchor[i]}];
    }
    const auto most =
        std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
          return std::pair(a.second, a.first.second) < std::pair(b.second, b.first.second);
        });
    const auto [kind, length] = most->first;
    Repetition found;
    found.begins = anchor;
    std::size_t count = most->second;
    // The last step ends where it has made what the others made, or with the program.
    const std::size_t end = std::min(anchor.back() + length, requests_.size());
    if (end - anchor.back() == length && sum(anchor.back(), end) == kind) ++count;
    found.begins.push_back(end);
    if (count < kFewestSteps || 2 * count < anchor.size()) return {};
    found.regular = count;
    found.covered = count * length;
    return found;
  }

  const std::vector<std::uint64_t>& requests_;
  std::vector<std::uint64_t> sums_;
};

}  // namespace

std::vector<std::size_t> find_steps(const std::vector<std::uint64_t>& requests) {
  Repetition found = StepFinder(requests).best();
  // What covers little is a loop inside of something, not the program's.
  if (3 * found.covered < requests.size()) return {};
  return std::move(found.begins);
}

}  // namespace ohm::reports

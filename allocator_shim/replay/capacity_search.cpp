#include "allocator_shim/replay/capacity_search.h"

#include <algorithm>

#include "allocator_shim/base/size_policy.h"

namespace ohm {
namespace {

/// Segments and chunks are multiples of it, and so is what a device can have left.
constexpr std::size_t kStepBytes = kSegmentRoundingBytes;
constexpr std::size_t kMostEvents = 100'000'000;
constexpr std::size_t kMostRuns = 20'000;

std::size_t round_down(std::size_t bytes) { return bytes / kStepBytes * kStepBytes; }

class Search {
 public:
  Search(const std::function<WhatIfOutcome(std::size_t)>& run, std::size_t events)
      : run_(run), most_runs_(std::clamp<std::size_t>(kMostEvents / (events + 1), 20, kMostRuns)) {}

  CapacitySearch find() {
    const WhatIfOutcome endless = run(WhatIf::kEndless);
    if (!endless.fits()) return found_;
    needed_bytes_ = round_up_to(endless.peak_requested_bytes, kStepBytes);
    if (endless.same_from_bytes) {
      find_exactly(*endless.same_from_bytes);
    } else {
      find_by_bisection(endless.peak_reserved_bytes);
    }
    return found_;
  }

 private:
  WhatIfOutcome run(std::size_t capacity) {
    ++found_.runs;
    return run_(capacity);
  }

  /// `top`: what was held at most on an endless device. There nothing is refused; below, something
  /// is.
  void find_exactly(std::size_t top) {
    found_.without_retry_bytes = found_.with_retries_bytes = found_.every_from_bytes = top;
    found_.checked_down_to_bytes = scan_down(top);
    found_.is_certified = found_.checked_down_to_bytes <= needed_bytes_;
    if (found_.is_certified) return;
    const std::size_t smallest = bisect(found_.checked_down_to_bytes, served);
    if (smallest < found_.checked_down_to_bytes) found_.with_retries_bytes = smallest;
  }

  /// From run to run. Returns the capacity below which nothing is known.
  std::size_t scan_down(std::size_t top) {
    std::size_t capacity = top;
    bool has_failed = false;
    while (capacity > needed_bytes_ && found_.runs < most_runs_) {
      const WhatIfOutcome outcome = run(round_down(capacity - 1));
      capacity = std::min(*outcome.same_from_bytes, round_down(capacity - 1));
      has_failed = has_failed || !outcome.fits();
      if (!outcome.fits()) continue;
      found_.with_retries_bytes = capacity;
      if (!has_failed) found_.every_from_bytes = capacity;
    }
    return capacity;
  }

  /// The capacity itself changes what happens: each run tells of nothing but its own.
  void find_by_bisection(std::size_t start) {
    std::size_t top = round_up_to(std::max<std::size_t>(start, 1), kStepBytes);
    while (top < WhatIf::kEndless && !untroubled(run(top))) top *= 2;
    if (top >= WhatIf::kEndless) return;
    found_.without_retry_bytes = bisect(top, untroubled);
    found_.with_retries_bytes = bisect(top, served);
    found_.checked_down_to_bytes = top;
  }

  static bool served(const WhatIfOutcome& outcome) { return outcome.fits(); }
  static bool untroubled(const WhatIfOutcome& outcome) {
    return outcome.fits() && outcome.refusals == 0 && outcome.retries == 0;
  }

  /// The upper end of some step from failure to success below `high`; `high` when there is none.
  std::size_t bisect(std::size_t high, bool (*succeeds)(const WhatIfOutcome&)) {
    std::size_t low = round_down(needed_bytes_ - std::min(needed_bytes_, kStepBytes));
    while (low + kStepBytes < high) {
      const std::size_t middle = round_down(low + (high - low) / 2);
      (succeeds(run(middle)) ? high : low) = middle;
    }
    return high;
  }

  const std::function<WhatIfOutcome(std::size_t)>& run_;
  std::size_t most_runs_;
  std::size_t needed_bytes_ = 0;  ///< no smaller device can hold the requests
  CapacitySearch found_;
};

}  // namespace

CapacitySearch find_smallest_capacity(const std::function<WhatIfOutcome(std::size_t)>& run,
                                      std::size_t events) {
  return Search(run, events).find();
}

}  // namespace ohm

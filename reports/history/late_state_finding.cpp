#include "reports/history/late_state_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

class LateState {
 public:
  explicit LateState(const SteppedDevice& device)
      : device_(device), end_(end_of_steps()), lines_of_scratch_(lines_of_scratch()) {}

  std::optional<FindingResult> run() const {
    const MemoryHistory& history = device_.history();
    std::uint32_t first = history.events;
    for (const HistoryBlock& block : device_.blocks()) {
      if (stays(block)) first = std::min(first, block.begin);
    }
    if (first == history.events || has_stood_a_step(first)) return std::nullopt;
    if (!is_behind_a_pass(first) || has_been_as_full_before(first)) return std::nullopt;
    // What comes in every step is growth, and another finding.
    const std::size_t step = device_.step_of(first);
    FindingPlaces state;
    for (const HistoryBlock& block : device_.blocks()) {
      if (stays(block) && device_.step_of(block.begin) <= step + 1) state.add(block);
    }
    if (!is_share(state.bytes(), device_.result().peak_allocated_bytes)) return std::nullopt;
    const std::string in_step =
        device_.steps().empty() ? "" : fmt::format(", in step {}", step + 1);
    return device_.finding(
        "optimizer state appearing late", "optimizer_state",
        fmt::format("{} of optimizer state come at event {} of {}{}, and stay: what was reached "
                    "before says nothing about the peaks of the steps after it",
                    short_bytes(state.bytes()), grouped(first), grouped(history.events - 1),
                    in_step),
        state);
  }

 private:
  /// What is alive here has stayed: the end of the last step, as a program may let all go after it,
  /// or of the record where no step tells.
  std::uint32_t end_of_steps() const {
    const std::vector<std::uint32_t>& steps = device_.steps();
    return steps.size() < 2 ? device_.history().events - 1 : steps[device_.last()];
  }

  /// Where no step tells, lines that also make what goes again make scratch memory.
  std::unordered_set<std::uint32_t> lines_of_scratch() const {
    std::unordered_set<std::uint32_t> lines;
    for (const HistoryBlock& block : device_.blocks()) {
      if (block.end <= end_) lines.insert(block.site);
    }
    return lines;
  }

  /// What is made once and outlives a whole further step is not scratch memory.
  bool outlives_a_step(const HistoryBlock& block) const {
    return device_.step_of(block.begin) + 1 < device_.steps().size();
  }

  bool stays(const HistoryBlock& block) const {
    return block.category == Category::optimizer_state && block.begin > 0 &&
           is_alive(block, end_) &&
           (outlives_a_step(block) || !lines_of_scratch_.contains(block.site));
  }

  /// Whether memory ran out, and not before a whole step beside this state: then something else did
  /// it.
  bool has_stood_a_step(std::uint32_t first) const {
    const std::optional<std::uint32_t> oom = device_.history().oom_event;
    return oom && device_.step_of(*oom) > device_.step_of(first) + 1;
  }

  /// Some optimizers make their state before anything is computed: that is not late.
  bool is_behind_a_pass(std::uint32_t first) const {
    return std::any_of(device_.blocks().begin(), device_.blocks().end(), [&](const auto& block) {
      const bool is_of_pass = block.category != Category::parameter &&
                              block.category != Category::optimizer_state &&
                              block.category != Category::input;
      return is_of_pass && block.begin < first;
    });
  }

  /// Whether steps beside this state have gone by with less than there was before it: the last of
  /// several trainings, one after the other.
  bool has_been_as_full_before(std::uint32_t first) const {
    const std::optional<PeakResult>& peak = device_.result().peak;
    const bool has_next_step = device_.step_of(first) + 1 < device_.steps().size();
    return has_next_step && !device_.history().oom_event && peak &&
           peak->event < static_cast<std::int64_t>(first);
  }

  const SteppedDevice& device_;
  std::uint32_t end_;
  std::unordered_set<std::uint32_t> lines_of_scratch_;
};

}  // namespace

std::optional<FindingResult> late_state_finding(const SteppedDevice& device) {
  return LateState(device).run();
}

}  // namespace ohm::reports

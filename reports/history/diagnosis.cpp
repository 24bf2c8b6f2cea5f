#include "reports/history/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

constexpr std::size_t kMostEvidence = 5;
/// Two steps of warming up, and two that can be compared.
constexpr std::size_t kFewestMarks = 4;
/// Less than this share of a peak is not worth a word.
constexpr double kShare = 0.1;
constexpr std::int64_t kFewestStranded = std::int64_t{20} << 20;
constexpr double kImbalance = 1.25;

bool is_share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) >= kShare * static_cast<double>(whole);
}

/// Blocks summed by the line that made them.
class Places {
 public:
  void add(const HistoryBlock& block) {
    const auto [place, is_new] = places_.try_emplace(block.site);
    FindingEvidence& evidence = place->second;
    evidence.event = is_new ? block.begin : std::min<std::int64_t>(evidence.event, block.begin);
    evidence.bytes += static_cast<std::int64_t>(block.bytes);
    ++evidence.count;
    bytes_ += static_cast<std::int64_t>(block.bytes);
  }

  std::int64_t bytes() const { return bytes_; }
  std::size_t size() const { return places_.size(); }
  bool has(std::uint32_t site) const { return places_.count(site) != 0; }

  std::vector<FindingEvidence> evidence(const std::vector<HistorySite>& sites) const {
    std::vector<FindingEvidence> rows;
    for (const auto& [site, row] : places_) {
      rows.push_back(row);
      rows.back().op = sites[site].op;
      rows.back().file = sites[site].file;
      rows.back().line = sites[site].line;
    }
    std::stable_sort(
        rows.begin(), rows.end(),
        [](const FindingEvidence& a, const FindingEvidence& b) { return a.bytes > b.bytes; });
    if (rows.size() > kMostEvidence) rows.resize(kMostEvidence);
    return rows;
  }

 private:
  std::map<std::uint32_t, FindingEvidence> places_;
  std::int64_t bytes_ = 0;
};

class DeviceDiagnosis {
 public:
  DeviceDiagnosis(const MemoryHistory& history, const DeviceMemoryHistory& device,
                  const DeviceResult& result)
      : history_(history), device_(device), result_(result), steps_(history.steps) {
    count_at_marks();
  }

  std::vector<FindingResult> run() {
    find_growth();
    // What grows keeps its graphs anyway.
    if (findings_.empty()) find_kept_graph();
    find_late_state();
    find_stranded();
    return std::move(findings_);
  }

 private:
  void report(std::string pitfall, std::string scenario, std::string what, const Places& places) {
    findings_.push_back({std::move(pitfall), std::move(scenario), result_.device, std::move(what),
                         places.evidence(history_.sites)});
  }

  /// In which step, counted from 0, an event was; the number of steps: behind the last.
  std::size_t step_of(std::uint32_t event) const {
    return static_cast<std::size_t>(std::lower_bound(steps_.begin(), steps_.end(), event) -
                                    steps_.begin());
  }

  static bool is_alive(const HistoryBlock& block, std::uint32_t event) {
    return block.begin <= event && event < block.end;
  }

  void count_at_marks() {
    bytes_.assign(steps_.size() + 1, 0);
    blocks_.assign(steps_.size() + 1, 0);
    for (const HistoryBlock& block : device_.blocks) {
      const std::size_t first = step_of(block.begin);
      const std::size_t behind = step_of(block.end);
      if (first >= behind) continue;
      bytes_[first] += static_cast<std::int64_t>(block.bytes);
      bytes_[behind] -= static_cast<std::int64_t>(block.bytes);
      ++blocks_[first];
      --blocks_[behind];
    }
    for (std::size_t i = 1; i < bytes_.size(); ++i) {
      bytes_[i] += bytes_[i - 1];
      blocks_[i] += blocks_[i - 1];
    }
    // A record that goes on to the end of its program has a last step after which all is freed.
    if (steps_.size() < 2) return;
    last_ = steps_.size() - 1;
    if (bytes_[last_] < bytes_[last_ - 1]) --last_;
  }

  // ---- growth per step --------------------------------------------------------------------------

  /// The middle one of the growths after the second step; 0 where it does not grow steadily.
  std::int64_t steady_growth() const {
    std::vector<std::int64_t> growths;
    for (std::size_t i = 2; i < steps_.size(); ++i) growths.push_back(bytes_[i] - bytes_[i - 1]);
    const auto growing =
        std::count_if(growths.begin(), growths.end(), [](std::int64_t bytes) { return bytes > 0; });
    if (4 * growing < 3 * static_cast<std::ptrdiff_t>(growths.size())) return 0;
    const auto middle = growths.begin() + static_cast<std::ptrdiff_t>(growths.size() / 2);
    std::nth_element(growths.begin(), middle, growths.end());
    return std::max<std::int64_t>(0, *middle);
  }

  void find_growth() {
    if (steps_.size() < kFewestMarks) return;
    const std::int64_t growth = steady_growth();
    if (growth == 0) return;
    const std::size_t last = last_;
    const std::string rate = fmt::format(
        "allocated memory grows by {} in each of {} steps, from {} to {}", short_bytes(growth),
        last - 1, short_bytes(bytes_[1]), short_bytes(bytes_[last]));
    Places survivors;
    Places newest;
    for (const HistoryBlock& block : device_.blocks) {
      const std::size_t step = step_of(block.begin);
      if (step < 2 || !is_alive(block, steps_[last])) continue;
      (step < last ? survivors : newest).add(block);
    }
    const auto more_blocks = blocks_[last] - blocks_[1];
    if (2 * more_blocks < static_cast<std::int64_t>(last - 1)) {
      report("growth per step", "kv_cache_growth",
             rate + ": as many blocks as before, each time larger: a buffer that is copied to grow",
             newest);
      return;
    }
    if (survivors.size() >= 2) {
      report("growth per step", "leaked_loss_graph",
             fmt::format("{}: what {} lines make in a step is still there at the end, as a graph "
                         "that something keeps",
                         rate, survivors.size()),
             survivors);
      return;
    }
    report("growth per step", "retained_outputs", rate + ": what one line makes in a step is kept",
           survivors);
  }

  // ---- a graph that is kept alive across steps --------------------------------------------------

  /// The event of this step at which most was allocated.
  std::uint32_t fullest_event(std::size_t step) const {
    const std::uint32_t begin = steps_[step - 1] + 1;
    const std::uint32_t end = steps_[step] + 1;
    std::vector<std::int64_t> change(end - begin + 1, 0);
    for (const HistoryBlock& block : device_.blocks) {
      if (block.end <= begin || block.begin >= end) continue;
      change[std::max(block.begin, begin) - begin] += static_cast<std::int64_t>(block.bytes);
      change[std::min(block.end, end) - begin] -= static_cast<std::int64_t>(block.bytes);
    }
    std::int64_t bytes = 0;
    std::int64_t most = -1;
    std::uint32_t fullest = begin;
    for (std::uint32_t event = begin; event < end; ++event) {
      bytes += change[event - begin];
      if (bytes <= most) continue;
      most = bytes;
      fullest = event;
    }
    return fullest;
  }

  /// Lines whose block of the step before is still there when this step's own is made.
  void find_kept_graph() {
    if (steps_.size() < 3) return;
    const std::size_t step = last_;
    const std::uint32_t moment = fullest_event(step);
    Places old_ones;
    Places new_ones;
    std::int64_t allocated = 0;
    for (const HistoryBlock& block : device_.blocks) {
      if (!is_alive(block, moment)) continue;
      allocated += static_cast<std::int64_t>(block.bytes);
      const std::size_t made_in = step_of(block.begin);
      const bool goes_soon = block.end <= steps_[step] + 1 || block.end == history_.events;
      if (made_in + 1 == step && goes_soon) old_ones.add(block);
      if (made_in == step) new_ones.add(block);
    }
    Places twice;
    for (const HistoryBlock& block : device_.blocks) {
      const bool is_old = is_alive(block, moment) && step_of(block.begin) + 1 == step;
      if (is_old && old_ones.has(block.site) && new_ones.has(block.site)) twice.add(block);
    }
    if (twice.size() < 2 || !is_share(twice.bytes(), allocated)) return;
    report("a graph kept alive across steps", "unreleased_variables",
           fmt::format("at the peak of step {} {} of the step before are still there, made by the "
                       "same lines: a variable holds its last result while the next is computed",
                       step + 1, short_bytes(twice.bytes())),
           twice);
  }

  // ---- optimizer state that appears late --------------------------------------------------------

  void find_late_state() {
    if (steps_.size() < 2) return;
    const std::uint32_t end = steps_[last_];
    const auto stays = [&](const HistoryBlock& block) {
      return block.category == Category::optimizer_state && block.begin > 0 && is_alive(block, end);
    };
    std::uint32_t first = end;
    for (const HistoryBlock& block : device_.blocks) {
      if (stays(block)) first = std::min(first, block.begin);
    }
    // What comes in every step is growth, and another finding.
    Places state;
    for (const HistoryBlock& block : device_.blocks) {
      if (stays(block) && step_of(block.begin) <= step_of(first) + 1) state.add(block);
    }
    if (state.size() == 0 || !is_share(state.bytes(), bytes_[last_])) return;
    const std::size_t step = step_of(first) + 1;
    report("optimizer state appearing late", "optimizer_state",
           fmt::format("{} of optimizer state come at event {}, in step {}, and stay: the peak of "
                       "the forward pass{} before says nothing about the next ones'",
                       short_bytes(state.bytes()), grouped(first), step, step == 1 ? "" : "es"),
           state);
  }

  // ---- stranded split segments ------------------------------------------------------------------

  struct UsedSegment {
    const HistorySegment* segment = nullptr;
    std::int64_t used = 0;
    const HistoryBlock* smallest = nullptr;
  };

  std::vector<UsedSegment> segments_at(std::uint32_t event) const {
    std::vector<UsedSegment> segments;
    for (const HistorySegment& segment : device_.segments) {
      if (segment.begin <= event && event < segment.end) segments.push_back({&segment, 0, nullptr});
    }
    std::sort(segments.begin(), segments.end(), [](const UsedSegment& a, const UsedSegment& b) {
      return a.segment->position < b.segment->position;
    });
    for (const HistoryBlock& block : device_.blocks) {
      if (!is_alive(block, event)) continue;
      auto at = std::upper_bound(segments.begin(), segments.end(), block.position,
                                 [](std::uint64_t position, const UsedSegment& one) {
                                   return position < one.segment->position;
                                 });
      if (at == segments.begin()) continue;
      UsedSegment& segment = *--at;
      segment.used += static_cast<std::int64_t>(block.bytes);
      if (segment.smallest == nullptr || block.bytes < segment.smallest->bytes) {
        segment.smallest = &block;
      }
    }
    return segments;
  }

  void find_stranded() {
    const std::uint32_t moment = history_.oom_event ? *history_.oom_event : device_.peak_event;
    std::int64_t reserved = 0;
    std::int64_t stranded = 0;
    std::int64_t largest = 0;
    std::size_t count = 0;
    Places pins;
    for (const UsedSegment& one : segments_at(moment)) {
      const auto bytes = static_cast<std::int64_t>(one.segment->bytes);
      reserved += bytes;
      if (one.used <= 0 || one.used >= bytes) continue;
      stranded += bytes - one.used;
      largest = std::max(largest, bytes - one.used);
      ++count;
      pins.add(*one.smallest);
    }
    if (stranded < kFewestStranded || !is_share(stranded, reserved)) return;
    report(
        "stranded split segments", "fragmentation",
        fmt::format("{} event {} {} of {} reserved are free, but in {} segments that are partly "
                    "in use, at most {} in one: they can neither serve a larger request nor be "
                    "given back",
                    history_.oom_event ? "out of memory at" : "at the peak, after", grouped(moment),
                    short_bytes(stranded), short_bytes(reserved), count, short_bytes(largest)),
        pins);
  }

  const MemoryHistory& history_;
  const DeviceMemoryHistory& device_;
  const DeviceResult& result_;
  const std::vector<std::uint32_t>& steps_;
  std::vector<std::int64_t> bytes_;   ///< allocated at each mark
  std::vector<std::int64_t> blocks_;  ///< how many
  std::size_t last_ = 0;              ///< the mark that the others are compared with
  std::vector<FindingResult> findings_;
};

/// One GPU that holds much more than another.
void find_imbalance(const std::vector<DeviceResult>& devices,
                    std::vector<FindingResult>& findings) {
  if (devices.size() < 2) return;
  const auto by_peak = [](const DeviceResult& a, const DeviceResult& b) {
    return a.peak_allocated_bytes < b.peak_allocated_bytes;
  };
  const DeviceResult& most = *std::max_element(devices.begin(), devices.end(), by_peak);
  const DeviceResult& least = *std::min_element(devices.begin(), devices.end(), by_peak);
  if (least.peak_allocated_bytes == 0) return;
  const double ratio = static_cast<double>(most.peak_allocated_bytes) /
                       static_cast<double>(least.peak_allocated_bytes);
  if (ratio < kImbalance) return;
  FindingResult finding;
  finding.pitfall = "imbalance";
  finding.scenario = "unbalanced_data_parallel";
  finding.device = most.device;
  finding.what = fmt::format("{} reaches {}, {} {}: {:.2f} times as much", most.device,
                             short_bytes(most.peak_allocated_bytes), least.device,
                             short_bytes(least.peak_allocated_bytes), ratio);
  if (most.peak) {
    for (const HolderResult& holder : most.peak->holders) {
      if (finding.evidence.size() == kMostEvidence) break;
      finding.evidence.push_back(
          {most.peak->event, holder.bytes, holder.count, holder.op, holder.file, holder.line});
    }
  }
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<FindingResult> diagnose(const MemoryHistory& history,
                                    const std::vector<DeviceResult>& devices) {
  std::vector<FindingResult> findings;
  for (std::size_t i = 0; i < history.devices.size() && i < devices.size(); ++i) {
    for (FindingResult& one : DeviceDiagnosis(history, history.devices[i], devices[i]).run()) {
      findings.push_back(std::move(one));
    }
  }
  find_imbalance(devices, findings);
  return findings;
}

}  // namespace ohm::reports

#include "reports/history/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "reports/history/finding_places.h"
#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

/// Two steps of warming up, and two that can be compared.
constexpr std::size_t kFewestMarks = 4;
/// Less than this share of a peak is not worth a word.
constexpr double kShare = 0.1;
constexpr std::int64_t kFewestStranded = std::int64_t{20} << 20;
constexpr double kImbalance = 1.25;

bool is_share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) >= kShare * static_cast<double>(whole);
}

class DeviceDiagnosis {
 public:
  DeviceDiagnosis(const MemoryHistory& history, const DeviceMemoryHistory& device,
                  const DeviceResult& result, const std::vector<std::uint32_t>& steps,
                  std::int64_t oom_request_bytes)
      : history_(history),
        device_(device),
        result_(result),
        steps_(steps),
        request_bytes_(oom_request_bytes) {
    count_at_marks();
  }

  std::vector<FindingResult> run() {
    find_growth("steps");
    // What grows keeps its graphs anyway.
    if (findings_.empty()) find_kept_graph();
    find_late_state();
    find_stranded();
    return std::move(findings_);
  }

  /// Of a loop behind the last step, whose passes the steps are.
  std::vector<FindingResult> run_behind_steps() {
    find_growth("passes of a loop behind the last step");
    return std::move(findings_);
  }

 private:
  void report(std::string pitfall, std::string scenario, std::string what,
              const FindingPlaces& places) {
    findings_.push_back({std::move(pitfall), std::move(scenario), result_.device, std::move(what),
                         places.evidence(history_)});
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

  /// The middle one of the growths after the second step; 0 where one step does not grow.
  std::int64_t steady_growth() const {
    std::vector<std::int64_t> growths;
    for (std::size_t i = 2; i <= last_; ++i) growths.push_back(bytes_[i] - bytes_[i - 1]);
    const auto shrinks = [](std::int64_t bytes) { return bytes <= 0; };
    if (std::any_of(growths.begin(), growths.end(), shrinks)) return 0;
    const auto middle = growths.begin() + static_cast<std::ptrdiff_t>(growths.size() / 2);
    std::nth_element(growths.begin(), middle, growths.end());
    return *middle;
  }

  /// Whether some line asks for more in every step than in the one before: a sequence that gets
  /// longer, of which the cache grows as it should.
  bool asks_for_more_each_step() const {
    constexpr std::uint64_t kLeastBytes = 4096;
    std::map<std::uint32_t, std::vector<std::uint64_t>> largest;  // of a site, in each step
    for (const HistoryBlock& block : device_.blocks) {
      const std::size_t step = step_of(block.begin);
      if (step < 1 || step > last_) continue;
      std::vector<std::uint64_t>& bytes = largest[block.site];
      bytes.resize(last_ + 1);
      bytes[step] = std::max(bytes[step], block.bytes);
    }
    const auto grows = [&](const auto& row) {
      const std::vector<std::uint64_t>& bytes = row.second;
      if (bytes[1] == 0 || bytes[last_] < kLeastBytes) return false;
      return std::adjacent_find(bytes.begin() + 1, bytes.end(), std::greater_equal<>()) ==
             bytes.end();
    };
    return std::any_of(largest.begin(), largest.end(), grows);
  }

  /// What steps behind the second have made, and is there at the end.
  struct LeftBehind {
    FindingPlaces places;
    std::vector<std::int64_t> bytes;  ///< of each step, the last one left out
    std::int64_t least() const { return *std::min_element(bytes.begin(), bytes.end()); }
    std::int64_t most() const { return *std::max_element(bytes.begin(), bytes.end()); }
    std::int64_t all() const {
      return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
    }
    std::int64_t average() const { return all() / static_cast<std::int64_t>(bytes.size()); }
  };

  LeftBehind left_behind() const {
    LeftBehind left;
    left.bytes.resize(last_ - 2);
    for (const HistoryBlock& block : device_.blocks) {
      const std::size_t step = step_of(block.begin);
      if (step < 2 || step >= last_ || !is_alive(block, steps_[last_])) continue;
      left.places.add(block);
      left.bytes[step - 2] += static_cast<std::int64_t>(block.bytes);
    }
    return left;
  }

  /// Batches differ, and what the end of a step holds goes up and down with them: then each of
  /// several steps has to leave something behind, most of them much, and all of it has to be what
  /// there is more.
  bool grows_unevenly(const LeftBehind& left) const {
    constexpr std::size_t kFewestSteps = 4;
    constexpr std::int64_t kMostTimes = 8;
    if (left.bytes.size() < kFewestSteps || left.least() == 0) return false;
    std::vector<std::int64_t> bytes = left.bytes;
    const auto quarter = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 4);
    std::nth_element(bytes.begin(), quarter, bytes.end());
    return kMostTimes * *quarter >= left.average() && 2 * (bytes_[last_] - bytes_[1]) >= left.all();
  }

  /// `steps`: what they are.
  void find_growth(std::string_view steps) {
    if (steps_.size() < kFewestMarks || last_ < 3) return;
    const LeftBehind left = left_behind();
    const std::int64_t growth = steady_growth();
    // What every step leaves behind has to be there.
    const bool is_steady = growth > 0 && 2 * left.least() >= growth;
    if (!is_steady && !grows_unevenly(left)) return;
    // A hundredth of the peak in each step, or slowly a good share of it, is worth a word.
    const bool is_fast =
        100 * (is_steady ? growth : left.average()) >= result_.peak_allocated_bytes;
    if (!is_fast && !is_share(left.all(), result_.peak_allocated_bytes)) return;
    if (asks_for_more_each_step()) return;
    const std::string by = is_steady
                               ? fmt::format("{} in each of {}", short_bytes(growth), last_ - 1)
                               : fmt::format("{} to {} in each of {}", short_bytes(left.least()),
                                             short_bytes(left.most()), left.bytes.size());
    report_growth(fmt::format("{} {}", by, steps), left);
  }

  void report_growth(const std::string& by, const LeftBehind& left) {
    // The graph of a loss is a good part of what a step has at its fullest.
    const bool may_be_graph =
        left.places.ops(history_) > 2 && 4 * left.bytes.back() >= kept_in(last_ - 1).new_bytes;
    const std::size_t lines = left.places.lines(history_);
    // Whether the graph of a loss is kept or tensors themselves, a record does not say.
    report("growth per step", may_be_graph ? "leaked_loss_graph" : "retained_outputs",
           fmt::format(
               "allocated memory grows by {}, from {} to {}: what {} each time{} is still "
               "there at the end, as something keeps it{}",
               by, short_bytes(bytes_[1]), short_bytes(bytes_[last_]),
               lines == 1 ? std::string("one line makes") : fmt::format("{} lines make", lines),
               left.places.common_caller(history_),
               may_be_graph ? " or the graph that it is part of" : ""),
           left.places);
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

  /// Of a step: what earlier ones have left, beside its own of the same lines and categories: the
  /// workspace that a line makes once is no old result. The whole graph of
  /// one step is more than a result that a variable holds until it is assigned again.
  struct Kept {
    FindingPlaces old_ones;
    std::int64_t new_bytes = 0;  ///< this step's own at its fullest event
  };

  Kept kept_in(std::size_t step) const {
    const std::uint32_t moment = fullest_event(step);
    std::set<std::pair<std::uint32_t, Category>> own;
    Kept kept;
    for (const HistoryBlock& block : device_.blocks) {
      if (!is_alive(block, moment) || step_of(block.begin) != step) continue;
      own.emplace(block.site, block.category);
      kept.new_bytes += static_cast<std::int64_t>(block.bytes);
    }
    for (const HistoryBlock& block : device_.blocks) {
      const bool is_older = step_of(block.begin) < step && block.begin > 0;
      const bool goes = block.end < history_.events || step + 1 >= steps_.size();
      if (is_older && goes && is_alive(block, moment) &&
          own.count({block.site, block.category}) != 0) {
        kept.old_ones.add(block);
      }
    }
    return kept;
  }

  void find_kept_graph() {
    if (steps_.size() < kFewestMarks || last_ < 3) return;
    Kept newest;
    for (std::size_t step = 2; step <= last_; ++step) {
      newest = kept_in(step);
      const bool is_graph = newest.old_ones.ops(history_) > 2 &&
                            2 * newest.old_ones.bytes() >= newest.new_bytes &&
                            is_share(newest.old_ones.bytes(), result_.peak_allocated_bytes);
      if (!is_graph) return;
    }
    report("a graph kept alive across steps", "unreleased_variables",
           fmt::format("at the peak of step {} {} of earlier steps are still there, made by the "
                       "same lines{}, as in every step before: a variable holds its last result "
                       "while the next is computed",
                       last_ + 1, short_bytes(newest.old_ones.bytes()),
                       newest.old_ones.common_caller(history_)),
           newest.old_ones);
  }

  // ---- optimizer state that appears late --------------------------------------------------------

  /// What is alive here has stayed: the end of the last step, as a program may let all go after it,
  /// or of the record where no step tells.
  std::uint32_t end_of_steps() const {
    return steps_.size() < 2 ? history_.events - 1 : steps_[last_];
  }

  /// What is made once and outlives a whole further step is no scratch memory.
  bool outlives_a_step(const HistoryBlock& block) const {
    return step_of(block.begin) + 1 < steps_.size();
  }

  /// Where no step tells, lines that also make what goes again make scratch memory.
  std::set<std::uint32_t> lines_of_scratch(std::uint32_t end) const {
    std::set<std::uint32_t> lines;
    for (const HistoryBlock& block : device_.blocks) {
      if (block.end <= end) lines.insert(block.site);
    }
    return lines;
  }

  void find_late_state() {
    const std::uint32_t end = end_of_steps();
    const std::set<std::uint32_t> scratch = lines_of_scratch(end);
    const auto stays = [&](const HistoryBlock& block) {
      return block.category == Category::optimizer_state && block.begin > 0 &&
             is_alive(block, end) && (outlives_a_step(block) || scratch.count(block.site) == 0);
    };
    std::uint32_t first = history_.events;
    for (const HistoryBlock& block : device_.blocks) {
      if (stays(block)) first = std::min(first, block.begin);
    }
    if (first == history_.events || has_stood_a_step(first)) return;
    // What comes in every step is growth, and another finding.
    FindingPlaces state;
    for (const HistoryBlock& block : device_.blocks) {
      if (stays(block) && step_of(block.begin) <= step_of(first) + 1) state.add(block);
    }
    if (!is_share(state.bytes(), result_.peak_allocated_bytes)) return;
    const std::string step = steps_.empty() ? "" : fmt::format(", in step {}", step_of(first) + 1);
    report(
        "optimizer state appearing late", "optimizer_state",
        fmt::format("{} of optimizer state come at event {} of {}{}, and stay: what was reached "
                    "before says nothing about the peaks of the steps after it",
                    short_bytes(state.bytes()), grouped(first), grouped(history_.events - 1), step),
        state);
  }

  /// Whether memory ran out, and not before a whole step beside this state: then something else did
  /// it.
  bool has_stood_a_step(std::uint32_t first) const {
    return history_.oom_event && step_of(*history_.oom_event) > step_of(first) + 1;
  }

  // ---- stranded split segments ------------------------------------------------------------------

  struct UsedSegment {
    const HistorySegment* segment = nullptr;
    std::int64_t used = 0;
    std::vector<const HistoryBlock*> blocks;

    const HistoryBlock& smallest() const {
      return **std::min_element(blocks.begin(), blocks.end(),
                                [](const auto* a, const auto* b) { return a->bytes < b->bytes; });
    }
    /// The largest of the gaps between blocks.
    std::int64_t largest_piece() {
      std::sort(blocks.begin(), blocks.end(),
                [](const auto* a, const auto* b) { return a->position < b->position; });
      std::uint64_t at = segment->position;
      std::uint64_t largest = 0;
      for (const HistoryBlock* block : blocks) {
        largest = std::max(largest, block->position - std::min(at, block->position));
        at = block->position + block->bytes;
      }
      const std::uint64_t end = segment->position + segment->bytes;
      return static_cast<std::int64_t>(std::max(largest, end - std::min(at, end)));
    }
  };

  std::vector<UsedSegment> segments_at(std::uint32_t event) const {
    std::vector<UsedSegment> segments;
    for (const HistorySegment& segment : device_.segments) {
      if (segment.begin <= event && event < segment.end) segments.push_back({&segment, 0, {}});
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
      segment.blocks.push_back(&block);
    }
    return segments;
  }

  void find_stranded() {
    if (!history_.oom_event || result_.num_ooms == 0) return;
    std::int64_t reserved = 0;
    std::int64_t stranded = 0;
    std::int64_t largest = 0;
    std::size_t count = 0;
    FindingPlaces pins;
    for (UsedSegment& one : segments_at(*history_.oom_event)) {
      const auto bytes = static_cast<std::int64_t>(one.segment->bytes);
      reserved += bytes;
      if (one.used <= 0 || one.used >= bytes) continue;
      stranded += bytes - one.used;
      largest = std::max(largest, one.largest_piece());
      ++count;
      pins.add(one.smallest());
    }
    const bool would_do = stranded >= std::max(kFewestStranded, request_bytes_);
    if (!would_do || largest >= request_bytes_ || !is_share(stranded, reserved)) return;
    report("stranded split segments", "fragmentation",
           fmt::format(
               "out of memory at event {} with {} of {} reserved free, in {} segment{} "
               "partly in use, at most {} in one piece: {} did not fit between the blocks that "
               "are in use, of each segment the smallest below",
               grouped(*history_.oom_event), short_bytes(stranded), short_bytes(reserved), count,
               count == 1 ? "" : "s", short_bytes(largest), short_bytes(request_bytes_)),
           pins);
  }

  const MemoryHistory& history_;
  const DeviceMemoryHistory& device_;
  const DeviceResult& result_;
  const std::vector<std::uint32_t>& steps_;
  std::vector<std::int64_t> bytes_;   ///< allocated at each mark
  std::vector<std::int64_t> blocks_;  ///< how many
  std::size_t last_ = 0;              ///< the mark that the others are compared with
  std::int64_t request_bytes_;        ///< that ran out of memory, on this device or another
  std::vector<FindingResult> findings_;
};

/// Whether two GPUs do the same: most of what the one with less was asked for, by line and size,
/// the other was asked for, too.
bool are_replicas(const DeviceMemoryHistory& most, const DeviceMemoryHistory& least) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> asked;
  for (const HistoryBlock& block : most.blocks) ++asked[{block.site, block.bytes}];
  std::int64_t all = 0;
  std::int64_t common = 0;
  for (const HistoryBlock& block : least.blocks) {
    all += static_cast<std::int64_t>(block.bytes);
    const auto same = asked.find({block.site, block.bytes});
    if (same != asked.end() && same->second-- > 0) common += static_cast<std::int64_t>(block.bytes);
  }
  return all > 0 && 2 * common >= all;
}

/// One GPU that holds much more than another, which does the same.
void find_imbalance(const MemoryHistory& history, const std::vector<DeviceResult>& devices,
                    std::vector<FindingResult>& findings) {
  if (devices.size() < 2 || history.devices.size() < devices.size()) return;
  const auto by_peak = [](const DeviceResult& a, const DeviceResult& b) {
    return a.peak_allocated_bytes < b.peak_allocated_bytes;
  };
  const DeviceResult& most = *std::max_element(devices.begin(), devices.end(), by_peak);
  const DeviceResult& least = *std::min_element(devices.begin(), devices.end(), by_peak);
  if (least.peak_allocated_bytes == 0) return;
  const double ratio = static_cast<double>(most.peak_allocated_bytes) /
                       static_cast<double>(least.peak_allocated_bytes);
  const auto history_of = [&](const DeviceResult& device) -> const DeviceMemoryHistory& {
    return history.devices[static_cast<std::size_t>(&device - devices.data())];
  };
  if (ratio < kImbalance || !are_replicas(history_of(most), history_of(least))) return;
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
      finding.evidence.push_back({most.peak->event, holder.bytes, holder.count, holder.op,
                                  holder.file, holder.line, holder.library, holder.module});
    }
  }
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<FindingResult> diagnose(const MemoryHistory& history,
                                    const std::vector<DeviceResult>& devices,
                                    std::int64_t oom_request_bytes,
                                    const std::vector<std::uint32_t>& passes_behind_steps) {
  std::vector<FindingResult> findings;
  for (std::size_t i = 0; i < history.devices.size() && i < devices.size(); ++i) {
    const auto diagnosis_of = [&](const std::vector<std::uint32_t>& steps) {
      return DeviceDiagnosis(history, history.devices[i], devices[i], steps, oom_request_bytes);
    };
    std::vector<FindingResult> found = diagnosis_of(passes_behind_steps).run_behind_steps();
    for (FindingResult& one : diagnosis_of(history.steps).run()) found.push_back(std::move(one));
    std::move(found.begin(), found.end(), std::back_inserter(findings));
  }
  find_imbalance(history, devices, findings);
  return findings;
}

}  // namespace ohm::reports

#include "reports/history/snapshot_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "reports/conclusion/result_conclusion.h"
#include "reports/history/alive_memory.h"
#include "reports/history/backward_calls.h"
#include "reports/history/block_sizes.h"
#include "reports/history/card_totals.h"
#include "reports/history/cut_history.h"
#include "reports/history/diagnosis.h"
#include "reports/history/function_loop.h"
#include "reports/history/history_builder.h"
#include "reports/history/history_detail.h"
#include "reports/history/lines_of_blocks.h"
#include "reports/history/native_frames.h"
#include "reports/history/recorded_beginning.h"
#include "reports/history/recorded_categories.h"
#include "reports/history/recorded_order.h"
#include "reports/history/recorded_sites.h"
#include "reports/history/recorded_steps.h"
#include "reports/history/repeated_passes.h"
#include "reports/history/user_frames.h"
#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

std::uint32_t units_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + MemoryEvent::kUnitBytes - 1) /
                                    MemoryEvent::kUnitBytes);
}

std::string left_out_text(const Snapshot& snapshot) {
  const std::int64_t steps = left_out_steps(snapshot);
  if (steps == 0) return "";
  return fmt::format("; {} more, which needed no more memory, are left out", grouped(steps));
}

class SnapshotResult {
 public:
  SnapshotResult(const Snapshot& snapshot, const std::string& path)
      : snapshot_(snapshot),
        path_(path),
        sites_(snapshot.tables, has_recorded_stacks(snapshot), user_files_of(snapshot)),
        backward_calls_(snapshot.tables),
        order_(recorded_order(snapshot)),
        is_native_(is_of_native_program(snapshot)) {
    devices_ = snapshot.device_traces.size();
    for (const SnapshotSegment& segment : snapshot.segments) {
      devices_ = std::max(devices_, static_cast<std::size_t>(segment.device) + 1);
    }
    results_.resize(devices_);
  }

  RecordedRun make() {
    // One event stands for the beginning.
    const std::size_t events = order_.size() + 1;
    HistoryBuilder builder(devices_, static_cast<std::uint32_t>(events));
    for (std::size_t device = 0; device < devices_; ++device) add_beginning(builder, device);
    for (std::size_t device = 0; device < snapshot_.device_traces.size(); ++device) {
      categories_.push_back(recorded_categories(snapshot_, device, sites_));
    }
    const std::vector<std::uint32_t> steps = this->steps();
    marks_.resize(devices_);
    for (std::size_t i = 0, step = 0; i < order_.size(); ++i) {
      const auto time = static_cast<std::uint32_t>(i + 1);
      add(builder, order_[i], time);
      for (; step < steps.size() && steps[step] <= time; ++step) mark(builder);
    }
    sites_.tell_apart();
    fill_devices(builder, steps);
    if (oom_event_) oom_ = out_of_memory(builder, steps);
    MemoryHistory history = builder.finish();
    history.oom_event = oom_event_;
    history.steps = steps;
    sites_.move_to(history);
    for (std::size_t device = 0; device < devices_; ++device) {
      history.devices[device].device = results_[device].device;
    }
    return result(std::move(history));
  }

 private:
  void mark(const HistoryBuilder& builder) {
    for (std::size_t device = 0; device < devices_; ++device) {
      marks_[device].push_back(builder.totals(device).allocated_bytes);
    }
  }

  void add_beginning(HistoryBuilder& builder, std::size_t device) {
    const RecordedBeginning& beginning = beginnings_.emplace_back(snapshot_, device);
    block_sizes_.emplace_back(snapshot_, beginning);
    totals_.emplace_back(snapshot_, beginning, device);
    MemoryEvent event;
    event.device = static_cast<std::int8_t>(device);
    event.action = EventAction::segment_map;
    for (const auto& [address, bytes] : beginning.ranges()) {
      event.address = address;
      event.bytes = bytes;
      builder.add(event, 0);
    }
    event.action = EventAction::alloc;
    std::vector<std::pair<std::uint64_t, RecordedBeginning::Block>> blocks(
        beginning.blocks().begin(), beginning.blocks().end());
    std::sort(blocks.begin(), blocks.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [address, block] : blocks) {
      event.address = address;
      event.block_units = units_of(block.bytes);
      event.site = block.stack == kNoStack ? RecordedSites::kBeforeRecord : sites_.of(block.stack);
      event.category = named_category(snapshot_.tables.text(block.category))
                           .value_or(sites_.category_of(event.site));
      builder.add(event, 0);
    }
  }

  void add(HistoryBuilder& builder, const RecordedWhen& when, std::uint32_t time) {
    const TraceEntry& entry = snapshot_.device_traces[when.device][when.index];
    MemoryEvent event;
    event.device = static_cast<std::int8_t>(when.device);
    event.action = entry.action;
    event.address = entry.address;
    event.bytes = entry.bytes;
    DeviceResult& result = results_[when.device];
    const std::uint64_t block_bytes = block_sizes_[when.device].follow(entry);
    switch (entry.action) {
      case EventAction::alloc:
        event.block_units =
            units_of(std::max(block_bytes, beginnings_[when.device].bytes_at_end(when.index)));
        event.site = site_of(entry);
        event.category = categories_[when.device][when.index];
        break;
      case EventAction::segment_alloc:
      case EventAction::segment_map:
        ++result.num_device_alloc;
        break;
      case EventAction::oom:
        ++result.num_ooms;
        oom_event_ = time;
        oom_site_ = site_of(entry);
        take_card(when, entry);
        break;
      default:
        break;
    }
    totals_[when.device].add(entry, event.block_bytes());
    builder.add(event, time);
  }

  /// What the card holds beside tensors when memory runs out.
  void take_card(const RecordedWhen& when, const TraceEntry& entry) {
    const CardTotals& totals = totals_[when.device];
    card_ = OomResult();
    card_.reserved_bytes = totals.reserved_bytes();
    card_.rounding_bytes = totals.rounding_bytes();
    card_.private_pool_bytes = totals.private_pool_bytes();
    card_.free_bytes = static_cast<std::int64_t>(entry.address);
    card_.expandable_segments = totals.is_expandable();
  }

  SiteId site_of(const TraceEntry& entry) {
    backward_calls_.follow(entry.stack);
    const StackId backward = backward_calls_.running();
    return backward == kNoStack ? sites_.of(entry.stack)
                                : sites_.in_backward(entry.stack, backward);
  }

  /// 0 where there are none: what has no marks and no loop has not been in its first step. Nor is
  /// the number known where the first steps were not kept.
  std::int64_t step_of(std::int64_t event, const std::vector<std::uint32_t>& steps) const {
    if (is_cut(snapshot_)) return 0;
    if (steps.empty()) return 0;
    return 1 + (std::lower_bound(steps.begin(), steps.end(), event) - steps.begin());
  }

  /// The last one of the record; PyTorch's message is not in it.
  OomResult out_of_memory(const HistoryBuilder& builder, const std::vector<std::uint32_t>& steps) {
    const RecordedWhen& when = order_[*oom_event_ - 1];
    const TraceEntry& entry = snapshot_.device_traces[when.device][when.index];
    const HistorySite& site = sites_.at(oom_site_);
    AliveMemory alive = alive_at(builder, sites_, when.device, *oom_event_);
    OomResult oom = card_;
    oom.step = step_of(*oom_event_, steps);
    oom.device = fmt::format("cuda:{}", when.device);
    oom.requested_bytes = static_cast<std::int64_t>(entry.bytes);
    oom.segment_bytes = oom.requested_bytes;
    oom.category = sites_.category_of(oom_site_);
    oom.op = site.op;
    oom.file = site.file;
    oom.line = site.line;
    oom.library = site.library;
    oom.module = site.module;
    oom.injected = snapshot_.tables.text(snapshot_.detail(entry).user_metadata) == kInjectedNote;
    oom.alive_by_category = alive.by_category;
    const std::size_t shown = std::min(kMaxHolders, alive.holders.size());
    oom.other_holders = static_cast<std::int64_t>(alive.holders.size() - shown);
    alive.holders.resize(shown);
    oom.holders = std::move(alive.holders);
    return oom;
  }

  void fill_devices(const HistoryBuilder& builder, const std::vector<std::uint32_t>& steps) {
    for (std::size_t device = 0; device < devices_; ++device) {
      DeviceResult& result = results_[device];
      result.device = fmt::format("cuda:{}", device);
      result.profile = "recorded GPU";
      result.rules = is_native_ ? "CUDA" : "PyTorch's own";
      if (snapshot_.allocator_settings)
        result.alloc_conf = snapshot_.allocator_settings->alloc_conf;
      const HistoryBuilder::Totals totals = builder.totals(device);
      result.peak_allocated_bytes = totals.peak_allocated_bytes;
      result.peak_reserved_bytes = totals.peak_reserved_bytes;
      result.allocated_at_end_bytes = totals.allocated_bytes;
      AliveMemory alive = alive_at(builder, sites_, device, totals.peak_event);
      result.peak_by_category = alive.by_category;
      PeakResult peak;
      peak.event = totals.peak_event;
      peak.step = step_of(peak.event, steps);
      peak.holders = std::move(alive.holders);
      result.peak = std::move(peak);
    }
  }

  /// What repeats itself in a program without PyTorch need not be a step of a training.
  std::vector<std::uint32_t> steps() const {
    if (is_native_) return {};
    std::vector<std::uint32_t> marked = marked_steps(snapshot_, [this](std::int64_t time_us) {
      const auto after = std::upper_bound(
          order_.begin(), order_.end(), time_us,
          [](std::int64_t time, const RecordedWhen& when) { return time < when.time_us; });
      return static_cast<std::uint32_t>(after - order_.begin());
    });
    return marked.empty() ? passes_behind(0) : marked;
  }

  /// Of a loop behind the steps, as an evaluation has; what ended well is not looked into.
  std::vector<std::uint32_t> passes_that_ran_out_of_memory(
      const std::vector<std::uint32_t>& steps) const {
    const bool is_behind = oom_event_ && !steps.empty() && *oom_event_ > steps.back();
    return is_behind ? passes_behind(steps.back()) : std::vector<std::uint32_t>();
  }

  std::vector<std::uint32_t> passes_behind(std::uint32_t event) const {
    std::vector<RecordedRequest> requests;
    for (std::size_t i = event; i < order_.size(); ++i) {
      const RecordedWhen& when = order_[i];
      const TraceEntry& entry = snapshot_.device_traces[when.device][when.index];
      if (entry.action != EventAction::alloc) continue;
      const bool is_data = categories_[when.device][when.index] == Category::input;
      requests.push_back({static_cast<std::uint32_t>(i + 1), entry.stack, is_data});
    }
    const std::vector<std::uint32_t> passes =
        repeated_passes(snapshot_.tables, requests, static_cast<std::uint32_t>(order_.size()));
    return may_be_steps(passes) ? passes : std::vector<std::uint32_t>();
  }

  /// In a record that knows what is data, passes that neither get any nor train may be of layers,
  /// if there are few.
  bool may_be_steps(const std::vector<std::uint32_t>& passes) const {
    if (passes.empty()) return false;
    if (passes.size() >= kMoreThanLayers) return true;
    bool knows_data = false;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Category category = categories_[order_[i].device][order_[i].index];
      const bool is_data = category == Category::input;
      knows_data = knows_data || is_data;
      const bool is_of_step =
          is_data || category == Category::gradient || category == Category::optimizer_state;
      if (is_of_step && passes.front() <= i && i < passes.back()) return true;
    }
    return !knows_data;
  }

  /// Any that changes memory.
  bool has_events() const {
    return std::any_of(order_.begin(), order_.end(), [this](const RecordedWhen& when) {
      return snapshot_.device_traces[when.device][when.index].action != EventAction::snapshot;
    });
  }

  /// Out of memory first.
  std::string reason(const MemoryHistory& history) const {
    if (!has_events()) return "no events: what was allocated when the snapshot was taken";
    const std::string events = events_text(snapshot_, static_cast<std::int64_t>(order_.size()));
    const std::string earlier = earlier_events_text(snapshot_);
    if (is_native_) return native_reason(events + earlier, oom_, oom_event_);
    if (oom_) {
      return fmt::format("out of memory at event {} of {}: {}{}", grouped(*oom_event_), events,
                         oom_cause(), earlier);
    }
    if (!history.steps.empty()) {
      return fmt::format("{}, {} steps{}{}", events,
                         grouped(static_cast<std::int64_t>(history.steps.size())), earlier,
                         left_out_text(snapshot_));
    }
    return fmt::format("{}{}; no steps were found: {}", events, earlier, kHowToMarkSteps);
  }

  /// Whether what was free would have done.
  std::string oom_cause() const {
    const std::optional<OomMessage> figures = figures_of(*oom_);
    const std::optional<PrintedBytes> cache = figures ? unallocated(*figures) : std::nullopt;
    const std::string free = bytes_text(cache ? cache->bytes : 0);
    const std::string requested = short_bytes(oom_->requested_bytes);
    const bool is_fragmented = figures && cause_of(*figures) == OomCause::fragmented;
    return is_fragmented
               ? fmt::format("the cache was fragmented, {} requested and {} free in pieces",
                             requested, free)
               : fmt::format("the GPU was full, {} requested and {} free in the cache", requested,
                             free);
  }

  RecordedRun result(MemoryHistory history) {
    RecordedRun recorded;
    recorded.is_cut = is_cut(snapshot_);
    VariantResult variant;
    variant.name = kRecordedVariant;
    variant.role = Role::check;
    variant.verdict = Verdict::recorded;
    variant.outcome = Outcome::completed;
    variant.steps = static_cast<std::int64_t>(history.steps.size());
    variant.reason = reason(history);
    variant.has_events = has_events();
    variant.rerun = "ohm report " + path_;
    // Cards that nothing was recorded of have no lane.
    std::vector<DeviceMemoryHistory> lanes;
    for (std::size_t i = 0; i < devices_; ++i) {
      const DeviceResult& device = results_[i];
      const std::int64_t used = device.peak_reserved_bytes + device.peak_allocated_bytes;
      if (used == 0 && device.num_ooms == 0) continue;
      variant.devices.push_back(std::move(results_[i]));
      lanes.push_back(std::move(history.devices[i]));
      recorded.allocated_at_marks.push_back(std::move(marks_[i]));
    }
    history.devices = std::move(lanes);
    for (const DeviceMemoryHistory& device : history.devices) {
      recorded.grown.push_back(lines_of_growth(history, device));
      recorded.left.push_back(lines_at_end(history, device));
    }
    variant.growth_bytes_per_step = growth_per_step(recorded.allocated_at_marks);
    variant.oom = std::move(oom_);
    if (!is_native_) conclude(history, variant);
    reduce(history, {});
    variant.history = std::move(history);
    ScenarioResult scenario;
    scenario.name = std::filesystem::path(path_).stem().string();
    scenario.summary = "A memory snapshot";
    scenario.file = path_;
    scenario.verdict = Verdict::recorded;
    scenario.variants.push_back(std::move(variant));
    recorded.result.scenarios.push_back(std::move(scenario));
    return recorded;
  }

  /// By what is known of PyTorch.
  void conclude(const MemoryHistory& history, VariantResult& variant) const {
    variant.findings =
        diagnose(history, variant.devices, variant.oom ? variant.oom->requested_bytes : 0,
                 passes_that_ran_out_of_memory(history.steps));
    reject_contradicted(variant);
    variant.conclusion = conclusion_of(variant);
  }

  const Snapshot& snapshot_;
  const std::string& path_;
  RecordedSites sites_;
  BackwardCalls backward_calls_;
  std::vector<RecordedWhen> order_;
  bool is_native_ = false;
  std::size_t devices_ = 0;
  std::vector<RecordedBeginning> beginnings_;
  std::vector<BlockSizes> block_sizes_;
  std::vector<std::vector<Category>> categories_;  ///< of each entry of each device's trace
  std::vector<DeviceResult> results_;
  std::vector<std::vector<std::int64_t>> marks_;  ///< bytes allocated, of each device
  std::optional<std::uint32_t> oom_event_;
  SiteId oom_site_ = 0;
  std::optional<OomResult> oom_;
  OomResult card_;  ///< of the last out-of-memory error: figures of the card alone
  std::vector<CardTotals> totals_;
};

}  // namespace

RecordedRun recorded_run(const Snapshot& snapshot, const std::string& path) {
  return SnapshotResult(snapshot, path).make();
}

RunResult snapshot_result(const Snapshot& snapshot, const std::string& path) {
  return recorded_run(snapshot, path).result;
}

}  // namespace ohm::reports

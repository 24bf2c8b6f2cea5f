#include "reports/history/history_detail.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace ohm::reports {

namespace {

/// What is kept goes by it: those of the peak first, then the larger area.
std::pair<bool, double> weight_of(const HistoryBlock& block, std::uint32_t peak_event) {
  const bool is_of_peak = block.begin <= peak_event && peak_event < block.end;
  return {is_of_peak, static_cast<double>(block.bytes) * (block.end - block.begin)};
}

/// Events at which the map can be shown though blocks are missing: spread evenly, with the peak,
/// the end, the OOM, and as many of the steps as there is room for.
std::vector<std::uint32_t> frame_events(const MemoryHistory& history,
                                        const DeviceMemoryHistory& device, std::size_t count) {
  std::set<std::uint32_t> events = {device.peak_event, history.events - 1};
  if (history.oom_event) events.insert(*history.oom_event);
  const std::size_t even = count / 2;
  for (std::size_t i = 0; i < even; ++i) {
    events.insert(static_cast<std::uint32_t>(std::uint64_t{history.events} * i / even));
  }
  const std::size_t every = history.steps.size() / (count / 2) + 1;
  for (std::size_t i = 0; i < history.steps.size(); i += every) events.insert(history.steps[i]);
  return {events.begin(), events.end()};
}

void join_neighbours(std::vector<HistoryRun>& runs) {
  std::sort(runs.begin(), runs.end(),
            [](const HistoryRun& a, const HistoryRun& b) { return a.position < b.position; });
  std::vector<HistoryRun> joined;
  for (const HistoryRun& run : runs) {
    if (!joined.empty() && joined.back().position + joined.back().bytes == run.position) {
      joined.back().bytes += run.bytes;
    } else {
      joined.push_back(run);
    }
  }
  runs = std::move(joined);
}

/// Adds the dropped blocks to the frames, then keeps as many frames as there is room for.
void add_to_frames(const MemoryHistory& history, DeviceMemoryHistory& device,
                   const std::vector<HistoryBlock>& dropped, const HistoryDetail& detail) {
  if (device.frames.empty()) {
    for (const std::uint32_t event : frame_events(history, device, detail.frames)) {
      device.frames.push_back({event, {}});
    }
  }
  for (const HistoryBlock& block : dropped) {
    auto frame = std::lower_bound(
        device.frames.begin(), device.frames.end(), block.begin,
        [](const HistoryFrame& one, std::uint32_t event) { return one.event < event; });
    for (; frame != device.frames.end() && frame->event < block.end; ++frame) {
      frame->others.push_back({block.position, block.bytes});
    }
  }
  std::size_t runs = 0;
  for (HistoryFrame& frame : device.frames) {
    join_neighbours(frame.others);
    runs += frame.others.size();
  }
  while (runs > detail.runs && device.frames.size() > 2) {
    std::vector<HistoryFrame> kept;
    runs = 0;
    for (std::size_t i = 0; i < device.frames.size(); ++i) {
      const std::uint32_t event = device.frames[i].event;
      const bool matters = event == device.peak_event || event == history.oom_event;
      if (i % 2 == 1 && !matters) continue;
      runs += device.frames[i].others.size();
      kept.push_back(std::move(device.frames[i]));
    }
    if (kept.size() == device.frames.size()) return;
    device.frames = std::move(kept);
  }
}

void reduce_blocks(const MemoryHistory& history, DeviceMemoryHistory& device, std::size_t keep,
                   const HistoryDetail& detail) {
  if (device.blocks.size() <= keep) return;
  std::vector<std::uint32_t> order(device.blocks.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto heavier = [&](std::uint32_t a, std::uint32_t b) {
    const auto mine = weight_of(device.blocks[a], device.peak_event);
    const auto others = weight_of(device.blocks[b], device.peak_event);
    return mine != others ? mine > others : a < b;
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(keep), order.end(),
                   heavier);
  std::vector<bool> is_kept(order.size());
  for (std::size_t i = 0; i < keep; ++i) is_kept[order[i]] = true;
  std::vector<HistoryBlock> kept;
  std::vector<HistoryBlock> dropped;
  for (std::size_t i = 0; i < device.blocks.size(); ++i) {
    (is_kept[i] ? kept : dropped).push_back(device.blocks[i]);
  }
  device.blocks = std::move(kept);
  device.blocks_left_out += static_cast<std::int64_t>(dropped.size());
  add_to_frames(history, device, dropped, detail);
}

/// The ones that lived longest; the others were given back soon.
void reduce_segments(DeviceMemoryHistory& device, std::size_t keep) {
  std::vector<HistorySegment>& segments = device.segments;
  if (segments.size() <= keep) return;
  const auto area = [](const HistorySegment& one) {
    return static_cast<double>(one.bytes) * (one.end - one.begin);
  };
  const auto limit = segments.begin() + static_cast<std::ptrdiff_t>(keep);
  std::nth_element(
      segments.begin(), limit, segments.end(),
      [&](const HistorySegment& a, const HistorySegment& b) { return area(a) > area(b); });
  device.segments_left_out += segments.end() - limit;
  segments.erase(limit, segments.end());
  std::sort(segments.begin(), segments.end(), [](const HistorySegment& a, const HistorySegment& b) {
    return std::tie(a.begin, a.position) < std::tie(b.begin, b.position);
  });
}

/// Every n-th, so that they can still be counted.
void reduce_steps(MemoryHistory& history, std::size_t keep) {
  if (history.steps.size() <= keep) return;
  const std::size_t every = (history.steps.size() + keep - 1) / keep;
  std::vector<std::uint32_t> kept;
  for (std::size_t i = every - 1; i < history.steps.size(); i += every) {
    kept.push_back(history.steps[i]);
  }
  history.steps = std::move(kept);
  history.steps_every *= static_cast<std::uint32_t>(every);
}

void forget_unused_sites(MemoryHistory& history) {
  std::vector<std::uint32_t> renumbered(history.sites.size(), UINT32_MAX);
  std::vector<HistorySite> used;
  for (DeviceMemoryHistory& device : history.devices) {
    for (HistoryBlock& block : device.blocks) {
      std::uint32_t& number = renumbered[block.site];
      if (number == UINT32_MAX) {
        number = static_cast<std::uint32_t>(used.size());
        used.push_back(std::move(history.sites[block.site]));
      }
      block.site = number;
    }
  }
  history.sites = std::move(used);
}

/// Of the stacks those that a site has.
void forget_unused_calls(MemoryHistory& history) {
  std::vector<bool> is_used(history.calls.size());
  for (const HistorySite& site : history.sites) {
    for (std::uint32_t at = site.call; at != 0 && !is_used[at - 1];
         at = history.calls[at - 1].caller) {
      is_used[at - 1] = true;
    }
  }
  std::vector<std::uint32_t> new_call(history.calls.size() + 1);
  std::vector<std::uint32_t> new_line(history.lines.size(), UINT32_MAX);
  std::vector<HistoryCall> calls;
  std::vector<HistoryLine> lines;
  for (std::size_t i = 0; i < history.calls.size(); ++i) {
    if (!is_used[i]) continue;
    const HistoryCall& call = history.calls[i];
    std::uint32_t& line = new_line[call.line];
    if (line == UINT32_MAX) {
      line = static_cast<std::uint32_t>(lines.size());
      lines.push_back(std::move(history.lines[call.line]));
    }
    calls.push_back({line, new_call[call.caller]});
    new_call[i + 1] = static_cast<std::uint32_t>(calls.size());
  }
  for (HistorySite& site : history.sites) site.call = new_call[site.call];
  history.calls = std::move(calls);
  history.lines = std::move(lines);
}

/// Addresses are told of what is left; the last range says how far memory reaches.
void forget_unused_ranges(DeviceMemoryHistory& device) {
  const std::vector<HistoryRange>& ranges = device.ranges;
  if (ranges.empty()) return;
  std::vector<bool> is_used(ranges.size());
  is_used.back() = true;
  const auto use = [&](std::uint64_t position) {
    const auto behind = std::upper_bound(
        ranges.begin(), ranges.end(), position,
        [](std::uint64_t value, const HistoryRange& range) { return value < range.position; });
    if (behind != ranges.begin()) {
      is_used[static_cast<std::size_t>(behind - ranges.begin()) - 1] = true;
    }
  };
  for (const HistoryBlock& block : device.blocks) use(block.position);
  for (const HistorySegment& segment : device.segments) use(segment.position);
  std::vector<HistoryRange> used;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (is_used[i]) used.push_back(ranges[i]);
  }
  device.ranges = std::move(used);
}

}  // namespace

std::size_t rows_of(const MemoryHistory& history) {
  std::size_t rows = 0;
  for (const DeviceMemoryHistory& device : history.devices) {
    rows += device.blocks.size() + device.segments.size();
  }
  return rows;
}

void reduce(MemoryHistory& history, const HistoryDetail& detail) {
  std::size_t blocks = 0;
  std::size_t segments = 0;
  for (const DeviceMemoryHistory& device : history.devices) {
    blocks += device.blocks.size();
    segments += device.segments.size();
  }
  for (DeviceMemoryHistory& device : history.devices) {
    if (blocks > detail.blocks) {
      reduce_blocks(history, device, device.blocks.size() * detail.blocks / blocks, detail);
    }
    if (segments > detail.segments) {
      reduce_segments(device, device.segments.size() * detail.segments / segments);
    }
  }
  for (DeviceMemoryHistory& device : history.devices) forget_unused_ranges(device);
  reduce_steps(history, detail.steps);
  forget_unused_sites(history);
  forget_unused_calls(history);
}

}  // namespace ohm::reports

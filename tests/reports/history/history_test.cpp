// Histories: made of events, reduced, and as JSON and back.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <vector>

#include "reports/history/history_builder.h"
#include "reports/history/history_detail.h"
#include "reports/history/history_json.h"
#include "tests/reports/history/torch_files.h"
#include "tests/reports/sample_result.h"

namespace ohm::reports {
namespace {

MemoryEvent event(EventAction action, std::uint64_t address, std::uint64_t bytes,
                  Category category = Category::activation) {
  MemoryEvent event;
  event.action = action;
  event.address = address;
  event.bytes = bytes;
  event.block_units = static_cast<std::uint32_t>(bytes / MemoryEvent::kUnitBytes);
  event.category = category;
  return event;
}

MemoryHistory history_of_events(const std::vector<MemoryEvent>& events) {
  HistoryBuilder builder(1, static_cast<std::uint32_t>(events.size()));
  for (std::size_t i = 0; i < events.size(); ++i) {
    builder.add(events[i], static_cast<std::uint32_t>(i));
  }
  MemoryHistory history = builder.finish();
  history.sites = {HistorySite{}};
  return history;
}

TEST(HistoryBuilder, ABlockLivesFromItsRequestUntilItsFreeIsComplete) {
  const MemoryHistory history = history_of_events({
      event(EventAction::segment_alloc, kBase, 2'097'152),
      event(EventAction::alloc, kBase, 1024),
      event(EventAction::free_requested, kBase, 1024),
      event(EventAction::alloc, kBase + 1024, 512),
      event(EventAction::free_completed, kBase, 1024),
  });
  const DeviceMemoryHistory& device = history.devices[0];
  ASSERT_EQ(2U, device.blocks.size());
  EXPECT_EQ(1U, device.blocks[0].begin);
  EXPECT_EQ(4U, device.blocks[0].end);
  EXPECT_EQ(5U, device.blocks[1].end);
  EXPECT_EQ((std::vector<std::int64_t>{0, 1024, 0, 512, 512}), device.allocated_high);
  EXPECT_EQ(1U, device.peak_event);
}

TEST(HistoryBuilder, ARelabelledBlockMovesFromOneCurveToTheOther) {
  const MemoryHistory history = history_of_events({
      event(EventAction::alloc, kBase, 512, Category::activation),
      event(EventAction::relabel, kBase, 512, Category::gradient),
  });
  const auto& curves = history.devices[0].by_category;
  EXPECT_EQ((std::vector<std::int64_t>{512, 0}),
            curves[static_cast<std::size_t>(Category::activation)]);
  EXPECT_EQ((std::vector<std::int64_t>{0, 512}),
            curves[static_cast<std::size_t>(Category::gradient)]);
  EXPECT_TRUE(curves[static_cast<std::size_t>(Category::parameter)].empty());
}

TEST(HistoryBuilder, UnusedAddressesBetweenSegmentsTakeNoRoom) {
  const MemoryHistory history = history_of_events({
      event(EventAction::segment_alloc, kBase, 2'097'152),
      event(EventAction::segment_alloc, kBase + (std::uint64_t{1} << 40U), 4'194'304),
      event(EventAction::alloc, kBase + (std::uint64_t{1} << 40U) + 512, 512),
  });
  const DeviceMemoryHistory& device = history.devices[0];
  ASSERT_EQ(2U, device.ranges.size());
  EXPECT_EQ(2'097'152U, device.ranges[1].position);
  EXPECT_EQ(2'097'152U + 512U, device.blocks[0].position);
}

TEST(HistoryBuilder, UnmappingTheMiddleOfARangeLeavesItsEnds) {
  const MemoryHistory history = history_of_events({
      event(EventAction::segment_map, kBase, 6'291'456),
      event(EventAction::segment_unmap, kBase + 2'097'152, 2'097'152),
  });
  const DeviceMemoryHistory& device = history.devices[0];
  EXPECT_EQ((std::vector<std::int64_t>{6'291'456, 4'194'304}), device.reserved_high);
  ASSERT_EQ(3U, device.segments.size());
  EXPECT_EQ(1U, device.segments[0].end);
  EXPECT_EQ(2'097'152U, device.segments[1].bytes);
  EXPECT_EQ(4'194'304U, device.segments[2].position);
}

/// Many short blocks beside some that stay.
std::vector<MemoryEvent> many_events(std::size_t count) {
  std::mt19937 random(7);
  std::vector<MemoryEvent> events = {
      event(EventAction::segment_alloc, kBase, std::uint64_t{1} << 40U)};
  std::vector<MemoryEvent> live;
  std::uint64_t next = kBase;
  while (events.size() < count) {
    if (!live.empty() && random() % 2 == 0) {
      const std::size_t which = random() % live.size();
      for (const EventAction action : {EventAction::free_requested, EventAction::free_completed}) {
        MemoryEvent free = live[which];
        free.action = action;
        events.push_back(free);
      }
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      live.push_back(event(EventAction::alloc, next, 512 * (1 + random() % 4096)));
      next += live.back().bytes;
      events.push_back(live.back());
    }
  }
  return events;
}

TEST(HistoryDetail, OfVeryManyStepsEveryNthIsKept) {
  MemoryHistory history;
  history.events = 100'000;
  for (std::uint32_t i = 1; i <= 20'000; ++i) history.steps.push_back(5 * i);
  reduce(history, {});
  EXPECT_EQ(3U, history.steps_every);
  EXPECT_EQ(20'000U / 3, history.steps.size());
  EXPECT_EQ(5U * 3, history.steps.front());
  EXPECT_EQ(3, history_json(history)["steps_every"]);
}

TEST(HistoryDetail, NoPeakIsLostInBuckets) {
  const std::vector<MemoryEvent> events = many_events(100'000);
  const MemoryHistory history = history_of_events(events);
  EXPECT_GT(history.events_per_bucket, 1U);
  LiveMemory memory;
  std::int64_t peak = 0;
  std::uint32_t peak_event = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    memory.add(events[i], static_cast<std::uint32_t>(i));
    if (memory.allocated_bytes() <= peak) continue;
    peak = memory.allocated_bytes();
    peak_event = static_cast<std::uint32_t>(i);
  }
  const DeviceMemoryHistory& device = history.devices[0];
  EXPECT_EQ(peak, *std::max_element(device.allocated_high.begin(), device.allocated_high.end()));
  EXPECT_EQ(peak, device.allocated_high[peak_event / history.events_per_bucket]);
  EXPECT_EQ(peak_event, device.peak_event);
}

/// Bytes of the blocks that are there after an event, and of the runs of a frame.
std::uint64_t bytes_at(const std::vector<HistoryBlock>& blocks, std::uint32_t event) {
  std::uint64_t bytes = 0;
  for (const HistoryBlock& block : blocks) {
    if (block.begin <= event && event < block.end) bytes += block.bytes;
  }
  return bytes;
}

TEST(HistoryDetail, FramesAccountForEveryByteThatIsLeftOut) {
  const MemoryHistory whole = history_of_events(many_events(20'000));
  MemoryHistory reduced = whole;
  HistoryDetail detail;
  detail.blocks = 1000;
  reduce(reduced, detail);
  detail.blocks = 300;  // and once more
  reduce(reduced, detail);
  const DeviceMemoryHistory& device = reduced.devices[0];
  EXPECT_EQ(300U, device.blocks.size());
  EXPECT_EQ(static_cast<std::int64_t>(whole.devices[0].blocks.size()) - 300,
            device.blocks_left_out);
  ASSERT_GT(device.frames.size(), 10U);
  for (const HistoryFrame& frame : device.frames) {
    std::uint64_t others = 0;
    for (const HistoryRun& run : frame.others) others += run.bytes;
    EXPECT_EQ(bytes_at(whole.devices[0].blocks, frame.event),
              bytes_at(device.blocks, frame.event) + others);
  }
  const auto is_peak = [&](const HistoryFrame& frame) { return frame.event == device.peak_event; };
  EXPECT_TRUE(std::any_of(device.frames.begin(), device.frames.end(), is_peak));
}

TEST(HistoryDetail, WhatFitsStaysWhole) {
  MemoryHistory history = test::sample_history();
  reduce(history, {});
  EXPECT_EQ(history_json(test::sample_history()), history_json(history));
}

}  // namespace
}  // namespace ohm::reports

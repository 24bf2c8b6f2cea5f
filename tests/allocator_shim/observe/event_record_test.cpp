#include "allocator_shim/observe/event_record.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ohm {
namespace {

MemoryEvent event_at(std::uint64_t address) {
  MemoryEvent event;
  event.address = address;
  return event;
}

TEST(EventRecord, KeepsEveryEventInOrder) {
  EventRecord record;
  constexpr std::size_t kEvents = 10'000;  // more than one chunk
  for (std::size_t i = 0; i < kEvents; ++i) record.add(event_at(i));
  ASSERT_EQ(record.size(), kEvents);
  EXPECT_EQ(record.dropped(), 0U);
  for (std::size_t i = 0; i < kEvents; ++i) ASSERT_EQ(record[i].address, i);
}

TEST(EventRecord, KeepsTheNewestWhenBounded) {
  EventRecord record(3);
  for (std::size_t count = 1; count <= 8; ++count) {
    record.add(event_at(count));
    const std::size_t kept = std::min<std::size_t>(count, 3);
    ASSERT_EQ(record.size(), kept);
    ASSERT_EQ(record.dropped(), count - kept);
    for (std::size_t i = 0; i < kept; ++i) ASSERT_EQ(record[i].address, count - kept + i + 1);
  }
}

TEST(EventRecord, StartsAgainAfterClear) {
  EventRecord record(2);
  for (std::size_t i = 0; i < 5; ++i) record.add(event_at(i));
  record.clear();
  EXPECT_EQ(record.size(), 0U);
  record.add(event_at(7));
  ASSERT_EQ(record.size(), 1U);
  EXPECT_EQ(record[0].address, 7U);
  EXPECT_EQ(record.dropped(), 0U);
}

TEST(EventRecord, RefusesABoundOfNothing) { EXPECT_THROW(EventRecord(0), std::invalid_argument); }

TEST(EventAction, IsNamedAsPyTorchNamesIt) {
  EXPECT_EQ(name_of(EventAction::free_requested), "free_requested");
  EXPECT_EQ(name_of(EventAction::segment_unmap), "segment_unmap");
  EXPECT_EQ(name_of(EventAction::relabel), "relabel");
}

}  // namespace
}  // namespace ohm

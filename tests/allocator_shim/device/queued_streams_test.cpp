// Streams that have always caught up, except behind work that lasts.
#include "allocator_shim/device/queued_streams.h"

#include <gtest/gtest.h>

namespace ohm::test {
namespace {

TEST(QueuedStreams, HaveCaughtUpAtOnce) {
  QueuedStreams streams;
  EXPECT_TRUE(streams.is_complete(3, streams.record(3)));
}

TEST(QueuedStreams, StayBehindWorkThatLastsUntilTheProgramWaits) {
  QueuedStreams streams;
  const StreamEvent before = streams.record(3);
  streams.occupy(3);
  const StreamEvent after = streams.record(3);
  EXPECT_TRUE(streams.is_complete(3, before));
  EXPECT_FALSE(streams.is_complete(3, after));
  EXPECT_TRUE(streams.is_complete(4, streams.record(4)));
  streams.wait(3, after);
  EXPECT_TRUE(streams.is_complete(3, after));
  EXPECT_TRUE(streams.is_complete(3, streams.record(3)));
}

TEST(QueuedStreams, WaitingForAnEarlierEventDoesNotEndWorkBehindIt) {
  QueuedStreams streams;
  const StreamEvent before = streams.record(3);
  streams.occupy(3);
  const StreamEvent after = streams.record(3);
  streams.wait(3, before);
  EXPECT_FALSE(streams.is_complete(3, after));
}

TEST(QueuedStreams, WaitForEachOther) {
  QueuedStreams streams;
  streams.occupy(3);
  const StreamEvent busy = streams.record(3);
  streams.wait_for(4, 3, busy);
  const StreamEvent behind = streams.record(4);
  streams.wait_for(5, 4, behind);
  const StreamEvent last = streams.record(5);
  EXPECT_FALSE(streams.is_complete(5, last));
  streams.synchronize(5);
  EXPECT_TRUE(streams.is_complete(5, last));
  EXPECT_TRUE(streams.is_complete(4, behind));
  EXPECT_TRUE(streams.is_complete(3, busy));
}

TEST(QueuedStreams, GoOnWhenWhatTheyWaitForIsDone) {
  QueuedStreams streams;
  streams.occupy(3);
  streams.wait_for(4, 3, streams.record(3));
  const StreamEvent behind = streams.record(4);
  streams.synchronize(3);
  EXPECT_TRUE(streams.is_complete(4, behind));
}

TEST(QueuedStreams, NeedNotWaitForThemselves) {
  QueuedStreams streams;
  streams.occupy(3);
  const StreamEvent busy = streams.record(3);
  streams.wait_for(3, 3, busy);
  EXPECT_FALSE(streams.is_complete(3, streams.record(3)));
  streams.synchronize_all();
  EXPECT_TRUE(streams.is_complete(3, busy));
}

}  // namespace
}  // namespace ohm::test

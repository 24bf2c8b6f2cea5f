#include "harness/fit/fit_forecast.h"

#include <gtest/gtest.h>

#include "allocator_shim/base/bytes.h"

namespace ohm::engine {
namespace {

MemoryEvent event(EventAction action, std::uint64_t address, std::uint64_t bytes = 0) {
  MemoryEvent event;
  event.action = action;
  event.address = address;
  event.bytes = bytes;
  return event;
}

/// A fixed block of 20 MiB, then one of 2 MiB for each unit that takes its place and another.
RequestList run_at(std::int64_t value) {
  RequestList list;
  list.requests = {{0, false, 0, 0}, {0, true, 0, 0}, {0, false, 1, 0}, {0, false, 2, 0}};
  const std::int64_t unit = 2 * 1024 * 1024;
  list.bytes = {10 * unit, value * unit, value * unit};
  return list;
}

ForecastGpu card_of(std::size_t bytes) { return {bytes, "", default_rule_set()}; }

TEST(RequestForecast, ReadsRequestsFromEvents) {
  EventRecord events;
  events.add(event(EventAction::segment_alloc, 0x1000, 2_MiB));
  events.add(event(EventAction::alloc, 0x1000, 700));
  events.add(event(EventAction::alloc, 0x2000, 900));
  events.add(event(EventAction::free_requested, 0x1000, 700));
  events.add(event(EventAction::free_completed, 0x1000, 700));
  events.add(event(EventAction::segment_free, 0x9000, 2_MiB));
  events.add(event(EventAction::segment_free, 0xb000, 2_MiB));
  events.add(event(EventAction::alloc, 0x1000, 50));
  const RequestList list = request_list(events);
  const std::vector<RequestList::Request> expected = {
      {0, false, 0, 0}, {0, false, 1, 0}, {0, true, 0, 0}, {0, false, 2, 0}};
  EXPECT_EQ(list.requests, expected);
  EXPECT_EQ(list.bytes, (std::vector<std::int64_t>{700, 900, 50}));
  EXPECT_EQ(list.releases, std::vector<std::uint32_t>{3});
}

TEST(RequestForecast, TellsFromTwoRunsWhatFits) {
  RequestForecast forecast;
  EXPECT_EQ(forecast.fits(7, card_of(1_GiB)), std::nullopt);
  forecast.learn(10, run_at(10), false);
  EXPECT_EQ(forecast.fits(7, card_of(1_GiB)), std::nullopt);
  forecast.learn(20, run_at(20), false);
  // Twice 50 units of 2 MiB; the block that is cached is given back before.
  EXPECT_EQ(forecast.fits(50, card_of(200_MiB)), true);
  EXPECT_EQ(forecast.fits(51, card_of(200_MiB)), false);
}

TEST(RequestForecast, KnowsNothingWhereTheProgramAsksForOtherBlocks) {
  RequestForecast forecast;
  forecast.learn(10, run_at(10), false);
  forecast.learn(20, run_at(20), false);
  RequestList other = run_at(1000);
  other.requests.push_back({0, true, 1, 0});
  forecast.learn(1000, other, false);
  EXPECT_EQ(forecast.fits(900, card_of(200_MiB)), std::nullopt);
  EXPECT_EQ(forecast.fits(50, card_of(200_MiB)), true);
}

TEST(RequestForecast, ForgetsACardOnWhichTheProgramAsksForOtherBlocks) {
  RequestForecast elsewhere;
  elsewhere.learn(10, run_at(10), false);
  elsewhere.learn(20, run_at(20), false);
  RequestForecast here = RequestForecast::decoded(elsewhere.encoded());
  RequestList other = run_at(30);
  other.requests.push_back({0, true, 1, 0});
  here.learn(30, other, false);
  EXPECT_EQ(here.fits(10, card_of(200_MiB)), std::nullopt);
}

TEST(RequestForecast, FollowsACardThatNeedsMore) {
  RequestForecast elsewhere;
  elsewhere.learn(10, run_at(10), false);
  elsewhere.learn(20, run_at(20), false);
  RequestForecast here = RequestForecast::decoded(elsewhere.encoded());
  EXPECT_EQ(here.fits(50, card_of(200_MiB)), true);
  // Each block is 20 MiB larger here: one run tells.
  RequestList larger = run_at(50);
  for (std::int64_t& bytes : larger.bytes) bytes += 20 * 1024 * 1024;
  here.learn(50, larger, true);
  EXPECT_EQ(here.fits(40, card_of(200_MiB)), true);
  EXPECT_EQ(here.fits(41, card_of(200_MiB)), false);
}

}  // namespace
}  // namespace ohm::engine

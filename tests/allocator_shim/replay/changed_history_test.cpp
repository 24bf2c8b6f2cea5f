// A record in which one thing was changed is one that no allocator can have made: it must be found
// out, and the event named.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "allocator_shim/replay/verified_history.h"
#include "allocator_shim/snapshot/snapshot_reader.h"
#include "tests/support/checkout_paths.h"
#include "tests/support/random_program.h"

namespace ohm {
namespace {

std::string text_of(const MemoryEvent& event) {
  return fmt::format("{} {:#x} {}", name_of(event.action), event.address, event.bytes);
}

bool is_about_block(const MemoryEvent& event) {
  return event.action == EventAction::alloc || event.action == EventAction::free_requested ||
         event.action == EventAction::free_completed;
}

/// The address, the size or the action of an event becomes another one.
MemoryEvent changed(MemoryEvent event, std::mt19937_64& random,
                    const std::vector<MemoryEvent>& events) {
  const MemoryEvent before = event;
  do {
    switch (random() % 6) {
      case 0:
        event.address += 512;
        break;
      case 1:
        event.address = events[random() % events.size()].address;
        break;
      case 2:
        event.bytes += 1;
        break;
      case 3:
        event.bytes *= 2;
        break;
      default:
        event.action = static_cast<EventAction>(random() % 9);
    }
  } while (event.address == before.address && event.bytes == before.bytes &&
           event.action == before.action);
  return event;
}

/// Changes that leave a possible history, only not this one: nothing else in the record tells what
/// was free at its beginning, or how much a request that failed had asked for.
bool leaves_possible_history(const DeviceHistory& history, std::size_t index) {
  const MemoryEvent& event = history.events[index];
  if (event.action == EventAction::oom || event.action == EventAction::segment_free ||
      event.action == EventAction::segment_unmap) {
    return true;
  }
  // The free of a block from before the record may complete at any time.
  const bool has_request = index > 0 && history.events[index - 1].address == event.address &&
                           history.events[index - 1].action == EventAction::free_requested;
  return !is_about_block(event) || (event.action == EventAction::free_completed && !has_request);
}

void expect_every_change_is_found(const DeviceHistory& history, std::uint64_t seed) {
  constexpr int kChanges = 25;
  std::mt19937_64 random(seed);
  for (int i = 0; i < kChanges; ++i) {
    const std::size_t index = random() % history.events.size();
    if (leaves_possible_history(history, index)) continue;
    DeviceHistory other = history;
    other.events[index] = changed(history.events[index], random, history.events);
    const VerifiedHistory verified(other, default_rule_set());
    ASSERT_TRUE(verified.disagreement())
        << "event " << index << ": " << text_of(history.events[index]) << " became "
        << text_of(other.events[index]);
    EXPECT_TRUE(verified.disagreement()->event) << verified.disagreement()->summary;
  }
}

class ChangedRecording : public testing::TestWithParam<const char*> {};

TEST_P(ChangedRecording, IsFoundOut) {
  const Snapshot snapshot =
      read_snapshot_file(OHM_RECORDINGS_DIR "/snapshots/" + std::string(GetParam()) + ".pickle");
  for (const DeviceHistory& history : device_histories(snapshot, default_rule_set())) {
    expect_every_change_is_found(history, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryRecording, ChangedRecording,
                         testing::Values("finetune", "linear_no_grad", "lm_forward_ctx128",
                                         "lm_forward_fp32", "lm_inference_ctx128"),
                         [](const auto& info) { return std::string(info.param); });

class ChangedHistory : public testing::TestWithParam<std::size_t> {};

TEST_P(ChangedHistory, IsFoundOut) {
  const test::RandomProgram& program = test::random_programs()[GetParam()];
  for (std::uint64_t seed = 100; seed < 102; ++seed) {
    test::RandomRun run(program, seed);
    run.run(150);
    run.recorded().record();
    run.run(150);
    SCOPED_TRACE("settings \"" + program.settings + "\", seed " + std::to_string(seed));
    for (const DeviceHistory& history :
         device_histories(run.recorded().snapshot(), default_rule_set())) {
      expect_every_change_is_found(history, seed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryProgram, ChangedHistory,
                         testing::Range(std::size_t{0}, test::random_programs().size()));

TEST(ChangedHistory, SegmentsAtTheEndMustAddUp) {
  const Snapshot snapshot = read_snapshot_file(OHM_GOLDEN_DIR "/snapshots/linear_no_grad.pickle");
  std::vector<DeviceHistory> histories = device_histories(snapshot, default_rule_set());
  histories[0].segments[0].blocks[0].requested_bytes += 1;
  const VerifiedHistory verified(std::move(histories[0]), default_rule_set());
  ASSERT_TRUE(verified.disagreement());
  EXPECT_NE(verified.disagreement()->summary.find("the segments at the end do not"),
            std::string::npos)
      << verified.disagreement()->summary;
}

}  // namespace
}  // namespace ohm

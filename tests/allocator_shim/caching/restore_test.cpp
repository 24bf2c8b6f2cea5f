// An allocator that took over a state goes on as the one that was in it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"
#include "tests/support/random_program.h"

namespace ohm {
namespace {

/// A device that grants whatever it is asked for, and is given back anything.
class GenerousMemory final : public DeviceMemory {
 public:
  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override { return next(bytes); }
  void free_segment(DeviceAddress /*address*/, std::size_t /*bytes*/) override {}
  DeviceAddress reserve_range(std::size_t bytes) override { return next(bytes); }
  void release_range(DeviceAddress /*address*/, std::size_t /*bytes*/) override {}
  bool map(DeviceAddress /*address*/, std::size_t /*bytes*/, std::size_t /*chunk*/) override {
    return true;
  }
  void unmap(DeviceAddress /*address*/, std::size_t /*bytes*/, std::size_t /*chunk*/) override {}
  DeviceMemoryInfo info() const override { return {64_GiB, 64_GiB}; }
  std::size_t context_bytes() const override { return 0; }
  std::vector<DeviceProcess> processes() const override { return {}; }
  void* host_pointer(DeviceAddress /*address*/) const override { return nullptr; }

 private:
  DeviceAddress next(std::size_t bytes) {
    const DeviceAddress address = next_;
    next_ += (bytes + 2_MiB - 1) / 2_MiB * 2_MiB;
    return address;
  }
  DeviceAddress next_ = std::uint64_t{1} << 50U;
};

class Restored {
 public:
  explicit Restored(const std::vector<SegmentView>& segments, const std::string& settings = "")
      : allocator_(memory_, streams_, options_of(settings)) {
    handles_ = allocator_.restore(segments);
  }

  CachingAllocator& allocator() { return allocator_; }
  const std::vector<BlockHandle>& handles() const { return handles_; }

 private:
  static CachingAllocatorOptions options_of(const std::string& settings) {
    CachingAllocatorOptions options;
    options.settings = parse_settings(settings);
    return options;
  }

  GenerousMemory memory_;
  VirtualStreams streams_;
  CachingAllocator allocator_;
  std::vector<BlockHandle> handles_;
};

bool has_pending(const std::vector<SegmentView>& segments) {
  for (const SegmentView& segment : segments) {
    for (const BlockView& block : segment.blocks) {
      if (block.state == BlockView::State::active_pending_free) return true;
    }
  }
  return false;
}

TEST(Restore, TakesOverWhatAnotherAllocatorHolds) {
  for (const test::RandomProgram& program : test::random_programs()) {
    SCOPED_TRACE("settings \"" + program.settings + "\"");
    test::RandomRun run(program, 3);
    run.run(400);
    run.recorded().streams().synchronize_all();
    run.recorded().allocator().empty_cache();
    const std::vector<SegmentView> segments = run.recorded().allocator().segments();
    ASSERT_FALSE(has_pending(segments));
    Restored restored(segments, program.settings);
    EXPECT_EQ(restored.allocator().segments(), segments);
    restored.allocator().check_invariants();

    MemoryStats expected = run.recorded().allocator().stats();
    expected.reset_peak();
    expected.reset_accumulated();
    EXPECT_EQ(restored.allocator().stats().flatten(), expected.flatten());

    for (BlockHandle block : restored.handles()) restored.allocator().free(block);
    restored.allocator().empty_cache();
    EXPECT_TRUE(restored.allocator().segments().empty());
  }
}

std::vector<SegmentView> one_segment() {
  SegmentView segment;
  segment.address = segment.reservation_address = 0x7f0000000000;
  segment.bytes = segment.reservation_bytes = 20_MiB;
  segment.blocks = {{segment.address, 4_MiB, 3_MiB, BlockView::State::active_allocated,
                     Category::other, kUnknownSite},
                    {segment.address + 4_MiB, 16_MiB, 0, BlockView::State::inactive,
                     Category::other, kUnknownSite}};
  return {segment};
}

std::string refusal(const std::vector<SegmentView>& segments) {
  try {
    const Restored restored(segments);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Restore, RefusesWhatNoAllocatorHolds) {
  EXPECT_EQ(refusal(one_segment()), "");
  auto segments = one_segment();
  segments[0].blocks[1].address += 512;
  EXPECT_EQ(refusal(segments), "[restore] 0x7f0000400200: blocks tile their segment");
  segments = one_segment();
  segments[0].blocks[1].bytes -= 512;
  EXPECT_EQ(refusal(segments), "[restore] 0x7f0000000000: blocks tile their segment");
  segments = one_segment();
  segments[0].blocks[0].state = BlockView::State::inactive;
  EXPECT_EQ(refusal(segments), "[restore] 0x7f0000400000: free neighbours have merged");
  segments = one_segment();
  segments[0].blocks[0].state = BlockView::State::active_pending_free;
  EXPECT_EQ(refusal(segments),
            "[restore] 0x7f0000000000: a pending free waits for events that cannot be restored");
  segments = one_segment();
  segments[0].blocks[0].requested_bytes = 5_MiB;
  EXPECT_EQ(refusal(segments), "[restore] 0x7f0000000000: a block holds its request");
  segments = one_segment();
  segments.push_back(segments[0]);
  EXPECT_EQ(refusal(segments), "[restore] 0x7f0000000000: segments do not overlap");
}

TEST(PrivatePools, KeepTheirSegmentsWhenTheCacheIsEmptied) {
  test::RecordedAllocator recorded(1_GiB);
  recorded.allocator().make_private(7);
  recorded.free(recorded.allocate(30_MiB, 7));
  recorded.free(recorded.allocate(30_MiB, 0));
  recorded.allocator().empty_cache();
  const std::vector<SegmentView> left = recorded.allocator().segments();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].stream, 7U);
  EXPECT_TRUE(recorded.allocator().release_cached_segment(left[0].address));
  EXPECT_FALSE(recorded.allocator().release_cached_segment(left[0].address));
  EXPECT_TRUE(recorded.allocator().segments().empty());
}

}  // namespace
}  // namespace ohm

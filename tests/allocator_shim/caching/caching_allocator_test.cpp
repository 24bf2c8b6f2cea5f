// The rules that can be said in a sentence, with figures from PyTorch's own constants. Whole
// programs are compared in golden_trace_test.cpp and literal_comparison_test.cpp.
#include "allocator_shim/caching/caching_allocator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"

namespace ohm {
namespace {

class CachingAllocatorTest : public testing::Test {
 protected:
  void use(std::size_t capacity_bytes, std::string_view settings = "",
           std::string_view rules = "pytorch-2.6") {
    allocator_.reset();
    gpu_ = std::make_unique<VirtualGpu>(capacity_bytes, VirtualGpuOptions());
    CachingAllocatorOptions options;
    options.rules = find_rule_set(rules);
    options.settings = parse_settings(settings, options.rules);
    events_.clear();
    allocator_ = std::make_unique<CachingAllocator>(*gpu_, streams_, options, &events_);
  }
  void SetUp() override { use(1_GiB); }

  Allocation allocate(std::size_t bytes, StreamId stream = kDefaultStream,
                      Category category = Category::other) {
    AllocationRequest request;
    request.bytes = bytes;
    request.stream = stream;
    request.category = category;
    return allocator_->allocate(request);
  }
  void free(const Allocation& allocation) { allocator_->free(allocation.block); }

  const MemoryStats& stats() { return allocator_->stats(); }
  std::int64_t allocated() { return stats().allocated_bytes[0].current; }
  std::int64_t reserved() { return stats().reserved_bytes[0].current; }
  std::int64_t allocated_in(Category category) {
    return allocator_->allocated_bytes_by_category()[static_cast<std::size_t>(category)];
  }
  std::int64_t at_peak_in(Category category) {
    return allocator_->peak_bytes_by_category()[static_cast<std::size_t>(category)];
  }

  std::unique_ptr<VirtualGpu> gpu_;
  VirtualStreams streams_;
  EventRecord events_;
  std::unique_ptr<CachingAllocator> allocator_;
};

TEST_F(CachingAllocatorTest, RoundsRequestsTo512Bytes) {
  allocate(1);
  EXPECT_EQ(allocated(), 512);
  allocate(513);
  EXPECT_EQ(allocated(), 512 + 1024);
  EXPECT_EQ(stats().requested_bytes[0].current, 514);
}

TEST_F(CachingAllocatorTest, GivesNothingForNothing) {
  const Allocation nothing = allocate(0);
  EXPECT_EQ(nothing.block, nullptr);
  free(nothing);
  EXPECT_EQ(stats().allocation[0].allocated, 0);
  EXPECT_EQ(events_.size(), 0U);
}

TEST_F(CachingAllocatorTest, ChoosesTheSegmentBySize) {
  use(64_GiB);
  const std::vector<std::pair<std::size_t, std::size_t>> kCases = {
      {1, 2_MiB},       {1_MiB, 2_MiB},       {1_MiB + 1, 20_MiB}, {10_MiB - 512, 20_MiB},
      {10_MiB, 10_MiB}, {10_MiB + 1, 12_MiB}, {19_MiB, 20_MiB},    {100_MiB + 1, 102_MiB}};
  for (const auto& [bytes, segment_bytes] : kCases) {
    const std::int64_t before = reserved();
    allocate(bytes);
    EXPECT_EQ(reserved() - before, static_cast<std::int64_t>(segment_bytes)) << bytes;
    use(64_GiB);
  }
}

TEST_F(CachingAllocatorTest, HandsOutAWholeBlockWhenAMebibyteOrLessWouldBeLeft) {
  allocate(19_MiB);
  EXPECT_EQ(allocated(), static_cast<std::int64_t>(20_MiB));
}

TEST_F(CachingAllocatorTest, TakesTheSmallestBlockThatFitsAtTheLowestAddress) {
  const Allocation large = allocate(40_MiB);
  const Allocation first = allocate(30_MiB);
  const Allocation second = allocate(30_MiB);
  free(large);
  free(second);
  free(first);
  EXPECT_EQ(allocate(29_MiB).address, first.address);
}

// The third segment gets the addresses of the first one.
TEST_F(CachingAllocatorTest, TakesAndReleasesTheOldestSegmentFirstSincePyTorch215) {
  for (const bool is_later : {false, true}) {
    use(1_GiB, "", is_later ? "pytorch-2.15" : "pytorch-2.11");
    const Allocation first = allocate(40_MiB);
    const Allocation second = allocate(40_MiB);
    free(first);
    allocator_->empty_cache();
    const Allocation third = allocate(40_MiB);
    ASSERT_LT(third.address, second.address);
    free(second);
    free(third);
    const Allocation again = allocate(40_MiB);
    EXPECT_EQ(again.address, is_later ? second.address : third.address);
    free(again);
    allocator_->empty_cache();
    EXPECT_EQ(events_[events_.size() - 1].address, is_later ? third.address : second.address);
  }
}

TEST_F(CachingAllocatorTest, MergesFreeNeighbours) {
  const Allocation a = allocate(100_KiB);
  const Allocation b = allocate(100_KiB);
  const Allocation c = allocate(100_KiB);
  allocate(100_KiB);
  free(a);
  free(c);
  free(b);
  EXPECT_EQ(allocate(300_KiB).address, a.address);
}

TEST_F(CachingAllocatorTest, NeverServesSmallRequestsFromLargeSegments) {
  const Allocation large = allocate(3_MiB);
  free(large);
  const Allocation small = allocate(512);
  EXPECT_NE(small.address, large.address);
  EXPECT_EQ(stats().segment[static_cast<std::size_t>(StatPool::small_pool)].current, 1);
}

TEST_F(CachingAllocatorTest, KeepsABlockForItsOwnStream) {
  const Allocation block = allocate(30_MiB, 1);
  free(block);
  EXPECT_NE(allocate(30_MiB, 2).address, block.address);
  EXPECT_EQ(allocate(30_MiB, 1).address, block.address);
}

TEST_F(CachingAllocatorTest, ReleasesCachedSegmentsBeforeReportingOom) {
  use(100_MiB);
  free(allocate(60_MiB));
  const Allocation block = allocate(80_MiB);
  EXPECT_NE(block.block, nullptr);
  EXPECT_EQ(reserved(), static_cast<std::int64_t>(80_MiB));
  EXPECT_EQ(stats().num_alloc_retries, 1);
  EXPECT_EQ(stats().num_ooms, 0);
}

TEST_F(CachingAllocatorTest, ReportsEverythingAboutAnOom) {
  use(100_MiB);
  allocate(61_MiB);
  AllocationRequest request;
  request.bytes = 40_MiB + 1;
  request.category = Category::activation;
  request.site = 9;
  try {
    allocator_->allocate(request);
    FAIL() << "granted";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.report().requested_bytes, 40_MiB + 1);
    EXPECT_EQ(error.report().segment_bytes, 42_MiB);
    EXPECT_EQ(error.report().capacity_bytes, 100_MiB);
    EXPECT_EQ(error.report().free_bytes, 38_MiB);
    EXPECT_EQ(error.report().allocated_bytes, 62_MiB);
    EXPECT_EQ(error.report().reserved_bytes, 62_MiB);
    EXPECT_EQ(error.report().category, Category::activation);
    EXPECT_EQ(error.report().site, 9U);
    EXPECT_FALSE(error.report().injected);
  }
  EXPECT_EQ(stats().num_ooms, 1);
  EXPECT_EQ(stats().num_alloc_retries, 1);
  const MemoryEvent& last = events_[events_.size() - 1];
  EXPECT_EQ(last.action, EventAction::oom);
  EXPECT_EQ(last.address, 38_MiB);
  EXPECT_EQ(last.bytes, 40_MiB + 512);
  EXPECT_EQ(last.site, 9U);
}

TEST_F(CachingAllocatorTest, TakesAbsurdRequestsForAMistakeAndCountsNothing) {
  try {
    allocate(std::size_t{1} << 60U);
    FAIL() << "granted";
  } catch (const OutOfMemory& error) {
    EXPECT_STREQ(error.what(), "CUDA out of memory. Tried to allocate more than 1EB memory.");
  }
  EXPECT_EQ(stats().num_ooms, 0);
}

TEST_F(CachingAllocatorTest, AsksItsCallbacksBeforeTheDevice) {
  use(100_MiB);
  const Allocation held = allocate(60_MiB);
  int calls = 0;
  allocator_->add_free_memory_callback([&] {
    if (++calls > 1) return false;
    free(held);
    return true;
  });
  EXPECT_EQ(allocate(60_MiB).address, held.address);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(stats().num_device_alloc, 1);
}

TEST_F(CachingAllocatorTest, HoldsAFreedBlockUntilForeignStreamsHavePassed) {
  const Allocation block = allocate(30_MiB);
  allocator_->record_stream(block.block, 1);
  free(block);
  EXPECT_EQ(allocated(), 0);
  EXPECT_EQ(stats().active_bytes[0].current, static_cast<std::int64_t>(30_MiB));
  ASSERT_EQ(allocator_->live_blocks().size(), 1U);
  EXPECT_TRUE(allocator_->live_blocks()[0].pending_free);
  EXPECT_NE(allocate(30_MiB).address, block.address);
  streams_.synchronize_all();
  EXPECT_EQ(allocate(30_MiB).address, block.address);
}

TEST_F(CachingAllocatorTest, IgnoresItsOwnStreamAsAForeignOne) {
  const Allocation block = allocate(30_MiB, 1);
  allocator_->record_stream(block.block, 1);
  free(block);
  EXPECT_EQ(stats().active_bytes[0].current, 0);
}

TEST_F(CachingAllocatorTest, WaitsForStreamsWhenItEmptiesItsCache) {
  const Allocation block = allocate(30_MiB);
  allocator_->record_stream(block.block, 1);
  free(block);
  allocator_->empty_cache();
  EXPECT_EQ(reserved(), 0);
  EXPECT_EQ(stats().num_sync_all_streams, 1);
}

TEST_F(CachingAllocatorTest, LimitsReservedMemoryToAFraction) {
  use(100_MiB);
  allocator_->set_memory_fraction(0.5);
  allocate(30_MiB);
  EXPECT_THROW(allocate(22_MiB), OutOfMemory);
  allocate(20_MiB);
  EXPECT_EQ(reserved(), static_cast<std::int64_t>(50_MiB));
  EXPECT_THROW(allocator_->set_memory_fraction(1.1), std::invalid_argument);
  EXPECT_THROW(allocator_->set_memory_fraction(-0.1), std::invalid_argument);
}

TEST_F(CachingAllocatorTest, MentionsAFractionOfOneOnlyBeforePyTorch210) {
  for (const auto& [rules, mentions] : {std::pair{"pytorch-2.6", true}, {"pytorch-2.10", false}}) {
    use(100_MiB, "", rules);
    allocator_->set_memory_fraction(1);
    try {
      allocate(200_MiB);
      FAIL() << "granted";
    } catch (const OutOfMemory& error) {
      EXPECT_EQ(std::string(error.what()).find("100.00 MiB allowed; ") != std::string::npos,
                mentions);
    }
  }
}

TEST_F(CachingAllocatorTest, AttributesBytesToCategoriesAndTheirPeak) {
  const Allocation weight = allocate(1_MiB, 0, Category::parameter);
  const Allocation hidden = allocate(512, 0, Category::activation);
  free(hidden);
  EXPECT_EQ(allocated_in(Category::activation), 0);
  EXPECT_EQ(at_peak_in(Category::activation), 512);
  EXPECT_EQ(at_peak_in(Category::parameter), static_cast<std::int64_t>(1_MiB));
  allocator_->set_category(weight.block, Category::gradient);
  EXPECT_EQ(allocated_in(Category::parameter), 0);
  EXPECT_EQ(allocated_in(Category::gradient), static_cast<std::int64_t>(1_MiB));
  allocator_->reset_peak_stats();
  EXPECT_EQ(at_peak_in(Category::gradient), static_cast<std::int64_t>(1_MiB));
  EXPECT_EQ(at_peak_in(Category::activation), 0);
}

TEST_F(CachingAllocatorTest, RecordsWhatABlockIsWithEveryEvent) {
  AllocationRequest request;
  request.bytes = 1000;
  request.stream = 3;
  request.category = Category::activation;
  request.site = 7;
  const Allocation block = allocator_->allocate(request);
  allocator_->set_category(block.block, Category::gradient);
  free(block);
  ASSERT_EQ(events_.size(), 5U);
  EXPECT_EQ(events_[0].action, EventAction::segment_alloc);
  EXPECT_EQ(events_[0].bytes, 2_MiB);
  EXPECT_EQ(events_[1].action, EventAction::alloc);
  EXPECT_EQ(events_[1].address, block.address);
  EXPECT_EQ(events_[1].bytes, 1000U);
  EXPECT_EQ(events_[1].block_bytes(), 1024U);
  EXPECT_EQ(events_[1].stream, 3U);
  EXPECT_EQ(events_[1].site, 7U);
  EXPECT_EQ(events_[1].category, Category::activation);
  EXPECT_EQ(events_[2].action, EventAction::relabel);
  EXPECT_EQ(events_[2].category, Category::gradient);
  EXPECT_EQ(events_[3].action, EventAction::free_requested);
  EXPECT_EQ(events_[3].category, Category::gradient);
  EXPECT_EQ(events_[4].action, EventAction::free_completed);
  EXPECT_EQ(events_[4].site, 7U);
}

TEST_F(CachingAllocatorTest, ListsLiveBlocksInAddressOrder) {
  const Allocation large = allocate(30_MiB, 0, Category::parameter);
  const Allocation small = allocate(100);
  const auto blocks = allocator_->live_blocks();
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].address, large.address);
  EXPECT_EQ(blocks[0].category, Category::parameter);
  EXPECT_EQ(blocks[1].address, small.address);
  EXPECT_EQ(blocks[1].requested_bytes, 100U);
  EXPECT_EQ(blocks[1].bytes, 512U);
}

TEST_F(CachingAllocatorTest, ShowsTheHostMemoryBehindABlock) {
  VirtualGpuOptions options;
  options.values = ValueMode::keeps_values;
  for (const char* const settings : {"", "expandable_segments:True"}) {
    VirtualGpu gpu(1_GiB, options);
    CachingAllocatorOptions allocator_options;
    allocator_options.settings = parse_settings(settings);
    CachingAllocator allocator(gpu, streams_, allocator_options);
    AllocationRequest request;
    request.bytes = 5_MiB;
    const Allocation first = allocator.allocate(request);
    const Allocation second = allocator.allocate(request);
    ASSERT_NE(first.values, nullptr);
    std::memset(first.values, 1, request.bytes);
    std::memset(second.values, 2, request.bytes);
    EXPECT_EQ(static_cast<char*>(first.values)[request.bytes - 1], 1);
  }
  EXPECT_EQ(allocate(512).values, nullptr);
}

TEST_F(CachingAllocatorTest, GivesEverySegmentBackWhenItEnds) {
  for (const char* const settings : {"", "expandable_segments:True"}) {
    VirtualGpu gpu(1_GiB, {});
    {
      CachingAllocatorOptions options;
      options.settings = parse_settings(settings);
      CachingAllocator allocator(gpu, streams_, options);
      AllocationRequest request;
      for (const std::size_t bytes : {100_KiB, 30_MiB, 5_MiB}) {
        request.bytes = bytes;
        allocator.free(allocator.allocate(request).block);
        allocator.allocate(request);
      }
      EXPECT_LT(gpu.info().free_bytes, 1_GiB);
    }
    EXPECT_EQ(gpu.info().free_bytes, 1_GiB);
  }
}

TEST(CachingAllocators, ShareNothingBetweenThreads) {
  constexpr int kDevices = 4;
  std::vector<MemoryStats> stats(kDevices);
  std::vector<std::thread> threads;
  for (int device = 0; device < kDevices; ++device) {
    threads.emplace_back([&stats, device] {
      VirtualGpuOptions gpu_options;
      gpu_options.device = device;
      VirtualGpu gpu(256_MiB, gpu_options);
      VirtualStreams streams;
      EventRecord events;
      CachingAllocatorOptions options;
      options.device = device;
      CachingAllocator allocator(gpu, streams, options, &events);
      std::vector<BlockHandle> blocks(20);
      for (std::size_t i = 0; i < 2'000; ++i) {
        BlockHandle& block = blocks[i * 7 % blocks.size()];
        allocator.free(block);
        AllocationRequest request;
        request.bytes = 1 + i * 7919 % 4_MiB;
        block = allocator.allocate(request).block;
      }
      stats[static_cast<std::size_t>(device)] = allocator.stats();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const MemoryStats& of_device : stats) EXPECT_EQ(of_device.flatten(), stats[0].flatten());
}

TEST_F(CachingAllocatorTest, TakesNewSettingsWhileItRuns) {
  free(allocate(40_MiB));
  EXPECT_EQ(stats().max_split_size, -1);
  allocator_->apply_settings("max_split_size_mb:30");
  EXPECT_EQ(stats().max_split_size, static_cast<std::int64_t>(30_MiB));
  // The cached block is oversize now: a smaller request may not have it.
  allocate(20_MiB);
  EXPECT_EQ(reserved(), static_cast<std::int64_t>(60_MiB));
  EXPECT_THROW(allocator_->apply_settings("max_split_size_mb:1"), std::invalid_argument);
  EXPECT_EQ(stats().max_split_size, static_cast<std::int64_t>(30_MiB));
}

TEST_F(CachingAllocatorTest, ServesNoRequestFromExpandableBlocksOnceTheyAreTurnedOff) {
  use(1_GiB, "expandable_segments:True");
  const Allocation expandable = allocate(512);
  free(expandable);
  allocator_->apply_settings("expandable_segments:False");
  const Allocation plain = allocate(512);
  EXPECT_NE(plain.address, expandable.address);
  EXPECT_EQ(stats().segment[0].current, 1);
  free(plain);
  EXPECT_EQ(allocate(512).address, plain.address);
}

}  // namespace
}  // namespace ohm

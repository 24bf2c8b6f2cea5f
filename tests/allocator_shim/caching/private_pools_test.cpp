// Private pools: which requests they serve, and when their memory goes. Sequences as PyTorch 2.6
// and 2.15 have them.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/device/virtual_gpu.h"
#include "allocator_shim/device/virtual_streams.h"

namespace ohm {
namespace {

constexpr StreamId kCaptured = 7;

class PoolTest {
 public:
  explicit PoolTest(std::string_view rules, std::size_t capacity_bytes = 1_GiB)
      : gpu_(capacity_bytes, {}), allocator_(gpu_, streams_, options_of(rules)) {}

  CachingAllocator& allocator() { return allocator_; }

  BlockHandle allocate(std::size_t bytes, StreamId stream = kDefaultStream) {
    AllocationRequest request;
    request.bytes = bytes;
    request.stream = stream;
    return allocator_.allocate(request).block;
  }

  /// A pool with a user, which captures kCaptured.
  PoolId begin_capture() {
    const PoolId id = allocator_.next_graph_pool_id();
    allocator_.retain_pool(id);
    allocator_.begin_capture(id, kCaptured);
    return id;
  }

  std::vector<PoolId> pools() const {
    std::vector<PoolId> ids;
    for (const SegmentView& segment : allocator_.segments()) ids.push_back(segment.pool);
    return ids;
  }
  std::int64_t reserved_bytes() const { return allocator_.stats().reserved_bytes[0].current; }

 private:
  static CachingAllocatorOptions options_of(std::string_view rules) {
    CachingAllocatorOptions options;
    options.rules = find_rule_set(rules);
    return options;
  }

  VirtualGpu gpu_;
  VirtualStreams streams_;
  CachingAllocator allocator_;
};

class PrivatePool : public testing::TestWithParam<std::string_view> {};

TEST_P(PrivatePool, ServesTheStreamThatIsCapturedAndThoseThatJoin) {
  PoolTest test(GetParam());
  const PoolId id = test.begin_capture();
  test.allocate(1000, kCaptured);
  test.allocate(1000);
  EXPECT_TRUE(test.allocator().is_captured(kCaptured));
  EXPECT_FALSE(test.allocator().is_captured(8));
  test.allocator().join_capture(id, 8);
  EXPECT_TRUE(test.allocator().is_captured(8));
  test.allocate(1000, 8);
  test.allocator().end_capture(id);
  test.allocate(1000, kCaptured);
  EXPECT_EQ(test.pools(), (std::vector<PoolId>{id, kNormalPool, id, kNormalPool}));
}

TEST_P(PrivatePool, KeepsWhatIsCachedUntilItsLastUserHasLeft) {
  PoolTest test(GetParam());
  const PoolId id = test.begin_capture();
  test.allocator().free(test.allocate(30_MiB, kCaptured));
  test.allocator().end_capture(id);
  test.allocator().retain_pool(id);
  test.allocator().release_pool(id);
  test.allocator().empty_cache();
  EXPECT_EQ(test.reserved_bytes(), 30_MiB);
  test.allocator().release_pool(id);
  EXPECT_EQ(test.reserved_bytes(), 30_MiB) << "nothing goes before caches are emptied";
  test.allocator().empty_cache();
  EXPECT_EQ(test.reserved_bytes(), 0);
}

TEST_P(PrivatePool, WithABlockInUseOutlivesItsUsers) {
  PoolTest test(GetParam());
  const PoolId id = test.begin_capture();
  BlockHandle kept = test.allocate(30_MiB, kCaptured);
  test.allocator().end_capture(id);
  test.allocator().release_pool(id);
  test.allocator().empty_cache();
  EXPECT_THROW(test.allocator().retain_pool(id), std::logic_error);
  test.allocator().free(kept);
  test.allocator().empty_cache();
  EXPECT_EQ(test.reserved_bytes(), 0);
  test.allocator().retain_pool(id);
}

TEST_P(PrivatePool, IsEmptiedByItself) {
  PoolTest test(GetParam());
  const PoolId id = test.allocator().next_memory_pool_id();
  test.allocator().retain_pool(id);
  test.allocator().begin_use(id);
  test.allocator().free(test.allocate(30_MiB));
  test.allocator().end_use(id);
  test.allocator().free(test.allocate(20_MiB));
  test.allocator().empty_pool(id);
  EXPECT_EQ(test.reserved_bytes(), 50_MiB) << "it has a user";
  test.allocator().release_pool(id);
  test.allocator().empty_pool(id);
  EXPECT_EQ(test.pools(), std::vector<PoolId>{kNormalPool});
}

TEST_P(PrivatePool, FailsInACaptureWithoutGivingCachesBack) {
  PoolTest test(GetParam(), 100_MiB);
  test.allocator().free(test.allocate(40_MiB));
  test.begin_capture();
  test.allocator().free(test.allocate(30_MiB, kCaptured));
  try {
    test.allocate(60_MiB, kCaptured);
    FAIL() << "there is no room";
  } catch (const OutOfMemory& error) {
    EXPECT_NE(
        std::string(error.what())
            .find("Of the allocated memory 30.00 MiB is allocated by PyTorch, with 30.00 MiB "
                  "allocated in private pools (e.g., CUDA Graphs), and 40.00 MiB is reserved"),
        std::string::npos)
        << error.what();
  }
  EXPECT_EQ(test.allocator().stats().num_alloc_retries, 0);
  EXPECT_EQ(test.reserved_bytes(), 70_MiB);
}

TEST_P(PrivatePool, HoldsBlocksOfOtherStreamsUntilTheCaptureEnds) {
  PoolTest test(GetParam());
  const PoolId id = test.begin_capture();
  BlockHandle block = test.allocate(30_MiB, kCaptured);
  test.allocator().record_stream(block, 9);
  test.allocator().free(block);
  test.allocate(1000, kCaptured);
  const auto active_bytes = [&test] { return test.allocator().stats().active_bytes[0].current; };
  EXPECT_EQ(active_bytes(), 30_MiB + 1024);
  test.allocator().empty_cache();
  EXPECT_EQ(active_bytes(), 30_MiB + 1024);
  test.allocator().end_capture(id);
  test.allocator().empty_cache();
  EXPECT_EQ(active_bytes(), 1024);
  test.allocator().check_invariants();
}

INSTANTIATE_TEST_SUITE_P(Rules, PrivatePool, testing::Values("pytorch-2.6", "pytorch-2.15"),
                         [](const auto& tested) {
                           std::string name(tested.param.substr(tested.param.find('-') + 1));
                           name[name.find('.')] = '_';
                           return name;
                         });

/// One pool in use within another one, and caches emptied meanwhile.
std::vector<PoolId> nested_pools(PoolTest& test) {
  CachingAllocator& allocator = test.allocator();
  allocator.free(test.allocate(30_MiB));
  const PoolId outer = allocator.next_memory_pool_id();
  const PoolId inner = allocator.next_memory_pool_id();
  for (const PoolId id : {outer, inner}) {
    allocator.retain_pool(id);
    allocator.begin_use(id);
  }
  test.allocate(30_MiB);
  allocator.empty_cache();
  return test.pools();
}

TEST(NestedPrivatePools, ServeFromTheFirstOneIn26) {
  PoolTest test("pytorch-2.6");
  EXPECT_EQ(nested_pools(test), (std::vector<PoolId>{kNormalPool, {0, 1}}));
}

TEST(NestedPrivatePools, ServeFromTheInnermostIn215) {
  PoolTest test("pytorch-2.15");
  EXPECT_EQ(nested_pools(test), (std::vector<PoolId>{{0, 2}}));
}

}  // namespace
}  // namespace ohm

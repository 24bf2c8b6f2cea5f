// Python is called where more memory of a GPU is taken, and not in every request.
#include "allocator_shim/interpose/device_growth.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/allocator_shim/interpose/client.h"

namespace ohm::interpose {
namespace {

int scheduled = 0;

int schedule(GrowthCall call, void* argument) {
  ++scheduled;
  return call(argument);
}

int follow(void* /*argument*/) { return 0; }

void follow_growth(GrowthScheduler scheduler) {
  function<void(GrowthScheduler, GrowthCall)>("libohm_cuda.so", "ohm_follow_growth")(scheduler,
                                                                                     &follow);
}

TEST(DeviceGrowth, IsToldWhenAQuarterMoreIsTaken) {
  constexpr std::size_t kBytes = std::size_t{2} << 20U;
  constexpr int kRequests = 16;
  std::vector<void*> taken;
  scheduled = 0;
  follow_growth(&schedule);
  const auto allocate = function<int(void**, std::size_t)>(kRuntime, "cudaMalloc");
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(allocate(&taken.emplace_back(), kBytes), kSuccess);
  }
  follow_growth(nullptr);
  // At 16, 20, 26 MiB: requests are of 2 MiB.
  EXPECT_EQ(3, scheduled);
  ASSERT_EQ(allocate(&taken.emplace_back(), 4 * kBytes), kSuccess);
  EXPECT_EQ(3, scheduled) << "nobody is told any more";
  for (void* const memory : taken) {
    EXPECT_EQ(function<int(void*)>(kRuntime, "cudaFree")(memory), kSuccess);
  }
}

}  // namespace
}  // namespace ohm::interpose

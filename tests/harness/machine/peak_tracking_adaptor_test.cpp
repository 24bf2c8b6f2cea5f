#include "harness/machine/peak_tracking_adaptor.h"

#include <gtest/gtest.h>

#include "allocator_shim/base/bytes.h"
#include "tests/support/test_machine.h"

namespace ohm::engine {
namespace {

constexpr std::size_t kActivation = static_cast<std::size_t>(Category::activation);

class PeakTracking : public testing::Test {
 protected:
  AllocationRequest request(std::size_t bytes) const {
    AllocationRequest request;
    request.bytes = bytes;
    request.category = Category::activation;
    return request;
  }

  test::TestMachine machine_{{.capacity_bytes = 64_MiB}};
  PeakTrackingAdaptor tracker_{machine_.gpu()};
};

TEST_F(PeakTracking, KeepsPeaksThatTheProgramResets) {
  const Allocation large = tracker_.allocate(request(8_MiB));
  tracker_.free(large.block);
  tracker_.empty_cache();
  tracker_.reset_peak_stats();
  tracker_.allocate(request(2_MiB));
  EXPECT_EQ(2_MiB, static_cast<std::size_t>(tracker_.stats().allocated_bytes[0].peak));
  const TrackedFigures figures = tracker_.figures();
  EXPECT_EQ(8_MiB, static_cast<std::size_t>(figures.peak_allocated_bytes));
  EXPECT_EQ(20_MiB, static_cast<std::size_t>(figures.peak_reserved_bytes));
  EXPECT_EQ(8_MiB, static_cast<std::size_t>(figures.peak_by_category[kActivation]));
}

TEST_F(PeakTracking, KeepsCountsThatTheProgramResets) {
  tracker_.allocate(request(8_MiB));
  tracker_.reset_accumulated_stats();
  tracker_.allocate(request(20_MiB));
  EXPECT_EQ(2, tracker_.figures().num_device_alloc);
}

TEST_F(PeakTracking, CountsTheErrorsThatItIsToldOf) {
  tracker_.note_out_of_memory();
  tracker_.reset_accumulated_stats();
  tracker_.note_out_of_memory();
  EXPECT_EQ(2, tracker_.figures().num_ooms);
}

}  // namespace
}  // namespace ohm::engine

#include "harness/machine/allocator_witness.h"

#include <gtest/gtest.h>

#include "allocator_shim/base/bytes.h"
#include "tests/support/test_machine.h"

namespace ohm::engine {
namespace {

constexpr std::size_t kActivation = static_cast<std::size_t>(Category::activation);

class Witness : public testing::Test {
 protected:
  AllocationRequest request(std::size_t bytes) const {
    AllocationRequest request;
    request.bytes = bytes;
    request.category = Category::activation;
    return request;
  }

  test::TestMachine machine_{{.capacity_bytes = 64_MiB}};
  AllocatorWitness witness_{machine_.gpu()};
};

TEST_F(Witness, KeepsPeaksThatTheProgramResets) {
  const Allocation large = witness_.allocate(request(8_MiB));
  witness_.free(large.block);
  witness_.empty_cache();
  witness_.reset_peak_stats();
  witness_.allocate(request(2_MiB));
  EXPECT_EQ(2_MiB, static_cast<std::size_t>(witness_.stats().allocated_bytes[0].peak));
  const WitnessedFigures figures = witness_.figures();
  EXPECT_EQ(8_MiB, static_cast<std::size_t>(figures.peak_allocated_bytes));
  EXPECT_EQ(20_MiB, static_cast<std::size_t>(figures.peak_reserved_bytes));
  EXPECT_EQ(8_MiB, static_cast<std::size_t>(figures.peak_by_category[kActivation]));
}

TEST_F(Witness, KeepsCountsThatTheProgramResets) {
  witness_.allocate(request(8_MiB));
  witness_.reset_accumulated_stats();
  witness_.allocate(request(20_MiB));
  EXPECT_EQ(2, witness_.figures().num_device_alloc);
}

TEST_F(Witness, CountsTheErrorsThatItIsToldOf) {
  witness_.note_out_of_memory();
  witness_.reset_accumulated_stats();
  witness_.note_out_of_memory();
  EXPECT_EQ(2, witness_.figures().num_ooms);
}

}  // namespace
}  // namespace ohm::engine

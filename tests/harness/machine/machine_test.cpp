#include "harness/machine/machine.h"

#include <gtest/gtest.h>

#include "allocator_shim/base/bytes.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {
namespace {

Allocation allocate(Machine& machine, std::size_t bytes) {
  AllocationRequest request;
  request.bytes = bytes;
  return machine.requests(0).allocate(request);
}

TEST(Machine, AnotherProcessSharesTheCardAndNothingElse) {
  Machine machine({});
  const ContextGuard guard(machine.context());
  machine.add_gpus();
  allocate(machine, 20_MiB);
  {
    const Machine::ProcessScope process(machine);
    EXPECT_EQ(44_MiB, machine.requests(0).info().free_bytes);
    EXPECT_EQ(0, machine.allocated_bytes(0));
    allocate(machine, 40_MiB);
    EXPECT_EQ(4_MiB, machine.requests(0).info().free_bytes);
    EXPECT_THROW(allocate(machine, 20_MiB), OutOfMemory);
  }
  EXPECT_EQ(44_MiB, machine.requests(0).info().free_bytes) << "it ended, with all that it held";
  EXPECT_EQ(20_MiB, static_cast<std::size_t>(machine.allocated_bytes(0)));
  const DeviceResult result = machine.device_results().at(0);
  EXPECT_EQ(20_MiB, static_cast<std::size_t>(result.peak_allocated_bytes));
  EXPECT_EQ(1, result.num_ooms) << "of all processes";
}

TEST(Machine, WhatAProcessAllocatedMayBeFreedAfterItsEnd) {
  Machine machine({});
  const ContextGuard guard(machine.context());
  machine.add_gpus();
  Allocation left{};
  RequestAllocator* allocator = nullptr;
  {
    const Machine::ProcessScope process(machine);
    allocator = &machine.requests(0);
    left = allocate(machine, 20_MiB);
  }
  allocator->free(left.block);
  allocator->empty_cache();
  EXPECT_EQ(64_MiB, machine.requests(0).info().free_bytes);
}

TEST(Machine, AProcessHasAStateOfItsOwn) {
  Machine machine({});
  const ContextGuard guard(machine.context());
  machine.add_gpus();
  machine.context().state.grad_enabled = false;
  {
    const Machine::ProcessScope process(machine);
    EXPECT_TRUE(machine.context().state.grad_enabled);
  }
  EXPECT_FALSE(machine.context().state.grad_enabled);
}

}  // namespace
}  // namespace ohm::engine

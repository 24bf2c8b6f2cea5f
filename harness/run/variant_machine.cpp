#include "harness/run/variant_machine.h"

#include <algorithm>

#include "allocator_shim/base/bytes.h"

namespace ohm::engine {

MachineOptions machine_for(const ScenarioDescription& scenario, const VariantDescription& variant,
                           const RunOptions& run) {
  MachineOptions machine;
  machine.gpu = variant.gpu.value_or(scenario.gpu);
  if (!variant.fault.empty()) machine.fault_plans.push_back(variant.fault);
  for (const RunOptionRow& row : kRunOptionRows) {
    if (row.apply != nullptr) row.apply(run, machine);
  }
  return machine;
}

namespace {

std::size_t capacity_of(const MachineOptions& machine) {
  return machine.gpu.capacity_bytes.value_or(machine.gpu_profile().capacity_bytes);
}

// Still a GPU: a program that allocates without end has to end.
std::size_t large_capacity(const MachineOptions& machine) {
  const std::size_t capacity = capacity_of(machine);
  return machine.gpu.values ? std::min(16 * capacity, std::max(capacity, 256_GiB))
                            : std::max(16 * capacity, 1024_GiB);
}

}  // namespace

MachineOptions large_machine_for(const ScenarioDescription& scenario,
                                 const VariantDescription& variant, const RunOptions& run) {
  MachineOptions machine = machine_for(scenario, variant, run);
  machine.fault_plans.clear();
  const std::size_t capacity = large_capacity(machine);
  // What is compared to the last bit comes from the same kernels. Where the card holds no more than
  // the scenario's own GPU, only a virtual one is as large as it has to be.
  const bool is_on_card = capacity_of(machine) < run.card_bytes;
  if (!is_on_card) machine.cuda.reset();
  machine.gpu.capacity_bytes = is_on_card ? std::min(capacity, run.card_bytes) : capacity;
  return machine;
}

}  // namespace ohm::engine

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

MachineOptions large_machine_for(const ScenarioDescription& scenario,
                                 const VariantDescription& variant, const RunOptions& run) {
  MachineOptions machine = machine_for(scenario, variant, run);
  machine.fault_plans.clear();
  machine.cuda.reset();  // only a virtual GPU is as large as it has to be
  // Still a GPU: a program that allocates without end has to end.
  const std::size_t capacity =
      machine.gpu.capacity_bytes.value_or(machine.gpu_profile().capacity_bytes);
  machine.gpu.capacity_bytes = machine.gpu.values
                                   ? std::min(16 * capacity, std::max(capacity, 256_GiB))
                                   : std::max(16 * capacity, 1024_GiB);
  return machine;
}

}  // namespace ohm::engine

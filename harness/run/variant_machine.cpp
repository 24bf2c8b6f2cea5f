#include "harness/run/variant_machine.h"

#include <algorithm>
#include <string>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/device/gpu_profile.h"

namespace ohm::engine {

MachineOptions machine_for(const ScenarioDescription& scenario, const VariantDescription& variant,
                           const RunOptions& run) {
  MachineOptions machine;
  machine.seed = run.seed;
  machine.gpu = variant.gpu.value_or(scenario.gpu);
  if (run.gpu) {
    machine.gpu.profile = run.gpu->profile.name;
    machine.gpu.capacity_bytes = run.gpu->profile.capacity_bytes;
    machine.gpu.count = run.gpu->count.value_or(machine.gpu.count);
  }
  if (run.cuda) {
    machine.cuda = run.cuda->libraries;
    if (run.cuda->limit_bytes) machine.gpu.capacity_bytes = run.cuda->limit_bytes;
  }
  if (run.size_only) machine.gpu.values = false;
  if (!run.rules.empty()) machine.gpu.rules = run.rules;
  if (run.alloc_conf) machine.gpu.alloc_conf = run.alloc_conf;
  if (!machine.gpu.alloc_conf) machine.gpu.alloc_conf = run.environment_alloc_conf;
  for (const std::string& plan : {variant.fault, run.fault}) {
    if (!plan.empty()) machine.fault_plans.push_back(plan);
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
      machine.gpu.capacity_bytes.value_or(find_gpu_profile(machine.gpu.profile).capacity_bytes);
  machine.gpu.capacity_bytes = std::min(16 * capacity, std::max(capacity, 256_GiB));
  return machine;
}

}  // namespace ohm::engine

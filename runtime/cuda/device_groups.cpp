#include "runtime/cuda/device_groups.h"

#include <set>

namespace ohm::cuda {

const Nccl* DeviceGroups::nccl(const std::vector<std::shared_ptr<const CudaDevice>>& devices) {
  std::vector<int> ordinals;
  for (const auto& device : devices) ordinals.push_back(device->ordinal());
  const std::set<int> different(ordinals.begin(), ordinals.end());
  if (is_missing_ || devices.size() < 2 || different.size() < devices.size()) return nullptr;
  std::unique_ptr<const Nccl>& group = groups_[ordinals];
  if (group) return group.get();
  try {
    group = std::make_unique<const Nccl>(devices, names_);
  } catch (const GpuUnavailable&) {
    is_missing_ = true;
  }
  return group.get();
}

}  // namespace ohm::cuda

// NCCL between devices of this process, for each group of them that ever does something together.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/nccl.h"

namespace ohm::cuda {

class DeviceGroups {
 public:
  explicit DeviceGroups(LibraryNames names) : names_(std::move(names)) {}

  /// nullptr where NCCL is missing, or has nothing to do: fewer than two devices, or one twice.
  /// Throws LibraryError where it is there and does not start: the next call tries again.
  const Nccl* nccl(const std::vector<std::shared_ptr<const CudaDevice>>& devices);

 private:
  LibraryNames names_;
  bool is_missing_ = false;
  std::map<std::vector<int>, std::unique_ptr<const Nccl>> groups_;  ///< by the devices' ordinals
};

}  // namespace ohm::cuda

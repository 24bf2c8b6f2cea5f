// The fault policies that can be named, in the order that help shows them.
#include <array>

#include "allocator_shim/fault/policies/after_bytes.h"
#include "allocator_shim/fault/policies/burst.h"
#include "allocator_shim/fault/policies/call.h"
#include "allocator_shim/fault/policies/capacity.h"
#include "allocator_shim/fault/policies/device.h"
#include "allocator_shim/fault/policies/every.h"
#include "allocator_shim/fault/policies/from.h"
#include "allocator_shim/fault/policies/level.h"
#include "allocator_shim/fault/policies/neighbour.h"
#include "allocator_shim/fault/policies/nth.h"
#include "allocator_shim/fault/policies/point.h"
#include "allocator_shim/fault/policies/probability.h"
#include "allocator_shim/fault/policies/site.h"
#include "allocator_shim/fault/policies/size.h"
#include "allocator_shim/fault/policies/window.h"

namespace ohm {

std::span<const FaultPolicyRow> fault_policies() {
  using namespace fault_policies_detail;
  static constexpr std::array<FaultPolicyRow, 15> kRows = {
      kNth,  kFrom,   kBurst, kWindow, kEvery, kProbability, kAfterBytes, kSize,
      kSite, kDevice, kLevel, kPoint,  kCall,  kCapacity,    kNeighbour};
  return kRows;
}

}  // namespace ohm

// The fault policies that can be named, in the order that help shows them.
#include <array>

#include "allocator_shim/fault/policies/capacity.h"
#include "allocator_shim/fault/policies/device.h"
#include "allocator_shim/fault/policies/every.h"
#include "allocator_shim/fault/policies/from.h"
#include "allocator_shim/fault/policies/level.h"
#include "allocator_shim/fault/policies/nth.h"
#include "allocator_shim/fault/policies/size.h"

namespace ohm {

std::span<const FaultPolicyRow> fault_policies() {
  using namespace fault_policies_detail;
  static constexpr std::array<FaultPolicyRow, 7> kRows = {kNth,    kFrom,  kEvery,   kSize,
                                                          kDevice, kLevel, kCapacity};
  return kRows;
}

}  // namespace ohm

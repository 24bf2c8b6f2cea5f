#include "allocator_shim/interpose/launch_limits.h"

#include <climits>
#include <cstdint>

#include "allocator_shim/interpose/device_model.h"

namespace ohm::interpose {
namespace {

constexpr unsigned kMostBlocksAcross = 65'535;  // but for the first dimension
constexpr unsigned kMostThreadsDeep = 64;

bool is_within(const Dimensions& some, const Dimensions& most) {
  return some.x > 0 && some.y > 0 && some.z > 0 && some.x <= most.x && some.y <= most.y &&
         some.z <= most.z;
}

}  // namespace

Status check_launch(LaunchApi api, const Dimensions& grid, const Dimensions& block,
                    std::size_t shared_bytes) {
  constexpr Dimensions kMostBlocks = {INT_MAX, kMostBlocksAcross, kMostBlocksAcross};
  constexpr Dimensions kMostThreads = {kMaxBlockThreads, kMaxBlockThreads, kMostThreadsDeep};
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  const bool is_possible =
      is_within(grid, kMostBlocks) && is_within(block, kMostThreads) && threads <= kMaxBlockThreads;
  if (!is_possible) {
    return api == LaunchApi::runtime ? Status::invalid_configuration : Status::invalid_value;
  }
  const Architecture& architecture = architecture_of(gpus().profile());
  const bool has_room = shared_bytes <= static_cast<std::size_t>(architecture.shared_bytes_optin);
  return has_room ? Status::success : Status::invalid_value;
}

Status check_cooperative(LaunchApi api, const Dimensions& grid, const Dimensions& block,
                         std::size_t shared_bytes) {
  const Status status = check_launch(api, grid, block, shared_bytes);
  if (status != Status::success) return status;
  const GpuProfile& profile = gpus().profile();
  const int threads = static_cast<int>(block.x * block.y * block.z);
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  const auto most = static_cast<std::uint64_t>(resident_blocks(profile, threads, shared_bytes)) *
                    static_cast<std::uint64_t>(profile.multiprocessors);
  return blocks <= most ? Status::success : Status::cooperative_launch_too_large;
}

}  // namespace ohm::interpose

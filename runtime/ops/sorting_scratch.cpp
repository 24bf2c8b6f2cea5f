#include "runtime/ops/sorting_scratch.h"

#include "runtime/base/ceil_div.h"
#include "runtime/tensor/context.h"

// Note [Scratch of the sorting kernels] has the reasons.
namespace ohm::ops {
namespace {

constexpr std::int64_t kPartBytes = 256;

std::int64_t rounded_part(std::int64_t bytes) { return ceil_div(bytes, kPartBytes) * kPartBytes; }

// The states of a scan: one for each block, and 32 for those that look back before the first.
std::int64_t states_bytes(std::int64_t blocks, std::int64_t state_bytes) {
  constexpr std::int64_t kPaddingStates = 32;
  return rounded_part((blocks + kPaddingStates) * state_bytes);
}

constexpr int kAmpere = 8;
constexpr int kHopper = 9;

// The library tunes its kernels for the device. Two kinds of CUDA devices were recorded.
void take_recorded_tuning_for(Device device) {
  DeviceSlot& slot = Context::current().slot(device);
  const int major = slot.compute_capability_major;
  if (major < kAmpere || major > kHopper) slot.assumptions.add(Assumption::sorting_scratch);
}

bool is_tuned_for_hopper(Device device) {
  take_recorded_tuning_for(device);
  return Context::current().slot(device).compute_capability_major >= kHopper;
}

}  // namespace

std::int64_t sort_scratch_bytes(std::int64_t count, std::int64_t item_bytes, Device device) {
  // What one block sorts by itself needs none: the library still asks for a byte.
  constexpr std::int64_t kOneBlockThreads = 256;
  const std::int64_t one_block = kOneBlockThreads * (19 * 4 / item_bytes);
  if (count <= one_block) return 1;
  constexpr std::int64_t kDigits = 256;
  constexpr std::int64_t kThreads = 384;
  const std::int64_t passes = item_bytes;
  const std::int64_t items_per_thread = (is_tuned_for_hopper(device) ? 23 : 21) * 4 / item_bytes;
  const std::int64_t blocks = ceil_div(count, kThreads * items_per_thread);
  return rounded_part(passes * kDigits * 8) + rounded_part(blocks * kDigits * 4) +
         2 * rounded_part(count * item_bytes) + rounded_part(passes * 4) + kPartBytes - 1;
}

std::int64_t scan_scratch_bytes(std::int64_t count, DType dtype, Device device) {
  take_recorded_tuning_for(device);
  constexpr std::int64_t kThreads = 128;
  const auto item_bytes = static_cast<std::int64_t>(ohm::item_bytes(dtype));
  if (item_bytes >= 4) {
    const std::int64_t blocks = ceil_div(count, kThreads * (15 * 4 / item_bytes));
    return states_bytes(blocks, 2 * item_bytes) + kPartBytes - 1;
  }
  // Half precision: flags, sums of blocks and running sums apart from one another.
  const std::int64_t blocks = ceil_div(count, kThreads * 30);
  return states_bytes(blocks, 4) + 2 * states_bytes(blocks, item_bytes) + 2 * kPartBytes - 1;
}

std::int64_t selection_scratch_bytes(std::int64_t count, Device device) {
  const std::int64_t block_elements = is_tuned_for_hopper(device) ? 4480 : 1792;
  return states_bytes(ceil_div(count, block_elements), 8) + kPartBytes - 1;
}

std::int64_t flagged_selection_scratch_bytes(std::int64_t count, Device device) {
  const std::int64_t block_elements = is_tuned_for_hopper(device) ? 4480 : 2304;
  return states_bytes(ceil_div(count, block_elements), 8) + kPartBytes - 1;
}

// One partial sum of four bytes for each block: five times as many as can run at once.
std::int64_t device_sum_scratch_bytes(Device device) {
  constexpr std::int64_t kThreads = 256;
  constexpr std::int64_t kSubscription = 5;
  const DeviceSlot& slot = Context::current().slot(device);
  const std::int64_t at_once = slot.multiprocessors * (slot.threads_per_multiprocessor / kThreads);
  return rounded_part(at_once * kSubscription * 4) + kPartBytes - 1;
}

std::int64_t keyed_scan_scratch_bytes(std::int64_t count, Device device) {
  take_recorded_tuning_for(device);
  constexpr std::int64_t kBlockElements = 896;
  const std::int64_t blocks = ceil_div(count, kBlockElements);
  return states_bytes(blocks, 16) + rounded_part(blocks * 4) + kPartBytes - 1;
}

}  // namespace ohm::ops

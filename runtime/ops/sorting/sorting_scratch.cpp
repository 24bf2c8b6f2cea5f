#include "runtime/ops/sorting/sorting_scratch.h"

#include <algorithm>
#include <bit>

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
  const int major = slot.compute_capability[0];
  if (major < kAmpere || major > kHopper) slot.assumptions.add(Assumption::sorting_scratch);
}

bool is_tuned_for_hopper(Device device) {
  take_recorded_tuning_for(device);
  return Context::current().slot(device).compute_capability[0] >= kHopper;
}

bool is_cuda_13() { return Context::current().rules.sorts_as_cuda_13; }

// What a scan wants beside its states.
std::int64_t later_part_bytes() { return is_cuda_13() ? kPartBytes : 0; }

/// What a sort moves, and how: each of its passes looks at one byte of the keys.
struct SortPlan {
  std::int64_t key_bytes;
  std::int64_t value_bytes;  ///< 0 of keys alone
  std::int64_t passes;
  std::int64_t block_items;
};

// What one block sorts by itself needs none: the library still asks for a byte.
bool is_sorted_by_one_block(std::int64_t count, const SortPlan& plan) {
  constexpr std::int64_t kOneBlockThreads = 256;
  const std::int64_t widest = std::max({std::int64_t{4}, plan.key_bytes, plan.value_bytes});
  return count <= kOneBlockThreads * (19 * 4 / widest);
}

// Several passes go to and fro; one writes where the result is wanted.
std::int64_t bytes_between(std::int64_t count, const SortPlan& plan) {
  return rounded_part(count * plan.key_bytes) + rounded_part(count * plan.value_bytes);
}

std::int64_t sort_bytes(std::int64_t count, const SortPlan& plan) {
  if (is_sorted_by_one_block(count, plan)) return 1;
  constexpr std::int64_t kDigits = 256;
  const std::int64_t blocks = ceil_div(count, plan.block_items);
  const std::int64_t between = plan.passes == 1 ? 0 : bytes_between(count, plan);
  return rounded_part(plan.passes * kDigits * 8) + rounded_part(blocks * kDigits * 4) + between +
         rounded_part(plan.passes * 4) + kPartBytes - 1;
}

// Before Hopper the keys of one and two bytes are counted by as many blocks as the device runs five
// times over: a count for each of their digits, and what a scan of them reads at once.
std::int64_t counted_sort_bytes(std::int64_t count, const SortPlan& plan, Device device) {
  if (is_sorted_by_one_block(count, plan)) return 1;
  constexpr std::int64_t kThreads = 256;
  constexpr std::int64_t kSubscription = 5;
  constexpr std::int64_t kScanned = 5632;
  const DeviceSlot& slot = Context::current().slot(device);
  const std::int64_t blocks =
      slot.multiprocessors * (slot.threads_per_multiprocessor / kThreads) * kSubscription;
  const std::int64_t digits = plan.key_bytes == 2 ? 128 : 64;
  return rounded_part((digits * blocks + kScanned) * 8) + bytes_between(count, plan) + kPartBytes -
         1;
}

constexpr std::int64_t kSortThreads = 384;

std::int64_t pair_sort_bytes(std::int64_t count, std::int64_t item_bytes, std::int64_t passes,
                             Device device) {
  const std::int64_t wide_items = is_tuned_for_hopper(device) ? 12 : 10;
  const std::int64_t items = item_bytes == 8 ? wide_items : 17;
  return sort_bytes(count, {item_bytes, item_bytes, passes, kSortThreads * items});
}

std::int64_t passes_over(std::int64_t largest_key) {
  constexpr std::int64_t kBitsOfPass = 8;
  const auto bits =
      static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(largest_key)));
  return std::max<std::int64_t>(1, ceil_div(bits, kBitsOfPass));
}

}  // namespace

std::int64_t sort_scratch_bytes(std::int64_t count, std::int64_t item_bytes, Device device) {
  return pair_sort_bytes(count, item_bytes, item_bytes, device);
}

std::int64_t bounded_sort_scratch_bytes(std::int64_t count, std::int64_t item_bytes,
                                        std::int64_t largest_key, Device device) {
  return pair_sort_bytes(count, item_bytes, passes_over(largest_key), device);
}

std::int64_t place_sort_scratch_bytes(std::int64_t count, std::int64_t largest_key, Device device) {
  return pair_sort_bytes(count, 8, passes_over(largest_key), device);
}

std::int64_t key_sort_scratch_bytes(std::int64_t count, DType dtype, Device device) {
  const bool is_hopper = is_tuned_for_hopper(device);
  const auto bytes = static_cast<std::int64_t>(item_bytes(dtype));
  SortPlan plan{bytes, 0, bytes, 512 * 19};
  if (bytes == 8) plan.block_items = kSortThreads * (is_hopper ? 15 : 10);
  if (bytes == 4) {
    plan.block_items = kSortThreads * (is_hopper ? (is_floating(dtype) ? 18 : 19) : 21);
  }
  if (bytes < 4 && !is_hopper) return counted_sort_bytes(count, plan, device);
  return sort_bytes(count, plan);
}

std::int64_t numbered_sort_scratch_bytes(std::int64_t count, DType dtype, Device device) {
  const bool is_hopper = is_tuned_for_hopper(device);
  const auto bytes = static_cast<std::int64_t>(item_bytes(dtype));
  SortPlan plan{bytes, 8, bytes, kSortThreads * 9};
  if (bytes == 8) plan.block_items = kSortThreads * (is_hopper ? 12 : 10);
  if (bytes == 4) plan.block_items = kSortThreads * (is_hopper ? 14 : 8);
  if (bytes == 2) plan.block_items = 512 * 11;
  if (bytes < 4 && !is_hopper) return counted_sort_bytes(count, plan, device);
  return sort_bytes(count, plan);
}

std::int64_t byte_sort_scratch_bytes(std::int64_t count, Device device) {
  const std::int64_t block_items = kSortThreads * (is_tuned_for_hopper(device) ? 15 : 10);
  return sort_bytes(count, {8, 0, 1, block_items});
}

std::int64_t segmented_sort_scratch_bytes(std::int64_t count, DType dtype) {
  const auto bytes = static_cast<std::int64_t>(item_bytes(dtype));
  return bytes_between(count, {bytes, 8, bytes, 0}) + kPartBytes - 1;
}

std::int64_t distinct_scratch_bytes(std::int64_t count, DType dtype, Device device) {
  const bool is_hopper = is_tuned_for_hopper(device);
  // The library of CUDA 13 has no kernel of its own for bools.
  const bool is_untuned = dtype == DType::boolean && is_cuda_13();
  const std::size_t bytes = is_untuned ? 4 : item_bytes(dtype);
  std::int64_t block_elements = 1280;
  if (bytes == 1) block_elements = is_hopper ? 5632 : 19584;
  if (bytes == 4) block_elements = is_hopper ? 6528 : 4608;
  if (bytes == 8) block_elements = is_hopper ? 4224 : 1920;
  return states_bytes(ceil_div(count, block_elements), 8) + later_part_bytes() + kPartBytes - 1;
}

std::int64_t run_number_scratch_bytes(std::int64_t count, Device device) {
  const std::int64_t block_elements = is_tuned_for_hopper(device) ? 3072 : 3840;
  return states_bytes(ceil_div(count, block_elements), 8) + later_part_bytes() + kPartBytes - 1;
}

std::int64_t run_length_scratch_bytes(std::int64_t count, Device device) {
  take_recorded_tuning_for(device);
  constexpr std::int64_t kBlockElements = 768;
  return states_bytes(ceil_div(count, kBlockElements), 16) + kPartBytes - 1;
}

std::int64_t scan_scratch_bytes(std::int64_t count, DType dtype, Device device) {
  take_recorded_tuning_for(device);
  constexpr std::int64_t kThreads = 128;
  const auto item_bytes = static_cast<std::int64_t>(ohm::item_bytes(dtype));
  if (item_bytes >= 4) {
    const std::int64_t blocks = ceil_div(count, kThreads * (15 * 4 / item_bytes));
    return states_bytes(blocks, 2 * item_bytes) + later_part_bytes() + kPartBytes - 1;
  }
  // Half precision: flags, sums of blocks and running sums apart from one another.
  const std::int64_t blocks = ceil_div(count, kThreads * 30);
  return states_bytes(blocks, 4) + 2 * states_bytes(blocks, item_bytes) + 2 * kPartBytes - 1;
}

std::int64_t selection_scratch_bytes(std::int64_t count, std::int64_t item_bytes, Device device) {
  const bool is_hopper = is_tuned_for_hopper(device);
  const std::int64_t narrow = is_hopper ? 7168 : 2816;
  const std::int64_t wide = is_cuda_13() ? (is_hopper ? 4928 : 1344) : (is_hopper ? 4480 : 1792);
  const std::int64_t blocks = ceil_div(count, item_bytes == 8 ? wide : narrow);
  return states_bytes(blocks, is_cuda_13() ? 16 : 8) + later_part_bytes() + kPartBytes - 1;
}

std::int64_t flagged_selection_scratch_bytes(std::int64_t count, Device device) {
  const std::int64_t block_elements = is_tuned_for_hopper(device) ? 4480 : 2304;
  return states_bytes(ceil_div(count, block_elements), 8) + later_part_bytes() + kPartBytes - 1;
}

// One partial sum of four bytes for each block: five times as many as can run at once. What one
// block adds up by itself needs none: the library still asks for a byte.
std::int64_t device_sum_scratch_bytes(std::int64_t count, Device device) {
  constexpr std::int64_t kThreads = 256;
  constexpr std::int64_t kOneBlockElements = kThreads * 16;
  if (count <= kOneBlockElements) return 1;
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

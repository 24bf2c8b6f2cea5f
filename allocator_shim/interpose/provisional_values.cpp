#include "allocator_shim/interpose/provisional_values.h"

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/known_values.h"

namespace ohm::interpose {
namespace {

struct Range {
  const void* address;
  std::size_t bytes;
};

thread_local std::vector<Range> provisional;
std::atomic<WorkFollower> follower = nullptr;

/// What the thread has marked of a range.
void confirm(const void* address, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(address);
  std::erase_if(provisional, [&](const Range& range) {
    const auto* const first = static_cast<const std::byte*>(range.address);
    return first < begin + bytes && begin < first + range.bytes;
  });
}

}  // namespace

void judge_provisional_values() {
  if (provisional.empty()) return;
  const WorkFollower judge = follower.load(std::memory_order_acquire);
  const Judgment judgment = judge != nullptr ? judge() : Judgment::of_same_operator;
  if (judgment == Judgment::undecided) return;
  const std::vector<Range> judged = std::exchange(provisional, {});
  if (judgment == Judgment::of_another) return;
  for (const Range& range : judged) mark_written(range.address, range.bytes, false);
}

}  // namespace ohm::interpose

OHM_EXPORTED void ohm_mark_provisionally(const void* address, std::size_t bytes) {
  ohm::interpose::mark_written(address, bytes, true);
  ohm::interpose::provisional.push_back({address, bytes});
}

OHM_EXPORTED int ohm_is_known(const void* address, std::size_t bytes) {
  if (!ohm::interpose::is_known(address, bytes)) return 0;
  ohm::interpose::confirm(address, bytes);
  return 1;
}

OHM_EXPORTED void ohm_confirm_values() { ohm::interpose::provisional.clear(); }

OHM_EXPORTED void ohm_follow_work(ohm::interpose::WorkFollower follower) {
  ohm::interpose::follower.store(follower, std::memory_order_release);
}

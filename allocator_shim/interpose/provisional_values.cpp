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

/// Libraries work on while a thread ends, when its list is gone.
thread_local bool has_ended = false;

struct Ranges {
  Ranges() = default;
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;
  ~Ranges() { has_ended = true; }
  std::vector<Range> list;
};

thread_local Ranges provisional;
std::atomic<WorkFollower> follower = nullptr;

bool is_any_provisional() { return !has_ended && !provisional.list.empty(); }

void mark(const void* address, std::size_t bytes) {
  mark_written(address, bytes, !has_ended);
  if (!has_ended) provisional.list.push_back({address, bytes});
}

/// What the thread has marked of a range.
void confirm(const void* address, std::size_t bytes) {
  if (!is_any_provisional()) return;
  const auto* const begin = static_cast<const std::byte*>(address);
  std::erase_if(provisional.list, [&](const Range& range) {
    const auto* const first = static_cast<const std::byte*>(range.address);
    return first < begin + bytes && begin < first + range.bytes;
  });
}

void confirm_all() {
  if (is_any_provisional()) provisional.list.clear();
}

}  // namespace

void judge_provisional_values() {
  if (!is_any_provisional()) return;
  const WorkFollower judge = follower.load(std::memory_order_acquire);
  const Judgment judgment = judge != nullptr ? judge() : Judgment::of_same_operator;
  if (judgment == Judgment::undecided) return;
  const std::vector<Range> judged = std::exchange(provisional.list, {});
  if (judgment == Judgment::of_another) return;
  for (const Range& range : judged) mark_written(range.address, range.bytes, false);
}

}  // namespace ohm::interpose

OHM_EXPORTED void ohm_mark_provisionally(const void* address, std::size_t bytes) {
  ohm::interpose::mark(address, bytes);
}

OHM_EXPORTED int ohm_is_known(const void* address, std::size_t bytes) {
  if (!ohm::interpose::is_known(address, bytes)) return 0;
  ohm::interpose::confirm(address, bytes);
  return 1;
}

OHM_EXPORTED void ohm_confirm_values() { ohm::interpose::confirm_all(); }

OHM_EXPORTED void ohm_follow_work(ohm::interpose::WorkFollower follower) {
  ohm::interpose::follower.store(follower, std::memory_order_release);
}

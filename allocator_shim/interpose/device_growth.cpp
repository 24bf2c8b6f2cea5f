#include "allocator_shim/interpose/device_growth.h"

#include <atomic>

#include "allocator_shim/interpose/exported.h"

namespace ohm::interpose {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{64} << 20U;

std::atomic<GrowthScheduler> scheduler{nullptr};
std::atomic<GrowthCall> call{nullptr};
std::atomic<std::size_t> next_bytes{kFirstBytes};

}  // namespace

void note_growth(std::size_t allocated_bytes) {
  const GrowthScheduler schedule = scheduler.load(std::memory_order_acquire);
  if (schedule == nullptr || allocated_bytes < next_bytes.load()) return;
  next_bytes.store(allocated_bytes + allocated_bytes / 4);
  schedule(call.load(std::memory_order_relaxed), nullptr);
}

}  // namespace ohm::interpose

OHM_EXPORTED void ohm_follow_growth(ohm::interpose::GrowthScheduler schedule,
                                    ohm::interpose::GrowthCall follower) {
  using namespace ohm::interpose;
  call.store(follower, std::memory_order_relaxed);
  next_bytes.store(kFirstBytes);
  scheduler.store(schedule, std::memory_order_release);
}

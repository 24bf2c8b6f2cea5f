#include "allocator_shim/interpose/device_growth.h"

#include <atomic>

#include "allocator_shim/interpose/exported.h"

namespace ohm::interpose {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{16} << 20U;

std::atomic<GrowthScheduler> scheduler{nullptr};
std::atomic<GrowthCall> call{nullptr};
std::atomic<std::size_t> taken_bytes{0};
std::atomic<std::size_t> next_bytes{kFirstBytes};

}  // namespace

void note_growth(std::size_t bytes) {
  const std::size_t taken = taken_bytes.fetch_add(bytes) + bytes;
  const GrowthScheduler schedule = scheduler.load(std::memory_order_acquire);
  if (schedule == nullptr || taken < next_bytes.load()) return;
  next_bytes.store(taken + taken / 4);
  schedule(call.load(std::memory_order_relaxed), nullptr);
}

}  // namespace ohm::interpose

OHM_EXPORTED void ohm_follow_growth(ohm::interpose::GrowthScheduler schedule,
                                    ohm::interpose::GrowthCall follower) {
  using namespace ohm::interpose;
  call.store(follower, std::memory_order_relaxed);
  taken_bytes.store(0);
  next_bytes.store(kFirstBytes);
  scheduler.store(schedule, std::memory_order_release);
}

#include "allocator_shim/interpose/host/site_table.h"

#include "allocator_shim/interpose/host/own_memory.h"

namespace ohm::interpose::host {

namespace {

std::uint64_t key_of(const CallStack& stack) {
  std::uint64_t key = stack.depth + 1;
  for (const std::uintptr_t address : stack.frames()) {
    key = (key ^ address) * 0x9e3779b97f4a7c15;
    key ^= key >> 31;
  }
  return key;
}

}  // namespace

bool SiteTable::prepare() {
  sites_ = own_memory<Site>(kMostSites);
  slots_ = own_memory<std::uint32_t>(kSlots);
  frames_ = own_memory<Frame>(kMostSites * kMostFrames);
  return sites_ != nullptr && slots_ != nullptr && frames_ != nullptr && modules_.prepare();
}

std::uint32_t SiteTable::index_of(const CallStack& stack) {
  const std::uint64_t key = key_of(stack);
  for (std::size_t slot = key % kSlots;; slot = (slot + 1) % kSlots) {
    const std::uint32_t taken = slots_[slot];
    if (taken != 0 && sites_[taken - 1].key == key) return taken - 1;
    if (taken != 0) continue;
    if (count_ == kMostSites) return 0;
    slots_[slot] = count_ + 1;
    return add(key, stack);
  }
}

std::uint32_t SiteTable::add(std::uint64_t key, const CallStack& stack) {
  Site& site = sites_[count_];
  site.key = key;
  site.first_frame = frame_count_;
  site.depth = static_cast<std::uint32_t>(stack.depth);
  for (const std::uintptr_t address : stack.frames()) {
    frames_[frame_count_++] = modules_.frame_of(address);
  }
  site.point = modules_.hash_of(frames_of(site));
  return count_++;
}

}  // namespace ohm::interpose::host

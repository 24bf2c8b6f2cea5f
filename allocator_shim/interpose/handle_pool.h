// Objects whose addresses are the handles that programs hold. Programs also hand over handles of
// objects that are gone, or that never were: whether one is alive is known from the address alone,
// without reading it.
//
// Any thread may call anything, and a child has the objects of its parent: no lock is held.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace ohm::interpose {

/// Never destroyed: libraries call while a process ends.
template <typename Object>
class HandlePool {
 public:
  /// nullptr: there is no room for another one.
  template <typename... Arguments>
  Object* create(Arguments&&... arguments) {
    Slot* const slot = take();
    if (slot == nullptr) return nullptr;
    auto* const made = new (slot->object) Object{std::forward<Arguments>(arguments)...};
    slot->is_alive.store(true, std::memory_order_release);
    return made;
  }

  bool is_alive(const void* handle) const {
    const Slot* const slot = slot_of(handle);
    return slot != nullptr && slot->is_alive.load(std::memory_order_acquire);
  }

  /// False: it was not alive.
  bool destroy(const void* handle) {
    Slot* const slot = slot_of(handle);
    if (slot == nullptr || !slot->is_alive.exchange(false)) return false;
    std::destroy_at(reinterpret_cast<Object*>(slot->object));
    give_back(slot);
    return true;
  }

  /// Every one that `is_unwanted`. A call in another thread may still name one of them.
  template <typename Predicate>
  void destroy_if(const Predicate& is_unwanted) {
    Slot* const all = slots_.load(std::memory_order_acquire);
    const std::uint32_t used = all == nullptr ? 0 : std::min(used_.load(), kSlots);
    for (std::uint32_t i = 0; i < used; ++i) {
      const bool is_alive = all[i].is_alive.load(std::memory_order_acquire);
      if (is_alive && is_unwanted(*reinterpret_cast<const Object*>(all[i].object))) {
        destroy(&all[i]);
      }
    }
  }

 private:
  struct Slot {
    alignas(Object) std::byte object[sizeof(Object)];
    std::atomic<bool> is_alive;
    std::uint32_t next_free;  ///< its number + 1; 0: none
  };
  static constexpr std::uint32_t kSlots = 1U << 20U;

  /// Addresses that are backed when they are used, zeros at first.
  Slot* slots() const {
    Slot* known = slots_.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const mapped =
        mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    if (slots_.compare_exchange_strong(known, static_cast<Slot*>(mapped))) {
      return static_cast<Slot*>(mapped);
    }
    munmap(mapped, kSlots * sizeof(Slot));
    return known;
  }

  Slot* slot_of(const void* handle) const {
    const auto first = reinterpret_cast<std::uintptr_t>(slots_.load(std::memory_order_acquire));
    const auto address = reinterpret_cast<std::uintptr_t>(handle);
    if (first == 0 || address < first || address - first >= kSlots * sizeof(Slot)) return nullptr;
    if ((address - first) % sizeof(Slot) != 0) return nullptr;
    return reinterpret_cast<Slot*>(address);
  }

  Slot* take() {
    Slot* const all = slots();
    if (all == nullptr) return nullptr;
    std::uint64_t free = free_.load();
    while (static_cast<std::uint32_t>(free) != 0) {
      Slot* const slot = all + static_cast<std::uint32_t>(free) - 1;
      if (free_.compare_exchange_weak(free, after(free, slot->next_free))) return slot;
    }
    const std::uint32_t number = used_.fetch_add(1);
    return number < kSlots ? all + number : nullptr;
  }

  void give_back(Slot* slot) {
    const auto number = static_cast<std::uint32_t>(slot - slots()) + 1;
    std::uint64_t free = free_.load();
    do slot->next_free = static_cast<std::uint32_t>(free);
    while (!free_.compare_exchange_weak(free, after(free, number)));
  }

  /// The list of free slots changes its upper half at each step: one that was taken and given back
  /// meanwhile is another list.
  static std::uint64_t after(std::uint64_t list, std::uint32_t first) {
    return (((list >> 32U) + 1) << 32U) | first;
  }

  mutable std::atomic<Slot*> slots_ = nullptr;
  std::atomic<std::uint32_t> used_ = 0;
  std::atomic<std::uint64_t> free_ = 0;
};

}  // namespace ohm::interpose

// Host addresses that mirror a device's: reserved as a whole, with memory only where it is needed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator_shim/device/value_budget.h"

namespace ohm {

/// Reserving costs nothing; committed pages are zero when first touched and cost then.
class HostMapping {
 public:
  /// What is committed comes out of `budget`, where there is one. It begins at `wanted_address`,
  /// where that is not 0 and nothing else is there. Throws HostRefusal.
  explicit HostMapping(std::size_t bytes, ValueBudget* budget = nullptr,
                       std::uintptr_t wanted_address = 0);
  ~HostMapping();
  HostMapping(const HostMapping&) = delete;
  HostMapping& operator=(const HostMapping&) = delete;

  /// [offset, offset + bytes) may be used; both multiples of the page size. Throws
  /// HostRefusal.
  void commit(std::size_t offset, std::size_t bytes);
  /// Gives the pages back; touching the range is a crash from then on.
  void decommit(std::size_t offset, std::size_t bytes);

  std::byte* at(std::size_t offset) const { return base_ + offset; }
  std::size_t size_bytes() const { return bytes_; }

 private:
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_;
  std::byte* base_ = nullptr;  ///< in it, where a huge page begins
  std::size_t bytes_;
  ValueShare committed_;
};

}  // namespace ohm

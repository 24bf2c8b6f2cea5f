// The live host memory: blocks by their addresses, and ranges of mapped pages, which may be
// unmapped in parts. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "allocator_shim/interpose/host/own_memory.h"

namespace ohm::interpose::host {

/// Of a request whose call stack was not looked at.
inline constexpr std::uint32_t kNoSite = ~std::uint32_t{0};

struct LiveBlock {
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t site = kNoSite;
};

class LiveBlocks {
 public:
  bool prepare();
  /// What is known of the address is replaced. False where there is no memory for it.
  bool add(const LiveBlock& block);
  /// nullptr where the address is not known.
  const LiveBlock* find(std::uintptr_t address) const;
  /// False where the address is not known.
  bool take(std::uintptr_t address, LiveBlock& block);
  std::size_t count() const { return count_; }
  /// Some of them are free: their addresses are 0.
  std::span<const LiveBlock> slots() const { return {slots_.data(), slots_.size()}; }

 private:
  static constexpr std::size_t kFirstSlots = std::size_t{1} << 10;

  std::size_t slot_of(std::uintptr_t address) const;
  bool grow();
  void put(const LiveBlock& block);

  OwnTable<LiveBlock> slots_{OwnPlace::blocks};  ///< address 0: free; a power of two of them
  std::size_t count_ = 0;
};

class LiveRanges {
 public:
  bool prepare();
  /// Past the most that are kept, ranges are not known.
  bool add(const LiveBlock& range);
  /// Takes what overlaps [begin, begin + bytes) out, piece by piece: false when nothing does any
  /// more. What of a range lies outside stays.
  bool take_overlap(std::uintptr_t begin, std::uint64_t bytes, LiveBlock& piece);

 private:
  static constexpr std::size_t kMostRanges = std::size_t{1} << 16;

  static constexpr std::size_t kFirstRanges = 128;

  OwnTable<LiveBlock> ranges_{OwnPlace::ranges};
  std::size_t count_ = 0;
};

}  // namespace ohm::interpose::host

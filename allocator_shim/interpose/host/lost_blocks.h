// Blocks that are lost: alive at the process's end, and no pointer leads to them. As a garbage
// collector that takes each word for a pointer: a block that is found to be lost is, as far as the
// program keeps plain pointers; one that is not found may be lost all the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/host/live_blocks.h"
#include "allocator_shim/interpose/host/own_memory.h"

namespace ohm::interpose::host {

class LostBlocks {
 public:
  /// `watched_heap`: where the heap ended when watching began; what lies before is not known.
  explicit LostBlocks(std::uintptr_t watched_heap) : watched_heap_(watched_heap) {}
  ~LostBlocks();
  LostBlocks(const LostBlocks&) = delete;
  LostBlocks& operator=(const LostBlocks&) = delete;

  /// In the only thread of the process, once. False where it cannot be told: there are other
  /// threads, or too much memory to look through.
  bool find(const LiveBlocks& alive);
  /// After find(): tells of each block that is lost.
  template <typename Tell>
  void each(const Tell& tell) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (!marks_[i].is_reached) tell(marks_[i].bytes, marks_[i].site);
    }
  }

 private:
  struct Mark {
    std::uintptr_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint32_t site = 0;
    bool is_reached = false;
  };

  bool take(const LiveBlocks& alive);
  bool read_mappings();
  void scan_stack(std::uintptr_t begin, std::uintptr_t end);
  /// What of it is no live block.
  void scan_root(std::uintptr_t begin, std::uintptr_t end);
  void scan_unsafe(std::uintptr_t begin, std::uintptr_t end);
  void scan(std::uintptr_t begin, std::uintptr_t end);
  void reach(std::uintptr_t word);
  void follow();

  std::uintptr_t watched_heap_;
  OwnTable<Mark> marks_{OwnPlace::marks};  ///< by address
  std::size_t count_ = 0;
  OwnTable<std::uint32_t> pending_{OwnPlace::pending};  ///< reached, and not looked through yet
  std::size_t pending_count_ = 0;
  OwnTable<char> mappings_{OwnPlace::mappings};
  std::uint64_t scanned_ = 0;
  bool is_allocators_ = false;  ///< what is looked through may be the allocator's own
  int memory_ = -1;
};

}  // namespace ohm::interpose::host

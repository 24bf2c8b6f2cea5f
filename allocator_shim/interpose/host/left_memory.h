// What a process leaves in memory when it ends, by the call stacks that asked for it: what is
// still allocated, and what of that is lost (lost_blocks.h).
#pragma once

#include <cstdint>
#include <span>

#include "allocator_shim/interpose/host/host_settings.h"
#include "allocator_shim/interpose/host/live_blocks.h"
#include "allocator_shim/interpose/host/process_settings.h"
#include "allocator_shim/interpose/host/site_table.h"

namespace ohm::interpose::host {

class LeftMemory {
 public:
  /// Of a process that is about to end; `watched_heap` as of LostBlocks.
  LeftMemory(SiteTable& sites, const LiveBlocks& alive, std::uintptr_t watched_heap);

  /// Of the run without faults: a row for the call stacks that leave something, and one, without a
  /// call stack, that says that they are all.
  void write(const FixedPath& path) const;
  /// Beside the run without faults, of which these are the rows. The request of `failed` failed,
  /// and the first `known_sites` call stacks were known by then: the run without faults has these,
  /// too. What the C library left in the call that failed is not the program's.
  MemoryLeft beyond(std::span<const SiteLeft> expected, const Site& failed,
                    std::size_t known_sites) const;

 private:
  bool is_of_same_call(const Site& site, const Site& failed) const;
  void add_lost(std::span<const SiteLeft> expected, const Site& failed, MemoryLeft& left) const;
  void add_abandoned(std::span<const SiteLeft> expected, const Site& failed,
                     MemoryLeft& left) const;
  void add_kept(std::span<const SiteLeft> expected, const Site& failed, std::size_t known_sites,
                MemoryLeft& left) const;

  SiteTable& sites_;
  bool is_known_ = false;
  std::uint64_t lost_bytes_ = 0;
};

}  // namespace ohm::interpose::host

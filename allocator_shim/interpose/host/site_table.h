// The call stacks that asked for memory, each once, with what was asked for there. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "allocator_shim/interpose/host/call_stack.h"
#include "allocator_shim/interpose/host/own_memory.h"

namespace ohm::interpose::host {

/// Bytes of a site, and in how many blocks.
struct SiteBytes {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

struct Site {
  std::uint64_t key = 0;  ///< of the addresses, in this process
  PointHash point = 0;
  std::uint64_t requests = 0;
  std::uint32_t first_frame = 0;
  std::uint32_t depth = 0;
  SiteBytes live;
  SiteBytes at_peak;              ///< as of `peak_number`
  std::uint64_t peak_number = 0;  ///< of the last peak that at_peak is of
  SiteBytes at_failure;           ///< when the first request failed
  std::uint64_t lost_bytes = 0;   ///< of blocks that no pointer leads to (left_memory.h)
};

class SiteTable {
 public:
  /// False where there is no memory.
  bool prepare();
  /// The site of the stack, made where it is new. Where the table is full the first site stands
  /// for all others.
  std::uint32_t index_of(const CallStack& stack);
  /// Until the next site is made.
  Site& operator[](std::uint32_t index) { return sites_[index]; }
  std::span<Site> sites() { return {sites_.data(), count_}; }
  std::span<const Frame> frames_of(const Site& site) const {
    return {frames_.data() + site.first_frame, site.depth};
  }
  std::span<const Module> modules() const { return modules_.modules(); }
  /// Whether it was not the C library that asked, as it does for the buffer of a stream.
  bool is_of_program(const Site& site) const;
  /// The innermost call that is not in the C library.
  Frame program_frame(const Site& site) const;
  /// The innermost call that both are made from, if both are of the function that was called there:
  /// the address after it; 0: there is none.
  std::uintptr_t common_call(const Site& site, const Site& other) const;

 private:
  static constexpr std::size_t kMostSites = std::size_t{1} << 17;
  static constexpr std::size_t kFirstSites = 128;

  std::string_view path_of(const Frame& frame) const;
  std::uintptr_t address_of(const Frame& frame) const;
  bool grow();
  void put(std::uint64_t key, std::uint32_t taken);
  std::uint32_t add(std::uint64_t key, const CallStack& stack);

  ModuleTable modules_;
  OwnTable<Site> sites_{OwnPlace::sites};
  OwnTable<std::uint32_t> slots_{OwnPlace::slots};  ///< index + 1 by key; 0: free
  OwnTable<Frame> frames_{OwnPlace::frames};
  std::uint32_t count_ = 0;
  std::uint32_t frame_count_ = 0;
};

}  // namespace ohm::interpose::host

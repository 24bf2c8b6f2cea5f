#include "allocator_shim/interpose/host/site_table.h"

#include <unwind.h>

#include <algorithm>

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

/// The start of the function with the call before this address; nullptr: that is not known.
const void* function_of(std::uintptr_t address) {
  return address == 0 ? nullptr : _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(address));
}

}  // namespace

bool SiteTable::prepare() {
  return sites_.reserve(kFirstSites) && slots_.reserve(2 * kFirstSites) &&
         frames_.reserve(kFirstSites) && modules_.prepare();
}

std::uint32_t SiteTable::index_of(const CallStack& stack) {
  const std::uint64_t key = key_of(stack);
  for (std::size_t slot = key % slots_.size();; slot = (slot + 1) % slots_.size()) {
    const std::uint32_t taken = slots_[slot];
    if (taken == 0) break;
    if (sites_[taken - 1].key == key) return taken - 1;
  }
  const bool has_room = count_ < kMostSites && sites_.reserve(count_ + 1) &&
                        frames_.reserve(frame_count_ + stack.depth) &&
                        (2 * (count_ + 1) <= slots_.size() || grow());
  if (!has_room) return 0;
  put(key, count_ + 1);
  return add(key, stack);
}

std::string_view SiteTable::path_of(const Frame& frame) const {
  return frame.module == 0 ? "" : modules()[frame.module - 1].path.data();
}

bool SiteTable::is_of_program(const Site& site) const {
  for (const Frame& frame : frames_of(site)) {
    if (!is_cpp_library(path_of(frame))) return !is_c_library(path_of(frame));
  }
  return true;
}

Frame SiteTable::program_frame(const Site& site) const {
  for (const Frame& frame : frames_of(site)) {
    if (!is_c_library(path_of(frame))) return frame;
  }
  return {};
}

std::uintptr_t SiteTable::address_of(const Frame& frame) const {
  return frame.module == 0 ? 0 : modules()[frame.module - 1].base + frame.address;
}

std::uintptr_t SiteTable::common_call(const Site& site, const Site& other) const {
  const std::span<const Frame> one = frames_of(site);
  const std::span<const Frame> two = frames_of(other);
  std::size_t common = 0;
  while (common < std::min(one.size(), two.size()) &&
         one[one.size() - common - 1] == two[two.size() - common - 1]) {
    ++common;
  }
  if (common == 0 || common == one.size() || common == two.size()) return 0;
  const void* const function = function_of(address_of(one[one.size() - common - 1]));
  const bool is_same =
      function != nullptr && function == function_of(address_of(two[two.size() - common - 1]));
  return is_same ? address_of(one[one.size() - common]) : 0;
}

bool SiteTable::grow() {
  OwnTable<std::uint32_t> old(OwnPlace::slots);
  if (!slots_.replace(2 * slots_.size(), old)) return false;
  old.release();
  for (std::uint32_t i = 0; i < count_; ++i) put(sites_[i].key, i + 1);
  return true;
}

void SiteTable::put(std::uint64_t key, std::uint32_t taken) {
  std::size_t slot = key % slots_.size();
  while (slots_[slot] != 0) slot = (slot + 1) % slots_.size();
  slots_[slot] = taken;
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

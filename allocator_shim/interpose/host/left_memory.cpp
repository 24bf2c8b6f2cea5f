#include "allocator_shim/interpose/host/left_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "allocator_shim/interpose/host/lost_blocks.h"

namespace ohm::interpose::host {

namespace {

/// All zero where the run without faults left nothing of it.
SiteLeft row_of(PointHash point, std::span<const SiteLeft> rows) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [point](const SiteLeft& left) { return left.point == point; });
  return row == rows.end() ? SiteLeft{} : *row;
}

std::uint64_t live_bytes(const Site& site) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, site.live.bytes));
}

}  // namespace

LeftMemory::LeftMemory(SiteTable& sites, const LiveBlocks& alive, std::uintptr_t watched_heap)
    : sites_(sites) {
  LostBlocks lost(watched_heap);
  is_known_ = lost.find(alive);
  if (!is_known_) return;
  lost.each([this](std::uint64_t bytes, std::uint32_t site) {
    lost_bytes_ += bytes;
    if (site != kNoSite) sites_[site].lost_bytes += bytes;
  });
}

void LeftMemory::write(const FixedPath& path) const {
  if (!is_known_) return;
  const int file = open(path.text(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const auto add = [file](const SiteLeft& row) {
    // A missing row looks like a leak; the confirming run rejects it.
    [[maybe_unused]] const ssize_t written = ::write(file, &row, sizeof(row));
  };
  add({});
  for (const Site& site : sites_.sites()) {
    if (site.live.bytes <= 0) continue;
    add({site.point, live_bytes(site), site.lost_bytes, sites_.is_of_program(site) ? 1U : 0U});
  }
  close(file);
}

MemoryLeft LeftMemory::beyond(std::span<const SiteLeft> expected, const Site& failed,
                              std::size_t known_sites) const {
  MemoryLeft left;
  if (!is_known_ || expected.empty()) return left;
  add_lost(expected, failed, left);
  add_abandoned(expected, failed, left);
  add_kept(expected, failed, known_sites, left);
  return left;
}

bool LeftMemory::is_of_same_call(const Site& site, const Site& failed) const {
  if (sites_.is_of_program(site) || sites_.is_of_program(failed)) return false;
  // The same function twice is two calls: strdup() in a loop.
  return site.point != failed.point && sites_.program_frame(site) == sites_.program_frame(failed);
}

void LeftMemory::add_lost(std::span<const SiteLeft> expected, const Site& failed,
                          MemoryLeft& left) const {
  std::uint64_t without_faults = 0;
  for (const SiteLeft& row : expected) without_faults += row.lost_bytes;
  std::uint64_t lost = lost_bytes_;
  std::uint64_t most = 0;
  for (const Site& site : sites_.sites()) {
    if (site.lost_bytes == 0) continue;
    const std::uint64_t usual = row_of(site.point, expected).lost_bytes;
    const std::uint64_t more = site.lost_bytes - std::min(site.lost_bytes, usual);
    if (is_of_same_call(site, failed)) {
      lost -= more;
    } else if (more > most) {
      most = more;
      left.lost_point = site.point;
    }
  }
  if (lost > without_faults) left.lost_bytes = lost - without_faults;
}

/// Of the call in which the request failed, which must be the same as the one in which the block
/// was allocated: each of the two was made only once.
void LeftMemory::add_abandoned(std::span<const SiteLeft> expected, const Site& failed,
                               MemoryLeft& left) const {
  CallStack end;
  capture(end);
  if (end.depth == kMostFrames || failed.requests > 1) return;
  std::uint64_t most = 0;
  for (const Site& site : sites_.sites()) {
    if (site.lost_bytes == 0 || site.requests > 1 || is_of_same_call(site, failed)) continue;
    if (row_of(site.point, expected).lost_bytes != 0) continue;
    const std::uintptr_t call = sites_.common_call(site, failed);
    if (call == 0 || is_of_c_library(call)) continue;
    if (std::ranges::find(end.frames(), call) != end.frames().end()) continue;
    left.abandoned_bytes += site.lost_bytes;
    if (site.lost_bytes <= most) continue;
    most = site.lost_bytes;
    left.abandoned_point = site.point;
  }
  left.abandoned_bytes = std::min(left.abandoned_bytes, left.lost_bytes);
}

/// A program that leaves its memory to the system may leave more of it after a failure.
void LeftMemory::add_kept(std::span<const SiteLeft> expected, const Site& failed,
                          std::size_t known_sites, MemoryLeft& left) const {
  const auto is_left_to_system = [](const SiteLeft& row) {
    return row.is_of_program != 0 && row.bytes > row.lost_bytes;
  };
  if (std::any_of(expected.begin(), expected.end(), is_left_to_system)) return;
  std::uint64_t most = 0;
  for (const Site& site : sites_.sites().first(std::min(known_sites, sites_.sites().size()))) {
    const std::uint64_t bytes = live_bytes(site) - std::min(live_bytes(site), site.lost_bytes);
    if (bytes == 0 || row_of(site.point, expected).bytes != 0) continue;
    if (is_of_same_call(site, failed)) continue;
    left.kept_bytes += bytes;
    if (bytes <= most) continue;
    most = bytes;
    left.kept_point = site.point;
  }
}

}  // namespace ohm::interpose::host

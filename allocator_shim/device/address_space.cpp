#include "allocator_shim/device/address_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "allocator_shim/base/assert.h"

namespace ohm {

AddressOrder parse_address_order(std::string_view name) {
  if (name == "ascending") return AddressOrder::lowest_gap;
  if (name == "descending") return AddressOrder::highest_gap;
  throw std::invalid_argument(
      fmt::format("must be \"ascending\" or \"descending\", not \"{}\"", name));
}

AddressSpace::AddressSpace(std::uint64_t base, std::size_t bytes, AddressOrder order)
    : base_(base), bytes_(bytes), order_(order) {
  OHM_ASSERT(base % kGranuleBytes == 0 && bytes % kGranuleBytes == 0, "address space not aligned");
  gaps_.emplace(base, bytes);
}

std::optional<std::uint64_t> AddressSpace::allocate(std::size_t bytes) {
  if (bytes > bytes_) return std::nullopt;
  const std::size_t rounded = round_up(bytes);
  const auto gap = gap_for(rounded);
  if (gap == gaps_.end()) return std::nullopt;
  const auto [address, gap_bytes] = *gap;
  const std::size_t left = gap_bytes - rounded;
  const bool is_from_top = order_ == AddressOrder::highest_gap;
  gaps_.erase(gap);
  if (left > 0) gaps_.emplace(is_from_top ? address : address + rounded, left);
  return is_from_top ? address + left : address;
}

AddressSpace::Gaps::iterator AddressSpace::gap_for(std::size_t bytes) {
  const auto fits = [bytes](const auto& gap) { return gap.second >= bytes; };
  if (order_ != AddressOrder::highest_gap) return std::find_if(gaps_.begin(), gaps_.end(), fits);
  const auto gap = std::find_if(gaps_.rbegin(), gaps_.rend(), fits);
  return gap == gaps_.rend() ? gaps_.end() : std::prev(gap.base());
}

void AddressSpace::release(std::uint64_t address, std::size_t bytes) {
  if (order_ == AddressOrder::never_reused) return;
  std::size_t gap_bytes = round_up(bytes);
  auto next = gaps_.lower_bound(address);
  OHM_ASSERT(next == gaps_.end() || next->first >= address + gap_bytes, "range is not in use");
  if (next != gaps_.end() && next->first == address + gap_bytes) {
    gap_bytes += next->second;
    next = gaps_.erase(next);
  }
  if (next != gaps_.begin()) {
    const auto previous = std::prev(next);
    OHM_ASSERT(previous->first + previous->second <= address, "range is not in use");
    if (previous->first + previous->second == address) {
      previous->second += gap_bytes;
      return;
    }
  }
  gaps_.emplace_hint(next, address, gap_bytes);
}

}  // namespace ohm

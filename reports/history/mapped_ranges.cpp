#include "reports/history/mapped_ranges.h"

namespace ohm::reports {

void MappedRanges::map(std::uint64_t address, std::uint64_t bytes) {
  unmap(address, bytes);
  ranges_[address] = bytes;
}

void MappedRanges::unmap(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  auto next = ranges_.upper_bound(address);
  if (next != ranges_.begin()) --next;
  while (next != ranges_.end() && next->first < end) {
    const auto [begin, length] = *next;
    if (begin + length <= address) {
      ++next;
      continue;
    }
    next = ranges_.erase(next);
    if (begin < address) ranges_[begin] = address - begin;
    if (begin + length > end) ranges_[end] = begin + length - end;
  }
}

}  // namespace ohm::reports

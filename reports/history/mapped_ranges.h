// Ranges of a device's addresses that its allocator has mapped.
#pragma once

#include <cstdint>
#include <map>

namespace ohm::reports {

class MappedRanges {
 public:
  /// Bytes by first address.
  using Map = std::map<std::uint64_t, std::uint64_t>;

  void map(std::uint64_t address, std::uint64_t bytes);
  /// Of ranges that reach beyond it the rest stays.
  void unmap(std::uint64_t address, std::uint64_t bytes);
  const Map& all() const { return ranges_; }

 private:
  Map ranges_;
};

}  // namespace ohm::reports

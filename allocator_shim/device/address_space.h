// An address space of synthetic device addresses, handed out in ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace ohm {

/// Where a range goes.
enum class AddressOrder : std::uint8_t {
  lowest_gap,   ///< the lowest gap that fits, at its lower end
  highest_gap,  ///< the highest gap that fits, at its upper end
  never_reused  ///< always above everything handed out before
};

/// `ascending` or `descending`: those of devices whose addresses are reused. Throws
/// std::invalid_argument for anything else.
AddressOrder parse_address_order(std::string_view name);

/// Ranges are rounded up to granules of 2 MiB. Not thread-safe.
class AddressSpace {
 public:
  static constexpr std::size_t kGranuleBytes = std::size_t{2} << 20U;

  /// [base, base + bytes); both multiples of the granule.
  AddressSpace(std::uint64_t base, std::size_t bytes, AddressOrder order);

  /// nullopt when no gap is wide enough.
  std::optional<std::uint64_t> allocate(std::size_t bytes);
  /// A range exactly as it was handed out.
  void release(std::uint64_t address, std::size_t bytes);

  std::uint64_t base() const { return base_; }
  std::size_t size_bytes() const { return bytes_; }

  static std::size_t round_up(std::size_t bytes) {
    return (bytes + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
  }

 private:
  std::uint64_t base_;
  std::size_t bytes_;
  AddressOrder order_;
  using Gaps = std::map<std::uint64_t, std::size_t>;

  /// gaps_.end() when none is wide enough.
  Gaps::iterator gap_for(std::size_t bytes);

  Gaps gaps_;  ///< address -> bytes, never adjacent
};

}  // namespace ohm

// The plan by which requests of a process for host memory fail: the part of the language of fault
// plans (fault_plan.h) that can be decided in a few nanoseconds, without memory of its own.
//
//     plan = term { "&" term }
//     term = nth(N) | from(N) | burst(N,COUNT) | every(N) | persistent(nth(N)) | size(>=BYTES)
//          | ohm:HEX@K | persistent(ohm:HEX@K)
//
// `ohm:HEX@K` is the K-th request from the call stack whose number begins with these digits, as a
// sweep prints it; it stands alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace ohm::interpose::host {

/// Of the requests for at least `least_bytes`, numbered from 1, those that fail: `count` of them,
/// from `first` on, each `step` after the one before.
struct HostFault {
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};

  std::uint64_t first = 1;
  std::uint64_t count = 0;
  std::uint64_t step = 1;
  std::uint64_t least_bytes = 0;
  std::uint64_t point_prefix = 0;  ///< the leading digits of a stack's number
  unsigned point_digits = 0;       ///< how many, of 16; 0: any stack

  bool is_none() const { return count == 0; }
  bool has_point() const { return point_digits != 0; }
  bool is_of(std::uint64_t point) const { return point >> (64 - 4 * point_digits) == point_prefix; }
  bool is_hit(std::uint64_t number) const {
    if (number < first) return false;
    const std::uint64_t since = number - first;
    return since % step == 0 && since / step < count;
  }
};

/// False where the text is no such plan; an empty one is none.
bool parse_host_fault(std::string_view text, HostFault& fault);

}  // namespace ohm::interpose::host

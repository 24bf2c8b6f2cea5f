// The look of a report for people; formats for programs ignore it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ohm::reports {

enum class Detail : std::uint8_t {
  quiet,    ///< what failed, and the summary
  normal,   ///< every variant, and what was alive where a problem ran out of memory
  verbose,  ///< every limit, out-of-memory block and printed line of every variant
};

struct ReportStyle {
  bool color = false;
  std::size_t columns = 100;
  Detail detail = Detail::normal;
  bool plots = false;  ///< memory over time of variants that have a history
  bool peaks = false;  ///< what was alive at each peak, and beside the lines of the script
};

}  // namespace ohm::reports

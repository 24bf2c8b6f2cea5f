// The formats that a result can be written in: one row each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reports/model/recording.h"
#include "reports/model/run_result.h"

namespace ohm::reports {

enum class Detail : std::uint8_t {
  quiet,    ///< what failed, and the summary
  normal,   ///< every variant, and what was alive where a problem ran out of memory
  verbose,  ///< every limit, out-of-memory block and printed line of every variant
};

/// How a report for people looks; formats for programs ignore it.
struct ReportStyle {
  bool color = false;
  std::size_t columns = 100;
  Detail detail = Detail::normal;
  bool plots = false;  ///< memory over time of variants that have a history
  bool peaks = false;  ///< what was alive at each peak, and beside the lines of the script
};

struct Reporter {
  std::string_view name;  ///< as in `--report NAME=PATH`
  std::string_view help;  ///< one line
  Recording recording;    ///< what it shows, where it is there
  /// The whole file. A pure function.
  std::string (*render)(const RunResult& result, const ReportStyle& style);
};

std::span<const Reporter> reporters();

/// Throws std::invalid_argument that names the known ones and suggests the nearest.
const Reporter& find_reporter(std::string_view name);

}  // namespace ohm::reports

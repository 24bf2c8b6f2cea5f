// The frames of tracebacks in logs, as Python, Rich and notebooks print them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/text/log_text.h"

namespace ohm::reports {

struct LogPlace {
  std::string file;
  int line = 0;
  std::string function;
};

/// Reads a traceback line by line from its end.
class FrameReader {
 public:
  /// The frame that the line `at` has; nullopt: none. What a terminal has broken off of it is in
  /// the lines beside it.
  std::optional<LogPlace> read(const std::vector<LogLine>& lines, std::size_t at);

 private:
  std::string arrow_;  ///< the number of the line that the nearest arrow points to
};

}  // namespace ohm::reports

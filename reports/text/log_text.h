// The text of a log as its program wrote it, without what collected it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ohm::reports {

/// A line of a log, or a piece of one that is very long.
struct LogLine {
  std::string text;    ///< without colours, and without what stands before every line
  std::string origin;  ///< "rank1", "pid=6880": whose line it is, where the log says so
};

/// Colours are taken away, strings of JSON lines are read, and what schedulers, containers and
/// loggers put before a line: times, levels, ranks, names of services.
std::vector<LogLine> log_lines(std::string_view text);

}  // namespace ohm::reports

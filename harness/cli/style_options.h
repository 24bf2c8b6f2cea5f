// The options that say how a report for people looks: --color, --quiet, --verbose.
#pragma once

#include <string>

#include "harness/cli/option_parser.h"
#include "reports/text/report_style.h"

namespace ohm::cli {

struct StyleOptions {
  std::string color = "auto";
  bool quiet = false;
  bool verbose = false;
};

void add_color_option(const OptionParser& parser, StyleOptions& style);
/// -q, with what is left then.
Option add_quiet_option(const OptionParser& parser, StyleOptions& style, const std::string& help);
/// -v, with what is added.
Option add_verbose_option(const OptionParser& parser, StyleOptions& style, const std::string& help);

/// For the terminal. Throws UsageError.
reports::ReportStyle report_style(const StyleOptions& options);

}  // namespace ohm::cli

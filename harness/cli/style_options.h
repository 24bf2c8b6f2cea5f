// The options that say how a report for people looks: --color, --quiet, --verbose.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "reports/text/report_style.h"

namespace ohm::cli {

struct StyleOptions {
  std::string color = "auto";
  bool quiet = false;
  bool verbose = false;
};

void add_color_option(CLI::App& app, StyleOptions& style);
/// -q, with what is left then.
CLI::Option* add_quiet_option(CLI::App& app, StyleOptions& style, const std::string& help);
/// -v, with what is added.
CLI::Option* add_verbose_option(CLI::App& app, StyleOptions& style, const std::string& help);

/// For the terminal. Throws UsageError.
reports::ReportStyle report_style(const StyleOptions& options);

}  // namespace ohm::cli

#include "harness/cli/style_options.h"

#include "harness/cli/terminal.h"

namespace ohm::cli {

void add_color_option(const OptionParser& parser, StyleOptions& style) {
  parser.add_option("--color", style.color, "auto, always or never")
      .type_name("WHEN")
      .offers({"auto", "always", "never"});
}

Option add_quiet_option(const OptionParser& parser, StyleOptions& style, const std::string& help) {
  return parser.add_flag("-q,--quiet", style.quiet, help);
}

Option add_verbose_option(const OptionParser& parser, StyleOptions& style,
                          const std::string& help) {
  return parser.add_flag("-v,--verbose", style.verbose, help);
}

reports::ReportStyle report_style(const StyleOptions& options) {
  reports::ReportStyle style;
  style.color = wants_color(options.color);
  style.columns = terminal_columns();
  if (options.quiet) style.detail = reports::Detail::quiet;
  if (options.verbose) style.detail = reports::Detail::verbose;
  return style;
}

}  // namespace ohm::cli

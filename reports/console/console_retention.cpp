#include "reports/console/console_retention.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

constexpr std::size_t kMostVariables = 4;
constexpr std::size_t kBytesColumns = 11;

std::string variable_line(const RetainedResult& entry) {
  const std::string line = entry.file.empty() ? fmt::format("line {}", entry.line)
                                              : fmt::format("{}:{}", entry.file, entry.line);
  const std::string where =
      entry.line == 0 ? entry.function : fmt::format("{}, {}", entry.function, line);
  return fmt::format("{}  {} ({})", pad_left(short_bytes(entry.bytes), kBytesColumns),
                     entry.variable, where);
}

std::string path_line(const RetainedResult& entry) {
  std::string line;
  for (const std::string& step : entry.path) line += (line.empty() ? "" : " → ") + step;
  return line;
}

}  // namespace

std::string console_retention(const std::string& name, const VariantResult& variant,
                              const ReportStyle& style) {
  if (!variant.retention) return "";
  const RetentionResult& retention = *variant.retention;
  std::string out =
      painted(indented(printable(fmt::format("{}: what its variables keep alive {}, of {} on {}",
                                             name, moment_text(variant),
                                             short_bytes(retention.bytes), retention.device)),
                       2, style.columns),
              Tone::strong, style.color);
  const std::size_t shown = style.detail == Detail::verbose
                                ? retention.entries.size()
                                : std::min(retention.entries.size(), kMostVariables);
  for (std::size_t i = 0; i < shown; ++i) {
    const RetainedResult& entry = retention.entries[i];
    out += indented(printable(variable_line(entry)), 4, style.columns);
    if (entry.path.size() < 2) continue;
    out += painted(indented(printable(path_line(entry)), 4 + kBytesColumns + 2, style.columns),
                   Tone::faint, style.color);
  }
  if (shown < retention.entries.size()) {
    const auto others = static_cast<std::int64_t>(retention.entries.size() - shown);
    out += fmt::format("    and {} more variables\n", grouped(others));
  }
  if (retention.other_bytes > 0) {
    out += fmt::format("    {}  no variable: temporaries of what was running\n",
                       pad_left(short_bytes(retention.other_bytes), kBytesColumns));
  }
  return out;
}

}  // namespace ohm::reports

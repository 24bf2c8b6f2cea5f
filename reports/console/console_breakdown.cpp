#include "reports/console/console_breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "reports/text/limit_lines.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

constexpr std::size_t kBarColumns = 30;
constexpr std::size_t kFigureColumns = 11;
constexpr std::size_t kCategoryColumns = 16;

/// Lines before and after one that holds something.
constexpr int kContextLines = 1;

/// A blank and a bar with a resolution of an eighth of a column; nothing where it would be empty.
std::string bar(double share) {
  constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::llround(share * kBarColumns * 8));
  if (eighths == 0) return "";
  std::string out = " ";
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out + kEighths[eighths % 8];
}

std::string op_of(const HolderResult& holder) {
  return holder.op.empty() ? "outside any op" : holder.op;
}

std::string source_row(int number, std::int64_t bytes, const std::string& text,
                       const ReportStyle& style) {
  const std::string row = fmt::format(
      "    {} {:>5} │ ", pad_left(bytes > 0 ? short_bytes(bytes) : "", kFigureColumns), number);
  const std::size_t used = display_width(row);
  const std::size_t room = style.columns > used + 20 ? style.columns - used : 20;
  std::string line = row + shortened(printable(text), room);
  line.erase(line.find_last_not_of(' ') + 1);
  return painted(line, bytes > 0 ? Tone::plain : Tone::faint, style.color) + "\n";
}

/// Without the whole file: the texts that the holders carry.
std::map<int, std::string> known_texts(const ScenarioResult& scenario,
                                       const VariantResult& variant) {
  std::map<int, std::string> texts;
  for (const DeviceResult& device : variant.devices) {
    if (!device.peak) continue;
    for (const HolderResult& holder : device.peak->holders) {
      if (holder.file == scenario.file && holder.line > 0) texts[holder.line] = holder.text;
    }
  }
  return texts;
}

std::map<int, std::string> texts_around(const ScenarioResult& scenario,
                                        const std::map<int, std::int64_t>& bytes) {
  std::map<int, std::string> texts;
  const auto last = static_cast<int>(scenario.source.size());
  for (const auto& [line, held] : bytes) {
    for (int i = std::max(1, line - kContextLines); i <= std::min(last, line + kContextLines);
         ++i) {
      texts[i] = scenario.source[static_cast<std::size_t>(i) - 1];
    }
  }
  return texts;
}

}  // namespace

std::string category_rows(const CategoryBytes& bytes) {
  const std::int64_t total = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
  std::vector<std::size_t> order(kCategoryCount);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
  std::string rows;
  for (const std::size_t category : order) {
    if (bytes[category] == 0) break;
    const double share = static_cast<double>(bytes[category]) / static_cast<double>(total);
    rows += fmt::format(
        "      {} {}  {:5.1f} %{}\n", pad_right(kCategoryNames[category], kCategoryColumns),
        pad_left(short_bytes(bytes[category]), kFigureColumns), 100 * share, bar(share));
  }
  return rows;
}

namespace {

/// What stands behind the line goes beside it where it has room, else below it, from where the
/// figures end.
std::string place_rows(const HolderResult& holder, std::size_t columns, std::size_t used) {
  const std::size_t room = columns > used + 10 ? columns - used : 10;
  const std::string whole =
      full_place_text(holder.file, holder.line, holder.library, holder.module);
  if (display_width(whole) <= room) return whole + "\n";
  std::string rows = shortened(place_text(holder.file, holder.line), room) + "\n";
  constexpr std::size_t kIndent = 6 + kCategoryColumns + 1 + kFigureColumns + 2;
  const std::size_t width = columns > kIndent + 10 ? columns - kIndent : 10;
  std::vector<std::string> parts = {behind_text(holder.library, holder.module)};
  if (display_width(parts.front()) > width) {
    parts = {behind_text(holder.library, ""), behind_text("", holder.module)};
  }
  for (const std::string& part : parts) {
    if (!part.empty()) rows += std::string(kIndent, ' ') + shortened(part, width) + "\n";
  }
  return rows;
}

}  // namespace

std::string holder_rows(const std::vector<HolderResult>& holders, std::size_t columns) {
  std::size_t op_columns = 0;
  for (const HolderResult& holder : holders) {
    op_columns = std::max(op_columns, display_width(op_of(holder)));
  }
  std::string rows;
  for (const HolderResult& holder : holders) {
    const std::string head =
        fmt::format("      {} {}  {} × {}  ", pad_right(name_of(holder.category), kCategoryColumns),
                    pad_left(short_bytes(holder.bytes), kFigureColumns),
                    pad_left(grouped(holder.count), 5), pad_right(op_of(holder), op_columns));
    rows += head + place_rows(holder, columns, display_width(head));
  }
  return rows;
}

namespace {

std::string largest_holders(const PeakResult& peak, const ReportStyle& style) {
  std::vector<HolderResult> holders = peak.holders;
  const std::size_t all = holders.size();
  if (style.detail != Detail::verbose) holders.resize(std::min(all, kMaxHolders));
  for (HolderResult& holder : holders) {
    for (std::string* text : {&holder.file, &holder.library, &holder.module}) {
      *text = printable(*text);
    }
  }
  std::string out = "    largest holders\n" + holder_rows(holders, style.columns);
  if (all > holders.size()) out += fmt::format("      and {} more\n", all - holders.size());
  return out;
}

}  // namespace

std::string console_peaks(const VariantResult& variant, const ReportStyle& style) {
  std::string out;
  for (const DeviceResult& device : variant.devices) {
    if (device.peak_allocated_bytes == 0) continue;
    const std::string when = device.peak ? in_step_text(device.peak->step, ", ") : std::string();
    out += painted(
        indented(fmt::format(
                     "{} at its peak on {}{}: {}", variant.name, device.device, when,
                     exact_figure(static_cast<double>(device.peak_allocated_bytes), Unit::bytes)),
                 2, style.columns),
        Tone::strong, style.color);
    out += category_rows(device.peak_by_category);
    if (!device.peak || device.peak->holders.empty()) continue;
    out += largest_holders(*device.peak, style);
  }
  return out;
}

std::string console_host_peak(const HostResult& host, const ReportStyle& style) {
  if (!host.peak || host.peak->holders.empty()) return "";
  const std::string figure =
      exact_figure(static_cast<double>(host.peak_allocated_bytes), Unit::bytes);
  return painted(indented(fmt::format("at its peak on host: {}", figure), 4, style.columns),
                 Tone::strong, style.color) +
         largest_holders(*host.peak, style);
}

std::string console_source(const ScenarioResult& scenario, const VariantResult& variant,
                           const ReportStyle& style) {
  const std::map<int, std::int64_t> bytes = bytes_by_line(variant, scenario.file);
  if (bytes.empty()) return "";
  const std::map<int, std::string> texts =
      scenario.source.empty() ? known_texts(scenario, variant) : texts_around(scenario, bytes);
  std::string out = painted(indented(fmt::format("{}, and what its lines hold at the peak of {}",
                                                 scenario.file, variant.name),
                                     2, style.columns),
                            Tone::strong, style.color);
  int previous = 0;
  for (const auto& [number, text] : texts) {
    if (previous != 0 && number > previous + 1) out += "                      …\n";
    const auto held = bytes.find(number);
    out += source_row(number, held == bytes.end() ? 0 : held->second, text, style);
    previous = number;
  }
  return out;
}

}  // namespace ohm::reports

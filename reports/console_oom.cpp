#include "reports/console_oom.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "allocator_shim/observe/format_bytes.h"
#include "reports/measured_text.h"
#include "reports/paint.h"
#include "reports/text_layout.h"

namespace ohm::reports {

namespace {

constexpr std::size_t kBarColumns = 30;
constexpr std::size_t kFigureColumns = 11;
constexpr std::size_t kCategoryColumns = 16;

std::string human(std::int64_t bytes) {
  return short_figure(static_cast<double>(bytes), Unit::bytes);
}

std::string place_of(const std::string& file, int line) {
  if (file.empty()) return "place unknown";
  return line > 0 ? fmt::format("{}:{}", file, line) : file;
}

std::string headline(const std::string& variant, const OomResult& oom) {
  const std::string op = oom.op.empty() ? "at " : fmt::format("for {}, ", oom.op);
  return fmt::format("{} ran out of memory on {} in step {}: {} {}{}{}", variant, oom.device,
                     oom.step, human(oom.requested_bytes), op, place_of(oom.file, oom.line),
                     oom.injected ? fmt::format(" (injected by {})", oom.policy) : "");
}

/// A blank and a bar with a resolution of an eighth of a column; nothing where it would be empty.
std::string bar(double share) {
  constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::llround(share * kBarColumns * 8));
  if (eighths == 0) return "";
  std::string out = " ";
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out + kEighths[eighths % 8];
}

std::string category_rows(const OomResult& oom, std::int64_t total) {
  std::vector<std::size_t> order(kCategoryCount);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return oom.alive_by_category[a] > oom.alive_by_category[b];
  });
  std::string rows;
  for (const std::size_t category : order) {
    const std::int64_t bytes = oom.alive_by_category[category];
    if (bytes == 0) break;
    const double share = static_cast<double>(bytes) / static_cast<double>(total);
    rows += fmt::format("      {} {}  {:5.1f} %{}\n",
                        pad_right(kCategoryNames[category], kCategoryColumns),
                        pad_left(human(bytes), kFigureColumns), 100 * share, bar(share));
  }
  return rows;
}

std::string op_of(const HolderResult& holder) {
  return holder.op.empty() ? "outside any op" : holder.op;
}

std::string holder_rows(const std::vector<HolderResult>& holders, std::size_t columns) {
  std::size_t op_columns = 0;
  for (const HolderResult& holder : holders) {
    op_columns = std::max(op_columns, display_width(op_of(holder)));
  }
  std::string rows;
  for (const HolderResult& holder : holders) {
    const std::string head =
        fmt::format("      {} {}  {} × {}  ", pad_right(name_of(holder.category), kCategoryColumns),
                    pad_left(human(holder.bytes), kFigureColumns),
                    pad_left(grouped(holder.count), 5), pad_right(op_of(holder), op_columns));
    const std::size_t used = display_width(head);
    const std::size_t room = columns > used + 10 ? columns - used : 10;
    rows += head + shortened(place_of(holder.file, holder.line), room) + "\n";
  }
  return rows;
}

}  // namespace

std::string console_oom(const std::string& variant, const OomResult& oom,
                        const ReportStyle& style) {
  const std::int64_t total =
      std::accumulate(oom.alive_by_category.begin(), oom.alive_by_category.end(), std::int64_t{0});
  const auto strong = [&](const std::string& text) {
    return painted(text, Tone::strong, style.color);
  };
  std::string out = strong(indented(headline(variant, oom), 2, style.columns));
  out += painted(indented(oom.message, 4, style.columns), Tone::faint, style.color);
  if (total == 0) return out + "    nothing was alive\n";
  out += "    " +
         strong(fmt::format("what was alive on {}: {}", oom.device,
                            human_and_exact_bytes(static_cast<std::uint64_t>(total)))) +
         "\n" + category_rows(oom, total);
  out += "    " + strong("largest holders") + "\n";
  out += holder_rows(oom.holders, style.columns);
  if (oom.other_holders > 0) out += fmt::format("      and {} more\n", grouped(oom.other_holders));
  return out;
}

}  // namespace ohm::reports

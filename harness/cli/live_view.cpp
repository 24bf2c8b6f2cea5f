#include "harness/cli/live_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "harness/cli/terminal.h"
#include "reports/text/measured_text.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

constexpr std::size_t kMostSparkColumns = 32;
constexpr std::size_t kMostNameColumns = 28;
constexpr std::size_t kLeastColumns = 8;
/// "  cuda:0 ", and behind the sparkline "   40.00 MiB, peak  64.00 MiB of 64.00 MiB".
constexpr std::size_t kOtherColumns = 52;

struct Layout {
  std::size_t name_columns;
  std::size_t spark_columns;
};

/// Narrow terminals: the figures stay whole, names and sparklines share what is left.
Layout layout_for(std::size_t columns) {
  const std::size_t rest = columns > kOtherColumns ? columns - kOtherColumns : 0;
  const std::size_t name = std::clamp(rest / 2, kLeastColumns, kMostNameColumns);
  const std::size_t spark =
      std::clamp(rest > name ? rest - name : 0, kLeastColumns, kMostSparkColumns);
  return {name, spark};
}

std::string human(std::int64_t bytes) { return reports::short_bytes(bytes); }

/// The last stretches of a run, against the capacity of the card.
std::string sparkline(const engine::LiveGpu& gpu, std::size_t columns) {
  constexpr std::array<const char*, 8> kEighths = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = gpu.history.size();
  const std::size_t group = (count + columns - 1) / columns;
  std::string out;
  for (std::size_t first = 0; first < count; first += group) {
    const auto begin = gpu.history.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(group, count - first));
    const double share = static_cast<double>(*std::max_element(begin, end)) /
                         static_cast<double>(gpu.capacity_bytes);
    const double level = std::clamp(std::ceil(share * 8) - 1, 0.0, 7.0);
    out += kEighths.at(static_cast<std::size_t>(level));
  }
  return reports::pad_right(out, columns);
}

}  // namespace

std::string live_text(std::span<const engine::LiveVariant> variants, std::size_t columns) {
  const Layout layout = layout_for(columns);
  std::string out;
  for (const engine::LiveVariant& variant : variants) {
    for (std::size_t i = 0; i < variant.gpus.size(); ++i) {
      const engine::LiveGpu& gpu = variant.gpus[i];
      const std::string name =
          i > 0 ? "" : reports::shortened(reports::printable(variant.name), layout.name_columns);
      const std::string line = fmt::format(
          "{}  cuda:{} {}  {:>10}, peak {:>10} of {}",
          reports::pad_right(name, layout.name_columns), i, sparkline(gpu, layout.spark_columns),
          human(gpu.allocated_bytes), human(gpu.peak_bytes), human(gpu.capacity_bytes));
      out += reports::shortened(line, columns) + "\n";
    }
  }
  return out;
}

void LiveView::show(std::size_t finished, std::size_t total) {
  std::string text = live_text(board_.running(), terminal_columns() - 1);
  text += fmt::format("[{}/{}] running\n", finished, total);
  erase();
  write_stderr(text);
  std::fflush(stderr);
  drawn_lines_ = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void LiveView::erase() {
  if (drawn_lines_ == 0) return;
  // Up to the first line, and everything below goes.
  write_stderr(fmt::format("\x1b[{}A\r\x1b[J", drawn_lines_));
  std::fflush(stderr);
  drawn_lines_ = 0;
}

}  // namespace ohm::cli

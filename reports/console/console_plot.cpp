#include "reports/console/console_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "reports/text/limit_lines.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

constexpr std::size_t kRows = 6;
constexpr std::size_t kDotRows = 4 * kRows;  ///< a character is 2 dots wide and 4 high
constexpr std::size_t kLabelColumns = 12;

const DeviceMemoryHistory* fullest(const MemoryHistory& history) {
  const auto top = [](const DeviceMemoryHistory& device) {
    const auto& bytes = device.allocated_high;
    return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  };
  const auto found = std::max_element(
      history.devices.begin(), history.devices.end(),
      [&](const DeviceMemoryHistory& a, const DeviceMemoryHistory& b) { return top(a) < top(b); });
  return found == history.devices.end() || top(*found) == 0 ? nullptr : &*found;
}

/// How high the column of dots for each part of the time is, in dots.
std::vector<std::size_t> heights(const std::vector<std::int64_t>& bytes, std::size_t columns,
                                 std::int64_t top) {
  std::vector<std::size_t> out(columns, 0);
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t begin = i * bytes.size() / columns;
    const std::size_t end = std::max(begin + 1, (i + 1) * bytes.size() / columns);
    const std::int64_t most = *std::max_element(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                                                bytes.begin() + static_cast<std::ptrdiff_t>(end));
    const double share = static_cast<double>(most) / static_cast<double>(top);
    const auto dots = static_cast<std::size_t>(share * kDotRows);
    // Little is more than nothing.
    out[i] = std::min(kDotRows, dots + (most > 0 && dots == 0));
  }
  return out;
}

/// The character of one cell: dots below the heights of its two columns are set.
std::string braille(std::size_t row, std::size_t left, std::size_t right) {
  constexpr std::array<std::array<unsigned, 4>, 2> kDots = {
      {{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};  // from the bottom up
  unsigned dots = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t height = (kRows - 1 - row) * 4 + i;
    if (height < left) dots |= kDots[0][i];
    if (height < right) dots |= kDots[1][i];
  }
  if (dots == 0) return " ";
  const unsigned code = 0x2800 + dots;
  return {static_cast<char>(0xE0 | (code >> 12U)), static_cast<char>(0x80 | ((code >> 6U) & 0x3FU)),
          static_cast<char>(0x80 | (code & 0x3FU))};
}

class Plot {
 public:
  Plot(const ScenarioResult& scenario, const ReportStyle& style) : style_(style) {
    for (const VariantResult& variant : scenario.variants) {
      if (!variant.history) continue;
      const DeviceMemoryHistory* const device = fullest(*variant.history);
      if (device == nullptr) continue;
      top_ = std::max(
          top_, *std::max_element(device->allocated_high.begin(), device->allocated_high.end()));
    }
    // A limit far above everything would flatten it.
    const std::int64_t most = top_ * 5 / 2;
    for (LimitLine& line : limit_lines(scenario)) {
      if (line.bytes > most) continue;
      top_ = std::max(top_, line.bytes);
      limits_.push_back(std::move(line));
    }
    columns_ = std::max<std::size_t>(style.columns, kLabelColumns + 20) - kLabelColumns - 2;
  }

  std::string of(const VariantResult& variant, const DeviceMemoryHistory& device) const {
    const MemoryHistory& history = *variant.history;
    std::string out = painted(heading(variant, device), Tone::strong, style_.color);
    const std::vector<std::size_t> dots = heights(device.allocated_high, 2 * columns_, top_);
    for (std::size_t row = 0; row < kRows; ++row) out += line(row, dots);
    return out + time_axis(history);
  }

 private:
  std::string heading(const VariantResult& variant, const DeviceMemoryHistory& device) const {
    const std::int64_t peak =
        *std::max_element(device.allocated_high.begin(), device.allocated_high.end());
    const std::string oom =
        variant.history->oom_event
            ? fmt::format(", out of memory after event {}", grouped(*variant.history->oom_event))
            : std::string();
    return indented(fmt::format("{} ({}) on {}: {} at most{}", variant.name, name_of(variant.role),
                                device.device, short_bytes(peak), oom),
                    2, style_.columns);
  }

  /// The row that a limit lies in.
  std::size_t row_of(std::int64_t bytes) const {
    const auto dot = static_cast<std::size_t>(static_cast<double>(bytes) /
                                              static_cast<double>(top_) * (kDotRows - 1));
    return kRows - 1 - std::min(dot / 4, kRows - 1);
  }

  const LimitLine* limit_in(std::size_t row) const {
    const LimitLine* found = nullptr;
    for (const LimitLine& limit : limits_) {
      const bool is_better = found == nullptr || (found->is_capacity && !limit.is_capacity);
      if (row_of(limit.bytes) == row && is_better) found = &limit;
    }
    return found;
  }

  std::string line(std::size_t row, const std::vector<std::size_t>& dots) const {
    const LimitLine* const limit = limit_in(row);
    std::string label;
    if (limit != nullptr) {
      label = short_bytes(limit->bytes);
    } else if (row == 0) {
      label = short_bytes(top_);
    }
    std::string curve;
    std::string through;
    for (std::size_t i = 0; i < columns_; ++i) {
      const std::string cell = braille(row, dots[2 * i], dots[2 * i + 1]);
      if (cell == " " && limit != nullptr) {
        through += limit->is_capacity ? "─" : "╌";
        continue;
      }
      curve += limit_part(through, limit) + cell;
      through.clear();
    }
    curve += limit_part(through, limit);
    const std::size_t end = curve.find_last_not_of(' ');
    curve.erase(end == std::string::npos ? 0 : end + 1);
    return pad_left(label, kLabelColumns) + (limit != nullptr ? " ┼" : " │") + curve + "\n";
  }

  std::string limit_part(const std::string& text, const LimitLine* limit) const {
    if (text.empty()) return "";
    return painted(text, limit->is_capacity ? Tone::faint : Tone::bad, style_.color);
  }

  std::string time_axis(const MemoryHistory& history) const {
    const std::string end = fmt::format("{} events", grouped(history.events));
    std::string axis = pad_left("0", kLabelColumns) + " └";
    for (std::size_t i = 0; i < columns_; ++i) axis += "─";
    return axis + "\n" + pad_left(end, kLabelColumns + 2 + columns_) + "\n";
  }

  const ReportStyle& style_;
  std::vector<LimitLine> limits_;
  std::int64_t top_ = 1;
  std::size_t columns_ = 0;
};

}  // namespace

std::string console_plots(const ScenarioResult& scenario, const ReportStyle& style) {
  std::string out;
  const Plot plot(scenario, style);
  for (const VariantResult& variant : scenario.variants) {
    if (!variant.history) continue;
    const DeviceMemoryHistory* const device = fullest(*variant.history);
    if (device != nullptr) out += plot.of(variant, *device);
  }
  return out;
}

}  // namespace ohm::reports

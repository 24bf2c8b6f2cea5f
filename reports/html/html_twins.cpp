#include "reports/html/html_twins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reports/text/html_text.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"

namespace ohm::reports {

namespace {

constexpr std::size_t kMostSegmentRows = 60;

std::string folded(const std::string& summary, const std::string& head, const std::string& rows) {
  return fmt::format(
      "<details><summary>{}</summary><div "
      "class=\"scroll\"><table><thead><tr>{}</tr></thead><tbody>\n"
      "{}</tbody></table></div></details>\n",
      summary, head, rows);
}

std::string block_row(const MemoryHistory& history, const std::string& device,
                      const HistoryBlock& block) {
  const HistorySite& site = history.sites[block.site];
  const std::string end = block.end >= history.events ? "the end" : grouped(block.end);
  return fmt::format(
      "<tr><td class=\"n\">{}</td><td class=\"tight\">{}</td><td class=\"tight\">{}</td><td "
      "class=\"soft\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
      "<td class=\"tight\">{}</td></tr>\n",
      html_bytes(static_cast<std::int64_t>(block.bytes)), name_of(block.category), html(site.op),
      html(place_text(site.file, site.line)), grouped(block.begin), end,
      grouped(std::int64_t{block.end} - block.begin), html(device));
}

struct SegmentRow {
  const HistorySegment* segment = nullptr;
  std::uint64_t taken = 0;
  std::uint64_t blocks = 0;
};

/// With blocks that are left out of the history their segments seem emptier: they are told of.
std::vector<SegmentRow> segments_at_peak(const DeviceMemoryHistory& device) {
  const auto is_there = [&](const auto& span) {
    return span.begin <= device.peak_event && device.peak_event < span.end;
  };
  std::vector<SegmentRow> rows;
  for (const HistorySegment& segment : device.segments) {
    if (is_there(segment)) rows.push_back({&segment, 0, 0});
  }
  std::sort(rows.begin(), rows.end(), [](const SegmentRow& a, const SegmentRow& b) {
    return a.segment->position < b.segment->position;
  });
  for (const HistoryBlock& block : device.blocks) {
    if (!is_there(block)) continue;
    const auto behind = std::upper_bound(rows.begin(), rows.end(), block.position,
                                         [](std::uint64_t position, const SegmentRow& row) {
                                           return position < row.segment->position;
                                         });
    if (behind == rows.begin()) continue;
    SegmentRow& row = *(behind - 1);
    row.taken = std::min(row.segment->bytes, row.taken + block.bytes);
    ++row.blocks;
  }
  return rows;
}

}  // namespace

std::string block_table(const MemoryHistory& history, std::size_t most_rows) {
  struct Row {
    const HistoryBlock* block;
    const DeviceMemoryHistory* device;
  };
  std::vector<Row> rows;
  for (const DeviceMemoryHistory& device : history.devices) {
    for (const HistoryBlock& block : device.blocks) rows.push_back({&block, &device});
  }
  if (rows.empty()) return "";
  const auto area = [](const Row& row) {
    return static_cast<double>(row.block->bytes) * (row.block->end - row.block->begin);
  };
  const std::size_t all = rows.size();
  const auto shown = static_cast<std::ptrdiff_t>(std::min(all, most_rows));
  std::partial_sort(rows.begin(), rows.begin() + shown, rows.end(),
                    [&](const Row& a, const Row& b) {
                      if (area(a) != area(b)) return area(a) > area(b);
                      return a.block->begin < b.block->begin;
                    });
  std::string text;
  for (std::ptrdiff_t i = 0; i < shown; ++i) {
    const Row& row = rows[static_cast<std::size_t>(i)];
    text += block_row(history, row.device->device, *row.block);
  }
  const std::string summary = fmt::format("The {} blocks of most bytes × lifetime", shown);
  return folded(summary,
                "<th class=\"n\">bytes<th>category<th>op<th>line<th class=\"n\">from event<th "
                "class=\"n\">to<th class=\"n\">events<th>GPU",
                text);
}

std::string segment_table(const MemoryHistory& history) {
  std::string text;
  for (const DeviceMemoryHistory& device : history.devices) {
    std::vector<SegmentRow> rows = segments_at_peak(device);
    const std::size_t all = rows.size();
    if (all > kMostSegmentRows) {
      std::stable_sort(rows.begin(), rows.end(), [](const SegmentRow& a, const SegmentRow& b) {
        return a.segment->bytes - a.taken > b.segment->bytes - b.taken;
      });
      rows.resize(kMostSegmentRows);
    }
    for (const SegmentRow& row : rows) {
      text += fmt::format(
          "<tr><td class=\"tight\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
          "class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
          html(device.device), html_bytes(static_cast<std::int64_t>(row.segment->bytes)),
          html_bytes(static_cast<std::int64_t>(row.taken)),
          html_bytes(static_cast<std::int64_t>(row.segment->bytes - row.taken)),
          grouped(static_cast<std::int64_t>(row.blocks)));
    }
    if (all > rows.size()) {
      text += fmt::format("<tr><td colspan=\"5\" class=\"soft\">and {} segments of {}</td></tr>\n",
                          all - rows.size(), html(device.device));
    }
  }
  if (text.empty()) return "";
  return folded("Segments at the peak",
                "<th>GPU<th class=\"n\">segment<th class=\"n\">in blocks<th class=\"n\">free<th "
                "class=\"n\">blocks",
                text);
}

}  // namespace ohm::reports

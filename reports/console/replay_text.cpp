#include "reports/console/replay_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/printable_fields.h"
#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

std::string count(std::uint64_t value) { return grouped(static_cast<std::int64_t>(value)); }

/// "1 event", "2 events".
std::string count(std::uint64_t value, std::string_view what) {
  return fmt::format("{} {}{}", count(value), what, value == 1 ? "" : "s");
}

std::string settings_text(const std::string& settings) {
  return settings.empty() ? "default settings" : printable(settings);
}

std::string device_text(const std::optional<int>& device) {
  return device ? fmt::format(", cuda:{}", *device) : std::string();
}

class ReplayText {
 public:
  ReplayText(const ReplayResult& result, const ReportStyle& style)
      : result_(result), style_(style) {}

  std::string run() {
    text_ = fmt::format("{} · {} · {}\n", paint(printable(result_.file), Tone::strong),
                        result_.rules, settings_text(result_.settings));
    add_what_ifs();
    add_min_capacities();
    for (const ReplayedDevice& device : result_.devices) add_device(device);
    if (result_.trace) add_trace(*result_.trace);
    add_failures();
    return std::move(text_);
  }

 private:
  std::string paint(std::string_view text, Tone tone) const {
    return painted(text, tone, style_.color);
  }
  void add(std::string_view line, std::size_t indent) {
    text_ += indented(line, indent, style_.columns);
  }

  // ---- the replay itself

  void add_device(const ReplayedDevice& device) {
    text_ += fmt::format("\ncuda:{}: {}\n", device.device, count(device.events, "event"));
    if (device.is_replayed) {
      const bool agrees = !device.mismatch;
      text_ += fmt::format("  {} {}\n", paint(agrees ? "✓" : "✗", agrees ? Tone::good : Tone::bad),
                           figures_text(device));
      if (style_.detail != Detail::quiet) add_more_figures(device);
    }
    if (device.mismatch) add_mismatch(device);
    if (style_.detail == Detail::quiet) return;
    for (const std::string& note : device.notes) add("note: " + note, 4);
  }

  static std::string figures_text(const ReplayedDevice& device) {
    const bool all_segments = device.segments == device.segments_as_recorded;
    return fmt::format("{} allocations, {} at the recorded address, {}{} segments, {}",
                       count(device.allocations), count(device.allocations_at_recorded_address),
                       all_segments ? std::string() : count(device.segments_as_recorded) + " of ",
                       count(device.segments), peaks_text(device));
  }

  static std::string peaks_text(const ReplayedDevice& device) {
    const auto differ = [](const ReplayedFigure& figure) {
      return figure.recorded != figure.replayed;
    };
    const ReplayedFigure& figure = differ(device.peak_reserved_bytes) ? device.peak_reserved_bytes
                                                                      : device.peak_requested_bytes;
    if (!differ(figure)) return "peaks equal";
    return fmt::format("peaks differ: {} recorded, {} replayed",
                       human_and_exact_bytes(figure.recorded),
                       human_and_exact_bytes(figure.replayed));
  }

  void add_more_figures(const ReplayedDevice& device) {
    const ReplayStart& start = device.start;
    add(start.segments == 0
            ? "begins with nothing"
            : fmt::format("begins with {} in {} of {}", count(start.blocks, "block"),
                          count(start.segments, "segment"),
                          human_and_exact_bytes(start.reserved_bytes)),
        4);
    add(fmt::format("peak reserved {}, peak requested {}",
                    human_and_exact_bytes(device.peak_reserved_bytes.recorded),
                    human_and_exact_bytes(device.peak_requested_bytes.recorded)),
        4);
    add(fmt::format("{}, {} out of memory, {} retries, {} of empty_cache()",
                    count(device.frees, "free"), count(device.ooms), count(device.retries),
                    count(device.flushes, "call")),
        4);
    if (device.given_releases > 0) {
      add(fmt::format("{} segments were released when the record says: by garbage collection, or "
                      "from private pools",
                      count(device.given_releases)),
          4);
    }
    if (start.skipped_events > 0) {
      add(fmt::format("the first {} events are of a request that began before the record",
                      count(start.skipped_events)),
          4);
    }
    add_open_blocks(start);
  }

  void add_open_blocks(const ReplayStart& start) {
    if (start.open_blocks == 0) return;
    const std::uint64_t left = start.open_blocks - start.known_blocks;
    add(fmt::format("{} blocks from before the record may have been larger than their requests: "
                    "later events tell of {}, and leave open {}, without any consequence here{}",
                    count(start.open_blocks), count(start.known_blocks), count(left),
                    start.narrowed_blocks == 0
                        ? std::string()
                        : fmt::format(" (but fewer sizes of {})", count(start.narrowed_blocks))),
        4);
  }

  void add_mismatch(const ReplayedDevice& device) {
    const ReplayMismatch& mismatch = *device.mismatch;
    if (mismatch.event) {
      add(paint(fmt::format("device_traces[{}][{}]", device.device, *mismatch.event), Tone::bad),
          2);
    }
    add(printable(mismatch.summary), 4);
    for (const std::string& detail : mismatch.details) add(printable(detail), 6);
  }

  void add_trace(const ReplayedTrace& trace) {
    text_ += fmt::format("\n{} operations on {}\n", count(trace.operations),
                         human_and_exact_bytes(trace.capacity_bytes));
    add(fmt::format("{}, {} out of memory, {} retries", count(trace.allocations, "allocation"),
                    count(trace.ooms), count(trace.retries)),
        4);
    add(fmt::format("peak allocated {}, peak reserved {}",
                    human_and_exact_bytes(trace.peak_allocated_bytes),
                    human_and_exact_bytes(trace.peak_reserved_bytes)),
        4);
    add(fmt::format("{} segments obtained, {} given back", count(trace.device_allocations),
                    count(trace.device_frees)),
        4);
  }

  // ---- what if

  static std::string conditions_text(const WhatIfRow& row) {
    const std::string settings = settings_text(row.settings);
    if (row.change.empty()) return settings;
    return printable(row.settings.empty() ? row.change : settings + " " + row.change);
  }

  std::size_t conditions_width() const {
    std::size_t width = 0;
    for (const WhatIfRow& row : result_.what_ifs) {
      width = std::max(width, display_width(conditions_text(row)));
    }
    return std::min<std::size_t>(width, 40);
  }

  void add_what_ifs() {
    const WhatIfRow* previous = nullptr;
    const std::size_t width = conditions_width();
    for (const WhatIfRow& row : result_.what_ifs) {
      if (previous == nullptr || previous->device != row.device) {
        text_ += fmt::format("\nwhat if{}\n", device_text(row.device));
        text_ += fmt::format("    {}  {:>11}  {:>7}  {:>13}  {:>14}  {:>10}\n",
                             pad_right("settings", width), "capacity", "retries", "peak reserved",
                             "peak allocated", "stranded");
      }
      add_what_if(row, width);
      previous = &row;
    }
    add_rescued();
  }

  static std::string capacity_text(const WhatIfRow& row) {
    return row.capacity_bytes ? human_bytes(*row.capacity_bytes) : std::string("endless");
  }

  void add_what_if(const WhatIfRow& row, std::size_t width) {
    text_ +=
        fmt::format("  {} {}  {:>11}  {:>7}  {:>13}  {:>14}  {:>10}\n",
                    paint(row.fits() ? "✓" : "✗", row.fits() ? Tone::good : Tone::bad),
                    pad_right(shortened(conditions_text(row), width), width), capacity_text(row),
                    count(row.retries), human_bytes(row.peak_reserved_bytes),
                    human_bytes(row.peak_allocated_bytes), human_bytes(row.stranded_bytes));
  }

  void add_rescued() {
    std::uint64_t most = 0;
    for (const WhatIfRow& row : result_.what_ifs) most = std::max(most, row.rescued);
    if (most == 0) return;
    add(fmt::format("{} that failed in the record: served if it fits and released at once, since "
                    "what would have followed was not recorded",
                    count(most, "request")),
        4);
  }

  /// Which request each of them stops at, and once what PyTorch says of it.
  void add_failures() {
    const WhatIfRow* first = nullptr;
    for (const WhatIfRow& row : result_.what_ifs) {
      if (row.fits()) continue;
      if (first == nullptr) text_ += "\ndoes not fit\n";
      if (first == nullptr) first = &row;
      add(fmt::format("{} of {}{}: {}", conditions_text(row), capacity_text(row),
                      device_text(row.device), failure_text(row)),
          2);
    }
    if (first != nullptr) add(printable(first->failure->message), 4);
  }

  static std::string failure_text(const WhatIfRow& row) {
    const UnservedRequest& failure = *row.failure;
    if (!failure.request) return "what was there at the start";
    const std::string asks = fmt::format("{} {} asks for {}", row.device ? "event" : "line",
                                         *failure.request, human_and_exact_bytes(failure.bytes));
    if (!row.device) return asks;
    return fmt::format("{}{}, {}", asks, failure.op.empty() ? "" : " for " + printable(failure.op),
                       printable(place_text(failure.file, failure.line)));
  }

  // ---- the smallest capacity

  void add_min_capacities() {
    for (const MinCapacityRow& row : result_.min_capacities) {
      text_ += fmt::format("\nsmallest capacity{}, {}{}\n", device_text(row.device),
                           settings_text(row.settings),
                           row.change.empty() ? "" : ", " + printable(row.change));
      add_capacity("without a retry", row.without_retry_bytes);
      add_capacity("with retries", row.with_retries_bytes);
      add(certificate_text(row), 4);
    }
  }

  void add_capacity(std::string_view what, const std::optional<std::uint64_t>& bytes) {
    text_ += fmt::format("    {:<16} {}\n", what,
                         bytes ? human_and_exact_bytes(*bytes) : std::string("none is known"));
  }

  std::string certificate_text(const MinCapacityRow& row) const {
    if (!row.with_retries_bytes) return "no capacity serves every request";
    std::string text;
    if (row.is_certified) {
      text = fmt::format("shown by {} runs that leave nothing out: every smaller one fails",
                         count(row.runs));
    } else if (row.every_from_bytes) {
      text = fmt::format("{} runs leave nothing out down to {}; below, bisection alone",
                         count(row.runs), human_and_exact_bytes(row.checked_down_to_bytes));
    } else {
      text = fmt::format(
          "found by bisection, {} runs: with a memory fraction every capacity is "
          "another case, and others were not tried",
          count(row.runs));
    }
    if (!row.every_from_bytes) return text;
    if (*row.every_from_bytes == *row.with_retries_bytes) {
      return text + "; every larger one suffices" + limits_of_record();
    }
    return text +
           fmt::format("; not every larger one suffices, but every one from {} on",
                       human_and_exact_bytes(*row.every_from_bytes)) +
           limits_of_record();
  }

  /// What a job that ran out of memory would have requested next is not recorded.
  std::string limits_of_record() const {
    const bool ran_out = std::any_of(result_.devices.begin(), result_.devices.end(),
                                     [](const ReplayedDevice& one) { return one.ooms > 0; });
    return ran_out ? " for what was recorded; it ends in an out-of-memory error, and the job may "
                     "need more"
                   : "";
  }

  const ReplayResult& result_;
  const ReportStyle& style_;
  std::string text_;
};

}  // namespace

std::string replay_text(const ReplayResult& measured, const ReportStyle& style) {
  const ReplayResult result = printable_copy(measured);
  return ReplayText(result, style).run();
}

}  // namespace ohm::reports

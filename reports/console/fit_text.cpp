#include "reports/console/fit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "reports/console/fit_basis_text.h"
#include "reports/console/fit_exactness.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/printable_fields.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

// Of the names of fields, with what is free behind the longest one.
constexpr std::size_t kNotesColumns = 26;
constexpr std::size_t kMostNotesColumns = 50;
constexpr std::size_t kGap = 2;

std::string joined_values(const std::vector<std::int64_t>& values) {
  std::string out;
  for (const std::int64_t value : values) out += (out.empty() ? "" : ", ") + grouped(value);
  return out;
}

class FitText {
 public:
  FitText(const FitResult& result, const ReportStyle& style)
      : result_(result),
        style_(style),
        varies_card_(result.varied == kFitCapacity),
        notes_columns_(varies_card_ ? kNotesColumns
                                    : std::clamp(display_width(largest_name()) + kGap,
                                                 kNotesColumns, kMostNotesColumns)) {}

  std::string run() {
    if (result_.error) return "";
    add_head();
    for (std::size_t first = 0; first < result_.rows.size();) {
      std::size_t end = first + 1;
      while (end < result_.rows.size() &&
             result_.rows[end].variant == result_.rows[first].variant) {
        ++end;
      }
      add_variant(first, end);
      first = end;
    }
    if (result_.basis) text_ += fit_basis_text(*result_.basis, result_.varied, style_);
    if (!result_.rows.empty()) add_what_counts();
    return std::move(text_);
  }

 private:
  std::string paint(std::string_view text, Tone tone) const {
    return painted(text, tone, style_.color);
  }

  void add_head() {
    const std::string name = printable(result_.name);
    text_ = paint(name, Tone::strong);
    if (!result_.summary.empty()) text_ += "  " + printable(result_.summary);
    text_ += "\n";
    const std::string asked = varies_card_
                                  ? "the smallest card, in steps of 2 MiB"
                                  : fmt::format("the largest {} from {} to {}", result_.varied,
                                                grouped(result_.least), grouped(result_.most));
    const char* const of_limits = result_.considers_limits ? "" : " · without its limits";
    std::string rest = result_.is_command
                           ? (result_.has_values ? "values computed" : "no values computed")
                           : fmt::format("size-only{}", of_limits);
    if (result_.basis) rest = fmt::format("replayed by {}", result_.rules);
    text_ += paint(indented(fmt::format("{} · {} · {}", printable(result_.file), asked, rest), 0,
                            style_.columns),
                   Tone::faint);
  }

  void add_variant(std::size_t first, std::size_t end) {
    const bool is_table = end - first > 1;
    const FitRow& row = result_.rows[first];
    if (!result_.basis) {
      const std::string_view role = result_.is_command ? "command" : name_of(row.role);
      text_ += fmt::format("\n{:<10}  {}{}\n", role, paint(row.variant, Tone::strong),
                           is_table ? "" : gpu_text(row));
    } else {
      text_ += fmt::format("\npredicted{}\n", is_table ? "" : gpu_text(row));
    }
    if (is_table) add_table(first, end);
    for (std::size_t i = first; i < end; ++i) {
      if (!is_table) {
        add_details(result_.rows[i]);
      } else if (style_.detail == Detail::verbose) {
        text_ += "\n  " + result_.rows[i].profile + "\n";
        add_details(result_.rows[i]);
      } else {
        add_oddities(result_.rows[i]);
      }
    }
  }

  static std::string gpu_text(const FitRow& row) {
    if (!row.margin) return fmt::format("  on {} × {}", row.gpu_count, row.profile);
    return fmt::format("  on {} × {} of {}", row.gpu_count, row.profile,
                       short_bytes(row.margin->capacity_bytes));
  }

  // ---- a table of GPUs ------------------------------------------------------------------------

  void add_table(std::size_t first, std::size_t end) {
    const std::string found = varies_card_ ? "smallest" : result_.varied;
    const std::size_t width = std::max<std::size_t>(12, display_width(found));
    const bool has_limits =
        std::any_of(result_.rows.begin() + static_cast<std::ptrdiff_t>(first),
                    result_.rows.begin() + static_cast<std::ptrdiff_t>(end),
                    [](const FitRow& row) { return row.limit_stop.has_value(); });
    const std::size_t limit_width = has_limits ? 13 : 0;
    const std::size_t bound_width = result_.basis ? 13 : 0;
    std::size_t gpu_width = 13;
    for (const FitRow& row : result_.rows) {
      gpu_width = std::max(gpu_width, display_width(row.profile));
    }
    text_ += paint(fmt::format("  {}  {}{}{}  {:>13}  {:>10}  {}", pad_right("gpu", gpu_width),
                               pad_left(found, width),
                               result_.basis ? "  " + pad_left("between", bound_width) : "",
                               has_limits ? "  within limits" : "", "peak reserved", "left",
                               varies_card_ ? "" : "the next one"),
                   Tone::faint) +
             "\n";
    const std::size_t reason_at = 2 + gpu_width + 2 + width + (result_.basis ? 2 : 0) +
                                  bound_width + (has_limits ? 2 : 0) + limit_width + 2 + 13 + 2 +
                                  10 + 2;
    for (std::size_t i = first; i < end; ++i) {
      const FitRow& row = result_.rows[i];
      const std::string peak = row.best ? short_bytes(row.best->peak_reserved_bytes) : "";
      const std::string left = row.margin ? short_bytes(row.margin->left_bytes) : "";
      text_ += fmt::format("  {}  {}{}{}  {:>13}  {:>10}", pad_right(row.profile, gpu_width),
                           pad_left(short_answer(row), width),
                           row.bound ? "  " + pad_left(short_bound(*row.bound), bound_width) : "",
                           has_limits ? "  " + pad_left(limit_answer(row), limit_width) : "", peak,
                           left);
      std::string reason;
      for (const std::string& line :
           wrapped(table_reason(row),
                   std::max<std::size_t>(style_.columns, reason_at + 24) - reason_at)) {
        if (!line.empty()) reason += (reason.empty() ? "  " : std::string(reason_at, ' ')) + line;
        reason += "\n";
      }
      text_ += reason;
    }
  }

  std::string short_answer(const FitRow& row) const {
    switch (row.outcome) {
      case FitOutcome::none_fits:
        return "none";
      case FitOutcome::failed:
        return "error";
      case FitOutcome::found:
      case FitOutcome::all_fit:
        break;
    }
    return varies_card_ ? short_bytes(row.best->value) : grouped(row.best->value);
  }

  std::string table_reason(const FitRow& row) const {
    if (row.outcome == FitOutcome::failed) return printable(row.error);
    if (row.outcome == FitOutcome::all_fit) return "every value fits";
    if (varies_card_) return "";
    if (row.needed_bytes) {
      return fmt::format("{} = {} takes {}", result_.varied, grouped(result_.least),
                         short_bytes(*row.needed_bytes));
    }
    return row.stop ? printable(row.stop->reason) : "";
  }

  static std::string short_bound(const FitBound& bound) {
    const auto text = [](const std::optional<std::int64_t>& value) {
      return value ? grouped(*value) : std::string("none");
    };
    return bound.least == bound.most ? text(bound.least)
                                     : fmt::format("{}..{}", text(bound.least), text(bound.most));
  }

  /// The column that is there when a limit of the scenario binds before a card does.
  static std::string limit_answer(const FitRow& row) {
    if (!row.best) return "";
    return row.best_within_limits ? grouped(row.best_within_limits->value) : "none";
  }

  // ---- one variant on one kind of GPU ---------------------------------------------------------

  void add_field(std::string_view name, std::string_view text, Tone tone = Tone::plain) {
    std::string lines = indented(text, notes_columns_ + 2, style_.columns);
    lines.replace(0, notes_columns_ + 2,
                  "  " + pad_right(shortened(name, notes_columns_ - kGap), notes_columns_));
    text_ += tone == Tone::plain ? lines : paint(lines, tone);
  }

  void add_details(const FitRow& row) {
    if (row.outcome == FitOutcome::failed) {
      add_field("could not be searched", printable(row.error), Tone::bad);
      return add_oddities(row);
    }
    if (varies_card_) {
      add_smallest_card(row);
    } else {
      add_largest_value(row);
    }
    if (row.bound) add_bound(*row.bound);
    if (row.line) add_line(row, *row.line);
    if (row.margin) add_margin(row, *row.margin);
    for (const std::string& limit : row.unchecked) {
      add_field("not checked", printable(limit) + " (size-only runs have no values)");
    }
    add_oddities(row);
  }

  void add_largest_value(const FitRow& row) {
    if (row.outcome == FitOutcome::none_fits) {
      const std::string needed =
          row.needed_bytes ? fmt::format("; {} = {} takes {}", result_.varied,
                                         grouped(result_.least), short_bytes(*row.needed_bytes))
                           : "";
      add_field("nothing fits", printable(row.stop->reason) + needed, Tone::bad);
      return;
    }
    const bool is_all = row.outcome == FitOutcome::all_fit;
    add_field(largest_name(),
              is_all ? fmt::format("{}, the largest that was tried", grouped(row.best->value))
                     : grouped(row.best->value),
              Tone::good);
    if (row.stop) {
      add_field("the next limit",
                fmt::format("at {}: {}", grouped(row.stop->value), printable(row.stop->reason)));
    }
    if (!row.limit_stop) return;
    const std::string next = fmt::format("{} breaks {}", grouped(row.limit_stop->value),
                                         printable(row.limit_stop->reason));
    add_field("within its own limits",
              row.best_within_limits
                  ? fmt::format("{}; {}", grouped(row.best_within_limits->value), next)
                  : "none; " + next,
              Tone::warning);
  }

  std::string largest_name() const { return fmt::format("largest {} that fits", result_.varied); }

  void add_bound(const FitBound& bound) {
    const bool is_known = bound.least_context_bytes == bound.most_context_bytes;
    const std::string context =
        is_known ? ""
                 : fmt::format("{} to {} of context, and ", short_bytes(bound.least_context_bytes),
                               short_bytes(bound.most_context_bytes));
    add_field("error bound",
              fmt::format("{} fits at the worst, {} at the best of what is uncertain: {}the sizes "
                          "of requests (below)",
                          bound.least ? grouped(*bound.least) : "none",
                          bound.most ? grouped(*bound.most) : "none", context));
  }

  void add_smallest_card(const FitRow& row) {
    if (row.outcome == FitOutcome::none_fits) {
      const std::string why = row.stop ? printable(row.stop->reason) : "it passes at no size";
      return add_field("no card is large enough", why, Tone::bad);
    }
    add_field("smallest card", human_and_exact_bytes(static_cast<std::uint64_t>(row.best->value)),
              Tone::good);
    add_field("of those that ohm knows",
              row.smallest_profile.empty() ? "none is large enough"
                                           : fmt::format("{} ({})", row.smallest_profile,
                                                         short_bytes(row.smallest_profile_bytes)));
    if (row.stop) add_field("2 MiB less", printable(row.stop->reason));
  }

  void add_line(const FitRow& row, const FitLine& line) {
    const std::string formula = fmt::format("{} + {} × {}", exact_bytes(line.fixed_bytes),
                                            exact_bytes(line.bytes_per_unit), result_.varied);
    const std::string where = fmt::format("{} values from {} to {}", line.checked_values,
                                          grouped(line.from_value), grouped(row.best->value));
    if (line.is_line && line.largest_deviation_bytes == 0) {
      add_field("the peak follows",
                fmt::format("{}, {} {}", formula, exactness(row) == "exact" ? "exactly at" : "at",
                            where));
    } else if (line.is_line) {
      add_field(
          "the peak follows",
          fmt::format(
              "{}, within {} at {} (blocks are rounded up, and not split for less than 1 MiB)",
              formula, exact_bytes(static_cast<double>(line.largest_deviation_bytes)), where));
    } else if (line.checked_values < 3) {
      add_field("the peak follows",
                fmt::format("{} through {}: too few to tell whether it is a line", formula, where));
    } else {
      add_field("the peak is not linear",
                fmt::format("{} at both ends, but up to {} away from it between them ({})", formula,
                            exact_bytes(static_cast<double>(line.largest_deviation_bytes)), where));
    }
  }

  void add_margin(const FitRow& row, const FitMargin& margin) {
    add_field("left on the card",
              fmt::format("{} = {} − {} of context (modelled) − {} reserved at the peak ({})",
                          human_and_exact_bytes(static_cast<std::uint64_t>(
                              std::max<std::int64_t>(0, margin.left_bytes))),
                          short_bytes(margin.capacity_bytes), short_bytes(margin.context_bytes),
                          short_bytes(row.best->peak_reserved_bytes), exactness(row)));
    if (margin.workspace_bytes > 0) {
      add_field("in the peak",
                fmt::format("{} allocated ({}), of it {} of libraries' workspaces (modelled)",
                            human_and_exact_bytes(
                                static_cast<std::uint64_t>(row.best->peak_allocated_bytes)),
                            exactness(row), short_bytes(margin.workspace_bytes)));
    } else {
      add_field("in the peak", fmt::format("{} allocated ({})",
                                           human_and_exact_bytes(static_cast<std::uint64_t>(
                                               row.best->peak_allocated_bytes)),
                                           exactness(row)));
    }
    if (margin.error) add_error(row, *margin.error, margin);
  }

  void add_error(const FitRow& row, const FitError& error, const FitMargin& margin) {
    const double of_peak =
        error.most_percent / 100 * static_cast<double>(row.best->peak_reserved_bytes);
    const bool is_covered = of_peak <= static_cast<double>(margin.left_bytes);
    add_field(
        "against real cards",
        fmt::format("error at most {:.1f} % in {} jobs {}; of this peak that is {}, {} than "
                    "is left",
                    error.most_percent, error.jobs, error.comparable,
                    short_bytes(static_cast<std::int64_t>(of_peak)), is_covered ? "less" : "more"));
  }

  /// A program that fits again beyond what does not is one for which a largest value says little.
  void add_oddities(const FitRow& row) {
    const std::string noun = varies_card_ ? "cards" : "values";
    const std::string where = result_.rows.size() > 1 ? fmt::format("{}: ", row.profile) : "";
    for (const ExactnessNote& note : exactness_notes(row, result_.varied)) {
      add_field(note.name, where + note.text, Tone::warning);
    }
    if (!row.fits_beyond.empty()) {
      add_field(
          "not monotone",
          fmt::format("{}{} {} fit, and not all in between do: {}", where,
                      varies_card_ ? "smaller" : "larger", noun, joined_values(row.fits_beyond)),
          Tone::warning);
    }
    if (!row.fails_within.empty()) {
      add_field("not monotone",
                fmt::format("{}{} {} do not fit: {}", where, varies_card_ ? "larger" : "smaller",
                            noun, joined_values(row.fails_within)),
                Tone::warning);
    }
  }

  void add_what_counts() {
    text_ += "\n" + paint(indented("A process's context is modelled (real cards: 300 to 600 MiB). "
                                   "Not counted: cuDNN's workspaces, NCCL's buffers, other "
                                   "libraries and other processes on the card.",
                                   0, style_.columns),
                          Tone::faint);
    const std::string modelled = modelled_names();
    if (!modelled.empty()) {
      text_ +=
          paint(indented("Modelled, not exact: " + modelled + ".", 0, style_.columns), Tone::faint);
    }
    const std::string advice = exactness_advice(result_);
    if (!advice.empty()) text_ += indented("Not exact: " + advice + ".", 0, style_.columns);
  }

  std::string modelled_names() const {
    std::vector<std::string> names;
    for (const FitRow& row : result_.rows) {
      for (const std::string& name : row.modelled) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  const FitResult& result_;
  const ReportStyle& style_;
  bool varies_card_;
  std::size_t notes_columns_;
  std::string text_;
};

}  // namespace

std::string fit_text(const FitResult& measured, const ReportStyle& style) {
  const FitResult result = printable_copy(measured);
  return FitText(result, style).run();
}

}  // namespace ohm::reports

#include "reports/console/fit_basis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

constexpr std::size_t kNameColumns = 26;
constexpr std::size_t kMostHolders = 8;

class BasisText {
 public:
  BasisText(const FitBasis& basis, std::string_view varied, const ReportStyle& style)
      : basis_(basis), varied_(varied), style_(style) {}

  std::string run() {
    text_ = "\nwhat it rests on\n";
    for (const FitRecording& recording : basis_.recordings) add_recording(recording);
    add_field("sizes", sizes_text());
    add_field("order", order_text());
    add_holders();
    return std::move(text_);
  }

 private:
  void add_field(const std::string& name, const std::string& text) {
    std::string lines = indented(text, kNameColumns + 2, style_.columns);
    lines.replace(0, kNameColumns + 2,
                  "  " + pad_right(shortened(name, kNameColumns - 2), kNameColumns));
    text_ += lines;
  }

  void add_recording(const FitRecording& recording) {
    const std::string unmatched =
        recording.unmatched == 0
            ? "all matched by stack, step and order"
            : fmt::format(
                  "{} of {} without a counterpart: they may stay as they are, or grow as "
                  "much as {}",
                  grouped(recording.unmatched), short_bytes(recording.unmatched_bytes), varied_);
    add_field(printable(recording.file),
              fmt::format("{} = {}: {} requests, {}", varied_, grouped(recording.value),
                          grouped(recording.requests), unmatched));
  }

  std::string sizes_text() const {
    std::vector<std::string> parts = {fmt::format("{} constant", grouped(basis_.constant))};
    const auto add = [&parts](std::int64_t count, const std::string& what) {
      if (count > 0) parts.push_back(fmt::format("{} {}", grouped(count), what));
    };
    add(basis_.lines, fmt::format("{} in {}", basis_.lines == 1 ? "a line" : "lines", varied_));
    add(basis_.curves, "of its square");
    std::string text = fmt::format("{}", fmt::join(parts, ", "));
    const std::int64_t shaped = basis_.lines + basis_.curves;
    if (basis_.unchecked > 0) {
      text += fmt::format(
          "; nothing checks {}: {} recording would",
          basis_.unchecked == shaped ? "those" : grouped(basis_.unchecked) + " of those",
          basis_.recordings.size() == 2 ? "a third" : "another");
    } else if (shaped > 0) {
      text += fmt::format(", met exactly at {} values", basis_.recordings.size());
    }
    if (basis_.irregular > 0) {
      text += fmt::format("; {} neither, and what they may be off by is in the bound",
                          grouped(basis_.irregular));
    }
    return text;
  }

  std::string order_text() const {
    std::string text = basis_.has_one_order
                           ? "requests and frees come in the same order at every value"
                           : "requests or frees come in another order at other values: the bound "
                             "holds in each";
    if (basis_.is_cut) {
      text += fmt::format(
          "; only the first {} steps are compared, for more were recorded at some "
          "values",
          grouped(basis_.steps));
    }
    return text;
  }

  void add_holders() {
    if (basis_.holders.empty()) return;
    text_ +=
        fmt::format("\nwhat grows, at the peak of {} = {}\n", varied_, grouped(basis_.holders_at));
    for (std::size_t i = 0; i < std::min(kMostHolders, basis_.holders.size()); ++i) {
      add_holder(basis_.holders[i]);
    }
    if (basis_.holders.size() > kMostHolders) {
      text_ += fmt::format("  and {} more\n", basis_.holders.size() - kMostHolders);
    }
  }

  void add_holder(const FitHolder& holder) {
    const std::string formula =
        holder.is_line ? fmt::format("{} + {} × {}", short_bytes(std::llround(holder.fixed_bytes)),
                                     short_bytes(std::llround(holder.bytes_per_unit)), varied_)
                       : "not a line";
    text_ += fmt::format("  {:>11}  {:>5} × {}  {}  {}\n", short_bytes(holder.bytes),
                         grouped(holder.blocks), pad_right(shortened(printable(holder.op), 16), 16),
                         pad_right(formula, 30), printable(place_text(holder.file, holder.line)));
  }

  const FitBasis& basis_;
  std::string_view varied_;
  const ReportStyle& style_;
  std::string text_;
};

}  // namespace

std::string exact_bytes(double bytes) {
  if (std::abs(bytes) < 0x1p20 && std::round(bytes) != bytes) {
    return fmt::format("{:.2f} bytes", bytes);
  }
  const double whole = std::round(bytes);
  return std::abs(whole) < 0x1p20 ? grouped(std::llround(whole)) + " bytes"
                                  : exact_figure(whole, Unit::bytes);
}

std::string fit_basis_text(const FitBasis& basis, std::string_view varied,
                           const ReportStyle& style) {
  return BasisText(basis, varied, style).run();
}

}  // namespace ohm::reports

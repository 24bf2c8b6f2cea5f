#include "reports/console/result_diff_text.h"

#include <fmt/format.h>

#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

std::string signed_bytes(std::int64_t bytes) {
  return fmt::format("{}{} B", bytes > 0 ? "+" : "", grouped(bytes));
}

std::string remark(const HolderChange& change) {
  switch (change.kind) {
    case HolderChange::Kind::appeared:
      return "new";
    case HolderChange::Kind::gone:
      return "gone";
    case HolderChange::Kind::grown:
    case HolderChange::Kind::shrunk: {
      const std::string sizes =
          fmt::format("{} → {}", short_bytes(change.bytes_before), short_bytes(change.bytes_after));
      if (change.blocks_before == change.blocks_after) return sizes;
      return fmt::format("{}, {} → {} blocks", sizes, change.blocks_before, change.blocks_after);
    }
    case HolderChange::Kind::recategorized:
      return fmt::format("was {}", name_of(change.category_before));
    case HolderChange::Kind::moved_into_peak:
      return "was there before, but not at the peak";
    case HolderChange::Kind::moved_out_of_peak:
      return "still there, but not at the peak";
  }
  return "";
}

std::string figure_line(const FigureChange& change) {
  const std::string by = change.unit == Unit::bytes ? signed_bytes(change.change())
                                                    : fmt::format("{:+}", change.change());
  return fmt::format("{}: {} → {} ({})", change.figure,
                     short_figure(static_cast<double>(change.before), change.unit),
                     short_figure(static_cast<double>(change.after), change.unit), by);
}

Tone tone_of(std::int64_t change) {
  return change > 0 ? Tone::bad : change < 0 ? Tone::good : Tone::plain;
}

}  // namespace

std::string holder_sentence(const HolderChange& change) {
  const std::string op = change.op.empty() ? "" : " of " + change.op;
  const std::string place =
      change.file.empty() ? "no line of a script" : fmt::format("{}:{}", change.file, change.line);
  return fmt::format("{}: {}{}, {} ({})", signed_bytes(change.change()), name_of(change.category),
                     op, place, remark(change));
}

std::string diff_text(const VariantDiff& diff, bool color) {
  const std::string title = diff.scenario + "." + diff.variant;
  std::string out = painted(printable(title), Tone::strong, color) + "\n";
  for (const std::string& note : diff.notes) out += "  " + printable(note) + "\n";
  for (const FigureChange& change : diff.figures) {
    out += "  " + painted(figure_line(change), tone_of(change.change()), color) + "\n";
  }
  for (const DeviceDiff& device : diff.devices) {
    for (const FigureChange& change : device.figures) {
      out += fmt::format("  {} {}\n", printable(device.device),
                         painted(figure_line(change), tone_of(change.change()), color));
    }
    for (const HolderChange& change : device.holders) {
      out += "    " + painted(printable(holder_sentence(change)), tone_of(change.change()), color) +
             "\n";
      if (!change.text.empty()) {
        out += "        " + painted(printable(change.text), Tone::faint, color) + "\n";
      }
    }
    if (device.unexplained_bytes != 0) {
      out += fmt::format("    {}: one of them does not say what made up its peak\n",
                         signed_bytes(device.unexplained_bytes));
    }
  }
  return out;
}

std::string diff_text(const ResultDiff& diff, bool color) {
  std::string out;
  for (const VariantDiff& variant : diff.variants) out += diff_text(variant, color) + "\n";
  const std::string compared =
      fmt::format("{} variant{} compared", diff.compared, diff.compared == 1 ? "" : "s");
  if (diff.variants.empty()) return painted(compared + ": no difference", Tone::good, color) + "\n";
  return out + fmt::format("{}, {} with differences\n", compared, diff.variants.size());
}

}  // namespace ohm::reports

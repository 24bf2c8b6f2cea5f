#include "reports/text/cause_text.h"

#include <fmt/format.h>

#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"

namespace ohm::reports {

namespace {

/// The op and the source, as far as they are known.
std::string what_is_there(const CauseLine& line) {
  std::string text = line.op.empty() ? "" : "  " + line.op;
  if (!line.library.empty()) text += fmt::format(" in {}", line.library);
  if (!line.text.empty()) text += "  " + line.text;
  return text;
}

}  // namespace

std::string cause_line_text(const CauseLine& line) {
  const std::string place = place_text(line.file, line.line);
  if (!line.before_bytes) {
    return fmt::format("{}  {}{}", short_bytes(line.bytes), place, what_is_there(line));
  }
  return fmt::format("+{} ({} before, {} now)  {}{}", short_bytes(line.increase()),
                     short_bytes(*line.before_bytes), short_bytes(line.bytes), place,
                     what_is_there(line));
}

std::string other_cause_lines_text(const CauseResult& cause) {
  if (cause.other_lines == 0) return "";
  return fmt::format("{}  {} more line{}", short_bytes(cause.other_bytes), cause.other_lines,
                     cause.other_lines == 1 ? "" : "s");
}

std::string cause_text(const VariantResult& variant) {
  if (!variant.cause) return "";
  std::string text = variant.cause->what + "\n";
  for (const CauseLine& line : variant.cause->lines) text += "  " + cause_line_text(line) + "\n";
  const std::string others = other_cause_lines_text(*variant.cause);
  return others.empty() ? text : text + "  " + others + "\n";
}

}  // namespace ohm::reports

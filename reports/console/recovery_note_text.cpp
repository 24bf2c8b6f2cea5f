#include "reports/console/recovery_note_text.h"

#include <fmt/format.h>

#include "allocator_shim/base/format_bytes.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

std::string sentence_of(const RecoveryNote& note) {
  constexpr std::size_t kColumnsOfALine = 60;
  switch (note.deviation) {
    case RecoveryDeviation::unprinted_line:
      return fmt::format("did not print all lines (the first: \"{}\", at {})",
                         shortened(printable(note.line), kColumnsOfALine), note.plan);
    case RecoveryDeviation::fewer_requests:
      return fmt::format("were granted fewer requests (the first: {})", note.plan);
    case RecoveryDeviation::more_when_made_again:
      return fmt::format(
          "had more allocated on retry than at the failure, perhaps because the failed attempt is "
          "still alive (the most: {} at {})",
          human_bytes(static_cast<std::size_t>(note.bytes)), note.plan);
  }
  return {};
}

/// Whether the work may have been left out.
bool is_about_work(const RecoveryNote& note) {
  return note.deviation != RecoveryDeviation::more_when_made_again;
}

}  // namespace

std::string recovery_notes_text(const SweptVariant& variant, const ReportStyle& style) {
  constexpr std::size_t kIndent = 6;
  const auto recovered = static_cast<std::size_t>(FaultVerdict::recovered_same);
  std::string text;
  bool asks_for_check = false;
  for (const RecoveryNote& note : variant.notes) {
    text += indented(fmt::format("{} of {} recoveries {}", note.count, variant.verdicts[recovered],
                                 sentence_of(note)),
                     kIndent, style.columns);
    asks_for_check = asks_for_check || is_about_work(note);
  }
  if (asks_for_check) {
    text += indented("--check EXPR or ohm.sweep.state() decides whether the work was done", kIndent,
                     style.columns);
  }
  return text;
}

}  // namespace ohm::reports

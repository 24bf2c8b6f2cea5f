#include "reports/ci/workflow_commands.h"

namespace ohm::reports {

namespace {

/// Whether a command can stand behind it in a line: the runner trims Unicode's blanks, so that
/// whatever is not plainly a character is taken for one.
bool may_be_blank(char byte) { return byte <= ' ' || byte > '~'; }

}  // namespace

std::string without_workflow_commands(std::string_view text, const CommandSpelling& spelling) {
  constexpr std::string_view kCommand = "::";
  constexpr std::string_view kOldCommand = "##[";
  std::string out;
  bool is_beginning = true;  // of a line, but for blanks
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (is_beginning && rest.starts_with(kCommand)) {
      out += spelling.colon;
    } else if (rest.starts_with(kOldCommand)) {
      out += spelling.hash;
    } else {
      out += text[i];
    }
    is_beginning = text[i] == '\n' || text[i] == '\r' || (is_beginning && may_be_blank(text[i]));
  }
  return out;
}

}  // namespace ohm::reports

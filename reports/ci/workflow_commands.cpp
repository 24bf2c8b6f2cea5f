#include "reports/ci/workflow_commands.h"

namespace ohm::reports {

std::string without_workflow_commands(std::string_view text) {
  constexpr std::string_view kCommand = "::";
  constexpr std::string_view kOldCommand = "##[";
  std::string out;
  bool is_beginning = true;  // of a line, but for blanks
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (is_beginning && rest.starts_with(kCommand)) {
      out += '\\';
    } else if (rest.starts_with(kOldCommand)) {
      out += "#\\";
      continue;
    }
    out += text[i];
    is_beginning = text[i] == '\n' || text[i] == '\r' || (is_beginning && text[i] == ' ');
  }
  return out;
}

}  // namespace ohm::reports

// Commands to the runner of GitHub Actions, which reads them from what a step prints.
#pragma once

#include <string>
#include <string_view>

namespace ohm::reports {

/// The text as a log may show it: a line that would be a command ("::error::…" behind blanks, or
/// "##[error]…" anywhere) has a backslash in it and is none.
std::string without_workflow_commands(std::string_view text);

}  // namespace ohm::reports

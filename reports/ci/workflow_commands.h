// Commands to the runner of GitHub Actions, which reads them from what a step prints.
#pragma once

#include <string>
#include <string_view>

namespace ohm::reports {

/// What stands for the beginnings of commands in a text that has none.
struct CommandSpelling {
  std::string_view colon;  ///< for the first of "::", in front of which is no visible ASCII
  std::string_view hash;   ///< for the first of "##[", anywhere
};

/// A backslash more: for people.
inline constexpr CommandSpelling kForPeople = {"\\:", "#\\"};
/// The same characters, as XML, HTML and JSON may spell them. No line of JSON begins with a colon.
inline constexpr CommandSpelling kAsMarkup = {"&#58;", "&#35;"};
inline constexpr CommandSpelling kAsJson = {":", "\\u0023"};

/// The text as a log may show it: a line that would be a command ("::error::…" behind blanks, or
/// "##[error]…" anywhere) is none.
std::string without_workflow_commands(std::string_view text,
                                      const CommandSpelling& spelling = kForPeople);

}  // namespace ohm::reports

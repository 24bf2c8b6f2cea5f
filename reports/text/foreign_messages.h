// Out-of-memory messages of other programs than PyTorch's allocator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/text/oom_message_parser.h"

namespace ohm::reports {

struct ForeignMessage {
  std::string source;
  std::optional<PrintedBytes> request;
  std::string what;              ///< one sentence
  std::string fix;               ///< one sentence
  bool is_of_framework = false;  ///< of one that runs on PyTorch, and knows its own settings
  bool is_certain = true;        ///< that memory ran out; a signal alone does not tell
  std::size_t at = 0;            ///< where in the text it begins
};

/// What a process that SIGKILL ended may mean; not certain.
ForeignMessage message_of_killed_process();

/// The first row of the table of wordings that the text, which is one line, has. nullopt: none.
std::optional<ForeignMessage> find_foreign_message(std::string_view line);

/// Each once, in the order of the table.
std::vector<std::string> foreign_sources();

}  // namespace ohm::reports

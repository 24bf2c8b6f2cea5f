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
  std::size_t at = 0;            ///< where in the text it begins
};

/// The first row of the table of wordings that the text, which is one line, has. nullopt: none.
std::optional<ForeignMessage> find_foreign_message(std::string_view line);

/// Each once, in the order of the table.
std::vector<std::string> foreign_sources();

}  // namespace ohm::reports

// Wordings of foreign_wordings.h: of the host's memory, of what ends jobs there, and of runtimes of
// other languages.
#pragma once

#include <vector>

#include "reports/text/foreign_wordings.h"

namespace ohm::reports {

std::vector<ForeignWording> wordings_of_host();

extern const char* const kLessOnTheHost;

}  // namespace ohm::reports

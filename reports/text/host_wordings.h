// Wordings of foreign_wordings.h: of the host's memory, of what ends jobs there, and of runtimes of
// other languages.
#pragma once

#include <vector>

#include "reports/text/foreign_wording.h"

namespace ohm::reports {

std::vector<ForeignWording> wordings_of_host();

/// What SIGKILL means, and how to confirm it.
extern const char* const kKilledText;
extern const char* const kConfirmKill;

extern const char* const kLessOnTheHost;

}  // namespace ohm::reports

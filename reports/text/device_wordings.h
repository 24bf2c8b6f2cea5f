// Wordings of foreign_wordings.h: of engines, runtimes and kinds of devices that few programs use.
#pragma once

#include <vector>

#include "reports/text/foreign_wording.h"

namespace ohm::reports {

std::vector<ForeignWording> wordings_of_devices();

}  // namespace ohm::reports

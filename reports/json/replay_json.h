// The result of ohm replay for programs: schema "ohm.replay/1", described in
// reports/json/ohm.replay.schema.json.
#pragma once

#include <string>

#include "reports/model/replay_result.h"

namespace ohm::reports {

/// Keys are sorted, bytes are integers.
std::string replay_json(const ReplayResult& result);

}  // namespace ohm::reports

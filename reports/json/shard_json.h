// The share of a result, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reports/model/shard_result.h"

namespace ohm::reports {

nlohmann::json shard_json(const ShardResult& shard);

}  // namespace ohm::reports

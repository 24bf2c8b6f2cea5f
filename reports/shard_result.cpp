#include "reports/shard_result.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ohm::reports {

nlohmann::json shard_json(const ShardResult& shard) {
  nlohmann::json json = {{"number", shard.number}, {"count", shard.count}};
  if (!shard.files.empty()) json["files"] = shard.files;
  return json;
}

std::string shard_text(const std::optional<ShardResult>& shard) {
  return shard ? fmt::format("shard {}/{}: ", shard->number, shard->count) : "";
}

}  // namespace ohm::reports

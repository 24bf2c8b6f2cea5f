#include "reports/json/shard_json.h"

#include <nlohmann/json.hpp>

namespace ohm::reports {

nlohmann::json shard_json(const ShardResult& shard) {
  nlohmann::json json = {{"number", shard.number}, {"count", shard.count}};
  if (!shard.files.empty()) json["files"] = shard.files;
  if (shard.settings.empty()) return json;  // of an older version
  json["settings"] = shard.settings;
  json["inputs"] = nlohmann::json::array();
  for (const ShardInput& input : shard.inputs) {
    json["inputs"].push_back({{"file", input.file}, {"hash", input.hash}});
  }
  return json;
}

}  // namespace ohm::reports

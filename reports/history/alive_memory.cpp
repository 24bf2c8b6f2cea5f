#include "reports/history/alive_memory.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "reports/history/shown_place.h"

namespace ohm::reports {

AliveMemory alive_at(const HistoryBuilder& builder, const RecordedSites& sites, std::size_t device,
                     std::uint32_t event) {
  AliveMemory alive;
  std::map<std::pair<SiteId, Category>, HolderResult> by_site;
  builder.for_each_at(device, event, [&](const BlockSpan& block) {
    const auto bytes = static_cast<std::int64_t>(block.bytes);
    HolderResult& holder = by_site[{block.site, block.category}];
    holder.bytes += bytes;
    ++holder.count;
    alive.by_category[static_cast<std::size_t>(block.category)] += bytes;
  });
  std::map<std::pair<ShownPlace, Category>, HolderResult> by_place;
  for (const auto& [key, part] : by_site) {
    const HistorySite& site = sites.at(key.first);
    HolderResult& holder = by_place[{shown_place(site), key.second}];
    name_row(holder, site, holder.count == 0);
    holder.category = key.second;
    holder.bytes += part.bytes;
    holder.count += part.count;
  }
  for (auto& [key, holder] : by_place) alive.holders.push_back(std::move(holder));
  std::stable_sort(
      alive.holders.begin(), alive.holders.end(), [](const HolderResult& a, const HolderResult& b) {
        return std::tie(b.bytes, a.file, a.line, a.op, a.category, a.library, a.module) <
               std::tie(a.bytes, b.file, b.line, b.op, b.category, b.library, b.module);
      });
  return alive;
}

}  // namespace ohm::reports

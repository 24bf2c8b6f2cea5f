#include "harness/machine/holder_table.h"

#include <algorithm>
#include <tuple>

namespace ohm::engine {

void HolderTable::add(SiteId site, Category category, std::size_t bytes) {
  Sum& sum = sums_[{site, category}];
  sum.bytes += static_cast<std::int64_t>(bytes);
  ++sum.count;
}

std::vector<HolderResult> HolderTable::sorted(const SiteTable& sites) const {
  std::vector<HolderResult> holders;
  for (const auto& [place, sum] : sums_) {
    const Site& site = sites.at(place.first);
    holders.push_back({sum.bytes, sum.count, place.second, site.op, site.file, site.line, {}});
  }
  std::sort(holders.begin(), holders.end(), [](const HolderResult& a, const HolderResult& b) {
    return std::tie(b.bytes, a.file, a.line, a.op, a.category) <
           std::tie(a.bytes, b.file, b.line, b.op, b.category);
  });
  return holders;
}

}  // namespace ohm::engine

// Live blocks, summed by the line and op that made them.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "allocator_shim/observe/site.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

class HolderTable {
 public:
  void add(SiteId site, Category category, std::size_t bytes);

  /// One for each place and category, largest first; ties by place.
  std::vector<HolderResult> sorted(const SiteTable& sites) const;

 private:
  struct Sum {
    std::int64_t bytes = 0;
    std::int64_t count = 0;
  };
  std::map<std::pair<SiteId, Category>, Sum> sums_;
};

}  // namespace ohm::engine

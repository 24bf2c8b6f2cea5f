// Sites: a line of the program under test and the op that was running when it asked for memory.
//
// Sites are interned: an event carries a SiteId of four bytes, and the table turns it back into
// words. Ids are handed out in order of first use, so equal runs have equal ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ohm {

/// Index into a SiteTable. 0 is "unknown": no file, line 0, no op.
using SiteId = std::uint32_t;
inline constexpr SiteId kUnknownSite = 0;

struct Site {
  std::string file;  ///< as the program named it, e.g. "scenarios/leaked_loss_graph.lua"
  int line = 0;      ///< 1-based; 0 when unknown
  std::string op;    ///< e.g. "relu", "relu_backward"; empty outside any op

  friend bool operator==(const Site&, const Site&) = default;
};

/// Not thread-safe: one table belongs to one run.
class SiteTable {
 public:
  SiteTable();

  /// The id of this site, new or known.
  SiteId intern(std::string_view file, int line, std::string_view op);

  /// Throws std::out_of_range for an id that this table did not hand out.
  const Site& at(SiteId id) const { return sites_.at(id); }

  std::size_t size() const { return sites_.size(); }

 private:
  std::vector<Site> sites_;
  std::unordered_map<std::string, SiteId> ids_;
};

}  // namespace ohm

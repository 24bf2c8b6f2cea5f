// The place of a request as tables show it; blocks with the same one share a row.
#pragma once

#include <string>
#include <tuple>

#include "reports/model/memory_history.h"

namespace ohm::reports {

struct ShownPlace {
  std::string op;
  std::string file;
  int line = 0;
  std::string library;
  std::string modules;  ///< a path whose numbers are "*": the layers of a list are one

  bool operator==(const ShownPlace&) const = default;
  bool operator<(const ShownPlace& other) const {
    return std::tie(op, file, line, library, modules) <
           std::tie(other.op, other.file, other.line, other.library, other.modules);
  }
};

ShownPlace shown_place(const HistorySite& site);

/// The same of whichever module.
ShownPlace shown_op(const HistorySite& site);

/// Of modules whose shown places are equal: the numbers that differ are "*", as in
/// "GPT.blocks.*.mlp.0".
std::string common_module(const std::string& a, const std::string& b);

/// Op, line, library's line and module of `site` go to a row of a table: to the first block's, or
/// to that which has others of the same place.
template <class Row>
void name_row(Row& row, const HistorySite& site, bool is_first) {
  row.op = site.op;
  row.file = site.file;
  row.line = site.line;
  row.library = site.library;
  row.module = is_first ? site.module : common_module(row.module, site.module);
}

}  // namespace ohm::reports

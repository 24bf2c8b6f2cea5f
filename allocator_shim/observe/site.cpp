#include "allocator_shim/observe/site.h"

namespace ohm {

SiteTable::SiteTable() { sites_.emplace_back(); }

SiteId SiteTable::intern(std::string_view file, int line, std::string_view op) {
  std::string key;
  key.reserve(file.size() + op.size() + 16);
  key.append(file).append(1, '\0').append(std::to_string(line)).append(1, '\0').append(op);
  const auto next = static_cast<SiteId>(sites_.size());
  const auto [entry, is_new] = ids_.try_emplace(std::move(key), next);
  if (is_new) sites_.push_back({std::string(file), line, std::string(op)});
  return entry->second;
}

}  // namespace ohm

#include "reports/history/shown_place.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace ohm::reports {

namespace {

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t end = path.find('.'); end != std::string_view::npos; end = path.find('.')) {
    parts.push_back(path.substr(0, end));
    path.remove_prefix(end + 1);
  }
  parts.push_back(path);
  return parts;
}

bool is_number(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

void add(std::string& path, std::string_view part) {
  if (!path.empty()) path += '.';
  path += part;
}

}  // namespace

ShownPlace shown_place(const HistorySite& site) {
  std::string modules;
  for (const std::string_view part : parts_of(site.module)) {
    add(modules, is_number(part) ? "*" : part);
  }
  return {site.op, site.file, site.line, site.library, modules};
}

ShownPlace shown_op(const HistorySite& site) {
  return {site.op, site.file, site.line, site.library, ""};
}

std::string common_module(const std::string& a, const std::string& b) {
  if (a == b) return a;
  const std::vector<std::string_view> left = parts_of(a);
  const std::vector<std::string_view> right = parts_of(b);
  std::string path;
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i) {
    add(path, left[i] == right[i] ? left[i] : "*");
  }
  return path;
}

}  // namespace ohm::reports

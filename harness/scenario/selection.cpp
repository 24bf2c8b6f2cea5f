#include "harness/scenario/selection.h"

#include <algorithm>

namespace ohm::engine {

namespace {

bool matches_pattern(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    const std::string_view rest = pattern.substr(1);
    return matches_pattern(rest, name) ||
           (!name.empty() && matches_pattern(pattern, name.substr(1)));
  }
  const bool same = !name.empty() && (pattern.front() == '?' || pattern.front() == name.front());
  return same && matches_pattern(pattern.substr(1), name.substr(1));
}

bool matches_any(std::string_view patterns, std::string_view name) {
  while (true) {
    const std::size_t colon = patterns.find(':');
    if (matches_pattern(patterns.substr(0, colon), name)) return true;
    if (colon == std::string_view::npos) return false;
    patterns.remove_prefix(colon + 1);
  }
}

bool matches_case(const VariantDescription& variant, const std::string& text) {
  const RoleName& role = kRoleNames[static_cast<std::size_t>(variant.role)];
  return variant.name == text || role.name == text || role.group == text;
}

}  // namespace

bool matches_filter(std::string_view filter, std::string_view name) {
  const std::size_t dash = filter.find('-');
  const std::string_view wanted = filter.substr(0, dash);
  if (!wanted.empty() && !matches_any(wanted, name)) return false;
  return dash == std::string_view::npos || !matches_any(filter.substr(dash + 1), name);
}

std::vector<std::string> selected_variants(const ScenarioDescription& scenario,
                                           const Selection& selection) {
  std::vector<std::string> names;
  for (const VariantDescription& variant : scenario.variants) {
    const bool is_case =
        selection.cases.empty() ||
        std::any_of(selection.cases.begin(), selection.cases.end(),
                    [&](const std::string& text) { return matches_case(variant, text); });
    const bool is_wanted = variant.role != Role::reference && is_case &&
                           matches_filter(selection.filter, scenario.name + "." + variant.name);
    if (is_wanted) names.push_back(variant.name);
  }
  return names;
}

}  // namespace ohm::engine

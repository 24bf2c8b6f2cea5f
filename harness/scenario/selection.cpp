#include "harness/scenario/selection.h"

#include <algorithm>

namespace ohm::engine {

namespace {

// Where a character does not fit, the last star takes one more: no earlier one has to.
bool matches_pattern(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;
  std::size_t behind_star = 0;  // the first character that the star has not taken
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      behind_star = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++behind_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
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

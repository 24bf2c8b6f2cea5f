#include "allocator_shim/base/nearest_name.h"

#include <algorithm>
#include <cstddef>

namespace ohm {

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// Optimal string alignment distance: each neighbour swap counts one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> cells((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return cells[i * width + j];
  };
  for (std::size_t j = 0; j < width; ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    at(i, 0) = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestCompared = 64;
  constexpr std::size_t kShortestBeginning = 3;
  if (name.empty() || name.size() > kLongestCompared) return {};
  const std::string typed = lower_case(name);
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(typed, lower_case(candidate));
    const bool has_nothing_in_common = distance >= std::max(name.size(), candidate.size());
    if (distance >= best_distance || has_nothing_in_common) continue;
    best = candidate;
    best_distance = distance;
  }
  if (!best.empty() || name.size() < kShortestBeginning) return best;
  const auto begun = std::find_if(known.begin(), known.end(), [&](const std::string& candidate) {
    return lower_case(candidate).starts_with(typed);
  });
  return begun == known.end() ? std::string() : *begun;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? std::string() : " (did you mean \"" + nearest + "\"?)";
}

}  // namespace ohm

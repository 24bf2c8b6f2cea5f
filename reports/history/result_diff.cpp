#include "reports/history/result_diff.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ohm::reports {

namespace {

constexpr std::array<std::string_view, 7> kKindNames = {"appeared",
                                                        "gone",
                                                        "grown",
                                                        "shrunk",
                                                        "recategorized",
                                                        "moved into the peak",
                                                        "moved out of the peak"};

using Kind = HolderChange::Kind;

/// What a line is known by: its op and its text; without a text the place has to do.
struct Place {
  std::string op;
  std::string where;

  friend bool operator<(const Place& a, const Place& b) {
    return std::tie(a.op, a.where) < std::tie(b.op, b.where);
  }
};

Place place_of(const HolderResult& holder) {
  if (!holder.text.empty()) return {holder.op, holder.text};
  return {holder.op, holder.file + ":" + std::to_string(holder.line)};
}

/// Holders of one place and category, summed: a line that stands twice is one.
using Holders = std::map<std::pair<Place, Category>, HolderResult>;

Holders by_place(const std::vector<HolderResult>& holders) {
  Holders sums;
  for (const HolderResult& holder : holders) {
    const auto [sum, is_new] = sums.try_emplace({place_of(holder), holder.category}, holder);
    if (is_new) continue;
    sum->second.bytes += holder.bytes;
    sum->second.count += holder.count;
  }
  return sums;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Every place that the history of a device has blocks of.
std::set<Place> places_in_history(const VariantResult& variant, const ScenarioResult& scenario,
                                  const std::string& device) {
  std::set<Place> places;
  if (!variant.history) return places;
  std::set<std::uint32_t> sites;
  for (const DeviceMemoryHistory& one : variant.history->devices) {
    if (one.device != device) continue;
    for (const HistoryBlock& block : one.blocks) sites.insert(block.site);
  }
  for (const std::uint32_t index : sites) {
    const HistorySite& site = variant.history->sites[index];
    HolderResult holder;
    holder.op = site.op;
    holder.file = site.file;
    holder.line = site.line;
    const auto line = static_cast<std::size_t>(site.line);
    const bool has_text = site.file == scenario.file && line >= 1 && line <= scenario.source.size();
    if (has_text) holder.text = trimmed(scenario.source[line - 1]);
    places.insert(place_of(holder));
  }
  return places;
}

HolderChange change_of(const HolderResult* before, const HolderResult* after) {
  const HolderResult& shown = after != nullptr ? *after : *before;
  HolderChange change;
  change.category = shown.category;
  change.op = shown.op;
  change.file = shown.file;
  change.line = shown.line;
  change.text = shown.text;
  if (before != nullptr) {
    change.bytes_before = before->bytes;
    change.blocks_before = before->count;
    change.category_before = before->category;
  }
  if (after != nullptr) {
    change.bytes_after = after->bytes;
    change.blocks_after = after->count;
  }
  if (before == nullptr) {
    change.kind = Kind::appeared;
  } else if (after == nullptr) {
    change.kind = Kind::gone;
  } else {
    change.kind = change.change() > 0 ? Kind::grown : Kind::shrunk;
  }
  return change;
}

/// Takes out of both what is there on both sides, and says what differs.
void match_same_category(Holders& before, Holders& after, std::vector<HolderChange>& changes) {
  for (auto one = after.begin(); one != after.end();) {
    const auto other = before.find(one->first);
    if (other == before.end()) {
      ++one;
      continue;
    }
    const bool differs =
        other->second.bytes != one->second.bytes || other->second.count != one->second.count;
    if (differs) changes.push_back(change_of(&other->second, &one->second));
    before.erase(other);
    one = after.erase(one);
  }
}

/// The same bytes of the same place under another category.
void match_other_category(Holders& before, Holders& after, std::vector<HolderChange>& changes) {
  for (auto one = after.begin(); one != after.end();) {
    const auto other = std::find_if(before.begin(), before.end(), [&](const auto& candidate) {
      const bool same_place = !(candidate.first.first < one->first.first) &&
                              !(one->first.first < candidate.first.first);
      return same_place && candidate.second.bytes == one->second.bytes;
    });
    if (other == before.end()) {
      ++one;
      continue;
    }
    changes.push_back(change_of(&other->second, &one->second));
    changes.back().kind = Kind::recategorized;
    before.erase(other);
    one = after.erase(one);
  }
}

std::vector<HolderChange> holder_changes(const DeviceResult& before, const DeviceResult& after,
                                         const std::set<Place>& known_before,
                                         const std::set<Place>& known_after) {
  Holders gone = by_place(before.peak->holders);
  Holders appeared = by_place(after.peak->holders);
  std::vector<HolderChange> changes;
  match_same_category(gone, appeared, changes);
  match_other_category(gone, appeared, changes);
  for (const auto& [key, holder] : appeared) {
    changes.push_back(change_of(nullptr, &holder));
    if (known_before.count(key.first) != 0) changes.back().kind = Kind::moved_into_peak;
  }
  for (const auto& [key, holder] : gone) {
    changes.push_back(change_of(&holder, nullptr));
    if (known_after.count(key.first) != 0) changes.back().kind = Kind::moved_out_of_peak;
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const HolderChange& a, const HolderChange& b) {
                     return std::abs(a.change()) > std::abs(b.change());
                   });
  return changes;
}

constexpr std::array<DeviceFigure, 6> kFigures = {{
    {"peak_allocated_bytes", Unit::bytes, &DeviceResult::peak_allocated_bytes},
    {"peak_reserved_bytes", Unit::bytes, &DeviceResult::peak_reserved_bytes},
    {"allocated_at_end_bytes", Unit::bytes, &DeviceResult::allocated_at_end_bytes},
    {"num_ooms", Unit::count, &DeviceResult::num_ooms},
    {"num_alloc_retries", Unit::count, &DeviceResult::num_alloc_retries},
    {"num_device_alloc", Unit::count, &DeviceResult::num_device_alloc},
}};

constexpr std::array<HostFigure, 2> kHostFigures = {
    {{"peak_host_bytes", &HostResult::peak_allocated_bytes},
     {"pinned_host_bytes", &HostResult::pinned_bytes}}};

DeviceDiff diff_devices(const DeviceResult& before, const DeviceResult& after,
                        const std::set<Place>& known_before, const std::set<Place>& known_after) {
  DeviceDiff diff;
  diff.device = after.device.empty() ? before.device : after.device;
  for (const DeviceFigure& figure : kFigures) {
    FigureChange change{std::string(figure.name), figure.unit, before.*figure.member,
                        after.*figure.member};
    if (change.change() != 0) diff.figures.push_back(change);
  }
  if (before.peak && after.peak) {
    diff.holders = holder_changes(before, after, known_before, known_after);
    if (before.peak->step != after.peak->step) {
      diff.figures.push_back(
          {"step of the peak", Unit::count, before.peak->step, after.peak->step});
    }
  } else {
    diff.unexplained_bytes = after.peak_allocated_bytes - before.peak_allocated_bytes;
  }
  return diff;
}

bool has_difference(const DeviceDiff& diff) {
  return !diff.figures.empty() || !diff.holders.empty();
}

void add_note(VariantDiff& diff, const char* what, std::string_view before,
              std::string_view after) {
  if (before == after) return;
  diff.notes.push_back(std::string(what) + " was " +
                       (before.empty() ? "none" : std::string(before)) + ", is " +
                       (after.empty() ? "none" : std::string(after)));
}

const DeviceResult* find_device(const VariantResult& variant, const std::string& name) {
  const auto found = std::find_if(variant.devices.begin(), variant.devices.end(),
                                  [&](const DeviceResult& one) { return one.device == name; });
  return found == variant.devices.end() ? nullptr : &*found;
}

/// Figures of other rules, settings or cards can be compared; that they are others is said first.
void add_machine_notes(const VariantResult& before, const VariantResult& after, VariantDiff& diff) {
  for (const DeviceResult& device : after.devices) {
    const DeviceResult* const other = find_device(before, device.device);
    if (other == nullptr) continue;
    const auto add = [&](const std::string& what, const std::string& was, const std::string& is) {
      add_note(diff, (what + " of " + device.device).c_str(), was, is);
    };
    add("the profile", other->profile, device.profile);
    add("the capacity", std::to_string(other->capacity_bytes),
        std::to_string(device.capacity_bytes));
    add("the rules", other->rules, device.rules);
    add("the settings", other->alloc_conf, device.alloc_conf);
  }
}

void add_host_figures(const VariantResult& before, const VariantResult& after, VariantDiff& diff) {
  if (!before.host || !after.host) return;
  for (const HostFigure& figure : kHostFigures) {
    const std::int64_t was = (*before.host).*figure.member;
    const std::int64_t is = (*after.host).*figure.member;
    if (was != is) diff.figures.push_back({std::string(figure.name), Unit::bytes, was, is});
  }
}

/// What shrinks from step to step does not grow.
void add_growth(const VariantResult& before, const VariantResult& after, VariantDiff& diff) {
  if (!before.growth_bytes_per_step || !after.growth_bytes_per_step) return;
  const auto was = std::max<std::int64_t>(0, *before.growth_bytes_per_step);
  const auto is = std::max<std::int64_t>(0, *after.growth_bytes_per_step);
  if (was != is) diff.figures.push_back({"growth_bytes_per_step", Unit::bytes, was, is});
}

const ScenarioResult* find_scenario(const RunResult& result, const std::string& name) {
  const auto found = std::find_if(result.scenarios.begin(), result.scenarios.end(),
                                  [&](const ScenarioResult& one) { return one.name == name; });
  return found == result.scenarios.end() ? nullptr : &*found;
}

const VariantResult* find_variant(const ScenarioResult* scenario, const std::string& name) {
  if (scenario == nullptr) return nullptr;
  const auto found = std::find_if(scenario->variants.begin(), scenario->variants.end(),
                                  [&](const VariantResult& one) { return one.name == name; });
  return found == scenario->variants.end() ? nullptr : &*found;
}

/// Scenarios of one variant each, of one name: snapshots are called as their files.
bool are_singles(const RunResult& before, const RunResult& after) {
  const auto single = [](const RunResult& result) -> const VariantResult* {
    const bool is_single =
        result.scenarios.size() == 1 && result.scenarios.front().variants.size() == 1;
    return is_single ? &result.scenarios.front().variants.front() : nullptr;
  };
  const VariantResult* const one = single(before);
  const VariantResult* const other = single(after);
  return one != nullptr && other != nullptr && one->name == other->name;
}

ResultDiff diff_singles(const ScenarioResult& before, const ScenarioResult& after) {
  ResultDiff diff;
  diff.compared = 1;
  VariantDiff one = diff_variants(before.variants.front(), after.variants.front(), before, after);
  if (!one.is_equal()) diff.variants.push_back(std::move(one));
  return diff;
}

}  // namespace

std::string_view name_of(HolderChange::Kind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::span<const DeviceFigure> device_figures() { return kFigures; }
std::span<const HostFigure> host_figures() { return kHostFigures; }

VariantDiff diff_variants(const VariantResult& before, const VariantResult& after,
                          const ScenarioResult& scenario_before,
                          const ScenarioResult& scenario_after) {
  VariantDiff diff;
  diff.scenario = scenario_after.name;
  diff.variant = after.name;
  add_note(diff, "the outcome", name_of(before.outcome), name_of(after.outcome));
  add_note(diff, "the verdict", name_of(before.verdict), name_of(after.verdict));
  add_machine_notes(before, after, diff);
  if (before.steps != after.steps) {
    diff.figures.push_back({"steps", Unit::count, before.steps, after.steps});
  }
  add_growth(before, after, diff);
  add_host_figures(before, after, diff);
  for (const DeviceResult& device : after.devices) {
    const DeviceResult* other = find_device(before, device.device);
    // A device that was not there has done nothing.
    DeviceResult nothing;
    nothing.peak = PeakResult{};
    const DeviceResult& reference = other == nullptr ? nothing : *other;
    DeviceDiff one =
        diff_devices(reference, device, places_in_history(before, scenario_before, device.device),
                     places_in_history(after, scenario_after, device.device));
    if (has_difference(one)) diff.devices.push_back(std::move(one));
  }
  for (const DeviceResult& device : before.devices) {
    if (find_device(after, device.device) != nullptr) continue;
    DeviceResult nothing;
    nothing.peak = PeakResult{};
    nothing.device = device.device;
    DeviceDiff one = diff_devices(device, nothing, {}, {});
    if (has_difference(one)) diff.devices.push_back(std::move(one));
  }
  return diff;
}

ResultDiff diff_results(const RunResult& before, const RunResult& after) {
  if (are_singles(before, after)) {
    return diff_singles(before.scenarios.front(), after.scenarios.front());
  }
  ResultDiff diff;
  const auto add_missing = [&diff](const std::string& scenario, const std::string& variant,
                                   const char* note) {
    diff.variants.push_back({scenario, variant, {note}, {}, {}});
  };
  for (const ScenarioResult& scenario : after.scenarios) {
    const ScenarioResult* other = find_scenario(before, scenario.name);
    for (const VariantResult& variant : scenario.variants) {
      const VariantResult* reference = find_variant(other, variant.name);
      if (reference == nullptr) {
        add_missing(scenario.name, variant.name, "only in the second");
        continue;
      }
      ++diff.compared;
      VariantDiff one = diff_variants(*reference, variant, *other, scenario);
      if (!one.is_equal()) diff.variants.push_back(std::move(one));
    }
  }
  for (const ScenarioResult& scenario : before.scenarios) {
    const ScenarioResult* other = find_scenario(after, scenario.name);
    for (const VariantResult& variant : scenario.variants) {
      if (find_variant(other, variant.name) == nullptr) {
        add_missing(scenario.name, variant.name, "only in the first");
      }
    }
  }
  return diff;
}

}  // namespace ohm::reports

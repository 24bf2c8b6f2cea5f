#include "harness/replay/what_if_runs.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "allocator_shim/replay/capacity_search.h"

namespace ohm::engine {

namespace {

UnservedRequest failure_of(const Rerun& rerun, const WhatIfFailure& failure) {
  UnservedRequest request;
  request.request = failure.request;
  request.bytes = failure.requested_bytes;
  request.message = failure.message;
  if (!failure.request || !rerun.site_of) return request;
  const HistorySite site = rerun.site_of(*failure.request);
  request.op = site.op;
  request.file = site.file;
  request.line = site.line;
  return request;
}

WhatIfRow row_of(const Rerun& rerun, const WhatIf& what_if, const WhatIfOutcome& outcome) {
  WhatIfRow row;
  row.device = rerun.device;
  row.settings = what_if.settings.text;
  if (what_if.capacity_bytes != WhatIf::kEndless) row.capacity_bytes = what_if.capacity_bytes;
  row.change = rerun.change;
  if (outcome.failure) row.failure = failure_of(rerun, *outcome.failure);
  row.retries = static_cast<std::uint64_t>(outcome.retries);
  row.peak_reserved_bytes = outcome.peak_reserved_bytes;
  row.peak_allocated_bytes = outcome.peak_allocated_bytes;
  row.stranded_bytes = outcome.stranded_bytes;
  row.rescued = outcome.rescued;
  return row;
}

/// What fits comes first, then what fits with fewer retries, less reserved, less stranded; of what
/// does not fit, what gets further.
bool is_better(const WhatIfRow& a, const WhatIfRow& b) {
  const auto key = [](const WhatIfRow& row) {
    const std::uint64_t reached = row.fits() ? 0 : row.failure->request.value_or(0);
    return std::tuple(!row.fits(), -static_cast<std::int64_t>(reached), row.retries,
                      row.peak_reserved_bytes, row.stranded_bytes);
  };
  return key(a) < key(b);
}

}  // namespace

void WhatIfRuns::run(const std::vector<Rerun>& reruns) {
  if (asks_what_if()) add_what_ifs(reruns);
  if (!options_.finds_min_capacity) return;
  for (const Rerun& rerun : reruns) {
    for (const AllocatorSettings& settings : settings_for(rerun)) {
      add_min_capacity(rerun, settings);
    }
  }
}

bool WhatIfRuns::asks_what_if() const {
  const bool has_conditions =
      !options_.settings.empty() || options_.memory_fraction || options_.changes_program();
  return !options_.capacities.empty() || (has_conditions && !options_.finds_min_capacity);
}

std::vector<AllocatorSettings> WhatIfRuns::settings_for(const Rerun& rerun) const {
  if (options_.settings.empty()) return {rerun.settings};
  std::vector<AllocatorSettings> all;
  for (const std::string& text : options_.settings) all.push_back(parse_settings(text, rules_));
  return all;
}

WhatIf WhatIfRuns::what_if(const AllocatorSettings& settings, std::size_t capacity) const {
  WhatIf what_if;
  what_if.capacity_bytes = capacity;
  what_if.settings = settings;
  what_if.rules = rules_;
  what_if.memory_fraction = options_.memory_fraction;
  return what_if;
}

void WhatIfRuns::add_what_ifs(const std::vector<Rerun>& reruns) {
  std::vector<std::size_t> capacities = options_.capacities;
  if (capacities.empty()) capacities.push_back(WhatIf::kEndless);
  std::vector<WhatIfRow> rows;
  for (const Rerun& rerun : reruns) {
    for (const std::size_t capacity : capacities) {
      for (const AllocatorSettings& settings : settings_for(rerun)) {
        const WhatIf asked = what_if(settings, capacity);
        rows.push_back(row_of(rerun, asked, rerun.run(asked)));
      }
    }
  }
  std::stable_sort(rows.begin(), rows.end(), is_better);
  if (!rows.front().fits()) result_.exit_reason = ExitReason::failed;
  std::move(rows.begin(), rows.end(), std::back_inserter(result_.what_ifs));
}

void WhatIfRuns::add_min_capacity(const Rerun& rerun, const AllocatorSettings& settings) {
  const CapacitySearch found = find_smallest_capacity(
      [&](std::size_t capacity) { return rerun.run(what_if(settings, capacity)); }, rerun.events);
  MinCapacityRow& row = result_.min_capacities.emplace_back();
  row.device = rerun.device;
  row.settings = settings.text;
  row.change = rerun.change;
  row.without_retry_bytes = found.without_retry_bytes;
  row.with_retries_bytes = found.with_retries_bytes;
  row.every_from_bytes = found.every_from_bytes;
  row.is_certified = found.is_certified;
  row.checked_down_to_bytes = found.checked_down_to_bytes;
  row.runs = found.runs;
  if (!found.with_retries_bytes) result_.exit_reason = ExitReason::failed;
}

}  // namespace ohm::engine

#include "harness/fit/fit_workload.h"

#include <algorithm>

#include "harness/fit/smallest_gpu.h"

namespace ohm::engine {

namespace {

/// A program that fails everywhere is an error of its own, not a value that does not fit.
void refuse_errors(const Probe& probe) {
  if (probe.stop && probe.stop->kind == FitStopKind::error) throw RowError(probe.stop->reason);
}

class RowSearch {
 public:
  RowSearch(FitWorkload& workload, const RowQuestion& question, FitRow& row)
      : workload_(workload), question_(question), row_(row) {}

  // ---- a value ----------------------------------------------------------------------------------

  void find_value() {
    Probes probes([this](std::int64_t value) { return workload_.at_value(value); });
    const std::int64_t room = question_.capacity_bytes - question_.context_bytes;
    const FitRange range = {
        question_.least,
        question_.most,
        room,
        workload_.known_elsewhere(),
        std::nullopt,
        [this, room](std::int64_t value) { return workload_.forecast(value, room); }};
    const bool is_cheap = workload_.has_cheap_runs();
    if (is_cheap && !range.forecast_of(range.most)) refuse_errors(probes.at(range.least));
    const std::optional<std::int64_t> found =
        is_cheap ? safely_fits(probes, range)
                 : largest_that_fits(probes, range, FitRule::on_the_gpu);
    if (!found) return report_no_value(probes, range);
    find_within_limits(probes, range, *found);
    report_value(probes, range, *found);
  }

  // ---- the GPU ----------------------------------------------------------------------------------

  /// Between the peak of what is allocated, which no smaller GPU can hold, and the peak of what is
  /// reserved where nothing is scarce, which every larger one can.
  void find_capacity() {
    constexpr std::int64_t kOnlyValue = 0;
    const std::optional<FitPoint> free = workload_.on_large_gpu(kOnlyValue);
    if (!free) return report_no_capacity();
    const std::int64_t least = std::max<std::int64_t>(free->peak_allocated_bytes / kGranule, 1);
    most_granules_ = (free->peak_reserved_bytes + kGranule - 1) / kGranule;
    // The search is for the largest: it counts the granules that are left out.
    Probes probes([this](std::int64_t left_out) {
      Probe probe = workload_.at_capacity(capacity_without(left_out));
      if (probe.point) probe.point->value = left_out;
      return probe;
    });
    FitRange range = {0, most_granules_ - least, 0, {}, std::nullopt, {}};
    if (workload_.forecasts_capacity()) {
      range.forecast = [this](std::int64_t left_out) {
        return workload_.forecast(kOnlyValue, capacity_without(left_out) - question_.context_bytes);
      };
    }
    const FitRule rule = question_.considers_limits ? FitRule::within_limits : FitRule::on_the_gpu;
    const std::optional<std::int64_t> found = largest_that_fits(probes, range, rule);
    if (found) return report_capacity(probes, range, *found);
    row_.outcome = FitOutcome::none_fits;
    row_.stop = why_not(probes.at(0));
  }

 private:
  static std::optional<FitStop> why_not(const Probe& probe) {
    return probe.stop ? probe.stop : probe.broken;
  }

  void find_within_limits(Probes& probes, FitRange range, std::int64_t on_the_gpu) {
    if (!question_.considers_limits) return;
    range.most = on_the_gpu;
    range.guess = question_.within_limits_elsewhere;
    const auto found = largest_that_fits(probes, range, FitRule::within_limits);
    if (found) row_.best_within_limits = probes.at(*found).point;
    const std::int64_t next = found ? *found + 1 : range.least;
    if (next <= on_the_gpu) row_.limit_stop = probes.at(next).broken;
  }

  void report_value(Probes& probes, const FitRange& range, std::int64_t found) {
    row_.outcome = found == range.most ? FitOutcome::all_fit : FitOutcome::found;
    row_.best = probes.at(found).point;
    if (found < range.most) row_.stop = probes.at(found + 1).stop;
    for (const std::int64_t value : workload_.known_here()) {
      if (value < found) probes.at(value);
    }
    row_.line = line_through(probes, found);
    fill_margin(found, question_.capacity_bytes);
    for (const auto& [value, probe] : probes.all()) {
      if (probe.point) row_.points.push_back(*probe.point);
      if (value > found && probe.point) row_.fits_beyond.push_back(value);
    }
  }

  void report_no_value(Probes& probes, const FitRange& range) {
    const Probe& least = probes.at(range.least);
    if (workload_.has_cheap_runs()) refuse_errors(least);
    row_.outcome = FitOutcome::none_fits;
    row_.stop = least.stop;
    if (!workload_.has_cheap_runs()) return;
    if (const std::optional<FitPoint> point = workload_.on_large_gpu(range.least)) {
      row_.needed_bytes = point->peak_reserved_bytes + question_.context_bytes;
    }
    for (const std::int64_t value : {range.most, range.least + (range.most - range.least) / 2}) {
      if (range.forecast_of(value) != false) probes.at(value);
    }
    for (const auto& [value, probe] : probes.all()) {
      if (probe.point) row_.fits_beyond.push_back(value);
    }
  }

  std::int64_t capacity_without(std::int64_t left_out) const {
    return question_.context_bytes + (most_granules_ - left_out) * kGranule;
  }

  void report_no_capacity() {
    const Probe probe = workload_.at_capacity(static_cast<std::int64_t>(kLargeCapacity));
    refuse_errors(probe);
    row_.outcome = FitOutcome::none_fits;
    row_.stop = probe.stop;
  }

  void report_capacity(Probes& probes, const FitRange& range, std::int64_t found) {
    if (workload_.has_cheap_runs()) try_smaller_gpus(probes, range, found);
    row_.outcome = FitOutcome::found;
    row_.best = probes.at(found).point;
    row_.best->value = capacity_without(found);
    if (found < range.most) row_.stop = why_not(probes.at(found + 1));
    fill_margin(row_.best->value, row_.best->value);
    name_smallest_gpu(row_.best->value - question_.context_bytes, row_);
  }

  void try_smaller_gpus(Probes& probes, const FitRange& range, std::int64_t found) {
    constexpr std::int64_t kMostTried = 16;
    const std::int64_t stride = std::max<std::int64_t>(1, (range.most - found) / kMostTried);
    for (std::int64_t left_out = found + 1; left_out <= range.most; left_out += stride) {
      probes.at(left_out);
    }
    for (const auto& [left_out, probe] : probes.all()) {
      const std::int64_t capacity = capacity_without(left_out);
      if (probe.point && left_out > found) row_.fits_beyond.push_back(capacity);
      if (probe.stop && left_out < found) row_.fails_within.push_back(capacity);
    }
  }

  void fill_margin(std::int64_t value, std::int64_t capacity) {
    FitMargin margin;
    margin.capacity_bytes = capacity;
    margin.context_bytes = question_.context_bytes;
    margin.workspace_bytes = workload_.workspace_bytes(value);
    margin.left_bytes = capacity - margin.context_bytes - row_.best->peak_reserved_bytes;
    row_.margin = margin;
  }

  FitWorkload& workload_;
  const RowQuestion& question_;
  FitRow& row_;
  std::int64_t most_granules_ = 0;  ///< that it takes where nothing is scarce
};

}  // namespace

void search_row(FitWorkload& workload, const RowQuestion& question, FitRow& row) {
  RowSearch search(workload, question, row);
  try {
    if (question.is_of_capacity) {
      search.find_capacity();
    } else {
      search.find_value();
    }
  } catch (const RowError& error) {
    row.outcome = FitOutcome::failed;
    row.error = error.what();
  }
}

}  // namespace ohm::engine

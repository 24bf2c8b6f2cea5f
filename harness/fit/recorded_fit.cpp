#include "harness/fit/recorded_fit.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "allocator_shim/base/bytes.h"
#include "harness/fit/compared_recordings.h"
#include "harness/fit/fit_basis.h"
#include "harness/fit/fit_search.h"
#include "harness/fit/value_prediction.h"

namespace ohm::engine {

namespace {

/// What a process takes beside the allocator on real cards: ohm fit says the same.
constexpr std::int64_t kLeastContext = 300_MiB;
constexpr std::int64_t kMostContext = 600_MiB;

using IsTrue = std::function<bool(std::int64_t)>;

/// The largest value up to `from` for which it is true, in steps that double, then halve.
std::optional<std::int64_t> largest_down_from(std::int64_t from, std::int64_t least,
                                              const IsTrue& is_true) {
  std::int64_t fails = from + 1;
  std::int64_t value = from;
  for (std::int64_t stride = 1; value >= least && !is_true(value); stride *= 2) {
    fails = value;
    value = value == least ? least - 1 : std::max(least, value - stride);
  }
  if (value < least) return std::nullopt;
  while (fails - value > 1) {
    const std::int64_t middle = value + (fails - value) / 2;
    (is_true(middle) ? value : fails) = middle;
  }
  return value;
}

/// The same upwards: `from` is below all that are asked, and known to be true.
std::int64_t largest_up_from(std::int64_t from, std::int64_t most, const IsTrue& is_true) {
  std::int64_t value = from;
  std::int64_t fails = most + 1;
  for (std::int64_t stride = 1; value < most; stride *= 2) {
    const std::int64_t next = std::min(most, value + stride);
    if (!is_true(next)) {
      fails = next;
      break;
    }
    value = next;
  }
  while (fails - value > 1) {
    const std::int64_t middle = value + (fails - value) / 2;
    (is_true(middle) ? value : fails) = middle;
  }
  return value;
}

class CardSearch {
 public:
  CardSearch(const ValuePrediction& prediction, const RecordedFitOptions& options,
             const GpuSelection& gpu)
      : prediction_(prediction),
        options_(options),
        gpu_(gpu),
        capacity_(static_cast<std::int64_t>(gpu.profile.capacity_bytes)),
        context_(static_cast<std::int64_t>(gpu.profile.context_bytes)) {}

  FitRow run(const std::vector<FitPoint>& known) {
    row_.profile = gpu_.profile.name;
    Probes probes([this](std::int64_t value) { return probe(value); });
    const FitRange range = {options_.least, options_.most, capacity_ - context_,
                            known,          std::nullopt,  {}};
    const std::optional<std::int64_t> found = safely_fits(probes, range);
    if (found) {
      take(probes, range, *found);
    } else {
      row_.outcome = FitOutcome::none_fits;
      row_.stop = probes.at(range.least).stop;
      row_.needed_bytes = needed_bytes(range.least);
    }
    row_.bound = bound(found);
    row_.runs = static_cast<std::int64_t>(probes.all().size());
    return std::move(row_);
  }

 private:
  Probe probe(std::int64_t value) const {
    if (capacity_ <= context_) {
      Probe none;
      none.stop = FitStop{value, FitStopKind::out_of_memory, "the context alone does not fit", {}};
      return none;
    }
    return prediction_.probe(value, {static_cast<std::size_t>(capacity_ - context_),
                                     &SizeRange::likely, prediction_.largest()});
  }

  void take(Probes& probes, FitRange range, std::int64_t found) {
    row_.outcome = found == range.most ? FitOutcome::all_fit : FitOutcome::found;
    row_.best = probes.at(found).point;
    if (found < range.most) row_.stop = probes.at(found + 1).stop;
    if (!options_.limits.empty()) {
      range.most = found;
      const auto within = largest_that_fits(probes, range, FitRule::within_limits);
      if (within) row_.best_within_limits = probes.at(*within).point;
      const std::int64_t next = within ? *within + 1 : range.least;
      if (next <= found) row_.limit_stop = probes.at(next).broken;
    }
    row_.line = line_through(probes, found);
    for (const auto& [value, probe] : probes.all()) {
      if (probe.point) row_.points.push_back(*probe.point);
      if (value > found && probe.point) row_.fits_beyond.push_back(value);
    }
    FitMargin margin;
    margin.capacity_bytes = capacity_;
    margin.context_bytes = context_;
    margin.left_bytes = capacity_ - context_ - row_.best->peak_reserved_bytes;
    row_.margin = margin;
  }

  std::optional<std::int64_t> needed_bytes(std::int64_t value) const {
    const Probe endless =
        prediction_.probe(value, {WhatIf::kEndless, &SizeRange::likely, prediction_.largest()});
    if (!endless.point) return std::nullopt;
    return endless.point->peak_reserved_bytes + context_;
  }

  /// The context of a card that was measured is known.
  FitBound bound(const std::optional<std::int64_t>& found) const {
    const bool is_measured = !gpu_.file.empty();
    FitBound bound;
    bound.least_context_bytes = is_measured ? context_ : std::min(kLeastContext, context_);
    bound.most_context_bytes = is_measured ? context_ : std::max(kMostContext, context_);
    const IsTrue surely = [&](std::int64_t value) {
      return prediction_.surely_fits(value, capacity_ - bound.most_context_bytes);
    };
    const IsTrue maybe = [&](std::int64_t value) {
      return prediction_.may_fit(value, capacity_ - bound.least_context_bytes);
    };
    if (found) bound.least = largest_down_from(*found, options_.least, surely);
    const std::int64_t below = found.value_or(options_.least - 1);
    const std::int64_t most = largest_up_from(below, options_.most, maybe);
    if (most >= options_.least) bound.most = most;
    return bound;
  }

  const ValuePrediction& prediction_;
  const RecordedFitOptions& options_;
  const GpuSelection& gpu_;
  std::int64_t capacity_;
  std::int64_t context_;
  FitRow row_;
};

std::string joined_files(const ComparedRecordings& compared) {
  std::string files;
  for (const VariedRecording& recording : compared.recordings()) {
    files += (files.empty() ? "" : ", ") + recording.file;
  }
  return files;
}

/// At the values that were recorded, on a card without an end: a search begins with them.
std::vector<FitPoint> recorded_points(const ComparedRecordings& compared,
                                      const ValuePrediction& prediction) {
  std::vector<FitPoint> points;
  for (const VariedRecording& recording : compared.recordings()) {
    const PredictionTrial trial = {WhatIf::kEndless, &SizeRange::likely, prediction.largest()};
    const Probe probe = prediction.probe(recording.value, trial);
    if (probe.point) points.push_back(*probe.point);
  }
  return points;
}

}  // namespace

FitResult fit_recordings(const RecordedFitOptions& options) {
  const ComparedRecordings compared(options.files, options.values, options.rules);
  const ValuePrediction prediction(compared, options.limits, options.alloc_conf);
  FitResult result;
  result.name = "recordings";
  result.file = joined_files(compared);
  result.varied = options.varied;
  result.least = options.least;
  result.most = options.most;
  result.considers_limits = !options.limits.empty();
  result.rules = compared.rules().name;
  result.alloc_conf = prediction.settings().text;
  const std::vector<FitPoint> known = recorded_points(compared, prediction);
  std::int64_t largest = compared.largest().value;
  for (const GpuSelection& gpu : options.gpus) {
    result.rows.push_back(CardSearch(prediction, options, gpu).run(known));
    FitRow& row = result.rows.back();
    row.variant = result.name;
    row.gpu_count = static_cast<std::int64_t>(compared.gpus());
    if (row.best) largest = std::max(largest, row.best->value);
  }
  result.basis = basis_of(compared, prediction, largest);
  return result;
}

}  // namespace ohm::engine

#include "harness/fit/value_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "reports/history/recorded_sites.h"
#include "reports/history/user_frames.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"

namespace ohm::engine {

namespace {

/// Figures that a replay at another value tells.
bool is_replayed(const Limit& limit) {
  constexpr std::array<std::string_view, 3> kReplayed = {
      "peak_allocated_bytes", "peak_reserved_bytes", "num_alloc_retries"};
  const bool is_known =
      std::find(kReplayed.begin(), kReplayed.end(), limit.measurement->name) != kReplayed.end();
  return is_known && std::all_of(limit.bound.begin(), limit.bound.end(),
                                 [](const BoundTerm& term) { return term.variant.empty(); });
}

std::vector<Limit> parsed_limits(const std::vector<std::string>& texts) {
  std::vector<Limit> limits;
  for (const std::string& text : texts) {
    limits.push_back(parse_limit(text));
    if (is_replayed(limits.back())) continue;
    throw std::invalid_argument(
        fmt::format("limit \"{}\": recordings can only predict peak_allocated_bytes, "
                    "peak_reserved_bytes and num_alloc_retries",
                    text));
  }
  return limits;
}

/// What has no counterpart stays as it is, or grows as much as the value.
SizeRange range_without_law(std::int64_t bytes, std::int64_t recorded_at, std::int64_t value) {
  const auto in_proportion = static_cast<std::int64_t>(
      static_cast<double>(bytes) * static_cast<double>(value) / static_cast<double>(recorded_at));
  const std::int64_t grown = std::max<std::int64_t>(1, in_proportion);
  return {std::min(bytes, grown), grown, std::max(bytes, grown)};
}

}  // namespace

ValuePrediction::ValuePrediction(const ComparedRecordings& compared,
                                 const std::vector<std::string>& limits,
                                 const std::optional<std::string>& alloc_conf)
    : compared_(compared),
      limits_(parsed_limits(limits)),
      settings_(alloc_conf ? parse_settings(*alloc_conf, compared.rules())
                           : compared.largest().gpus.front().history.history().settings) {}

Probe ValuePrediction::probe(std::int64_t value, const PredictionTrial& trial) const {
  Probe probe;
  FitPoint point;
  point.value = value;
  MeasuredVariant measured;
  measured.outcome = Outcome::completed;
  for (std::size_t gpu = 0; gpu < compared_.gpus(); ++gpu) {
    const WhatIfOutcome outcome = replayed(value, trial, gpu);
    if (outcome.failure) {
      probe.stop = stop_of(value, trial.recording, gpu, *outcome.failure);
      return probe;
    }
    measured.devices.push_back(device_of(outcome, gpu));
    const DeviceResult& device = measured.devices.back();
    point.peak_allocated_bytes = std::max(point.peak_allocated_bytes, device.peak_allocated_bytes);
    point.peak_reserved_bytes = std::max(point.peak_reserved_bytes, device.peak_reserved_bytes);
  }
  probe.point = point;
  probe.broken = broken_limit(value, measured);
  return probe;
}

bool ValuePrediction::surely_fits(std::int64_t value, std::int64_t available_bytes) const {
  const std::vector<std::size_t> orders = this->orders();
  return std::all_of(orders.begin(), orders.end(), [&](std::size_t recording) {
    return fits(value, available_bytes, &SizeRange::most, recording);
  });
}

bool ValuePrediction::may_fit(std::int64_t value, std::int64_t available_bytes) const {
  const std::vector<std::size_t> orders = this->orders();
  return std::any_of(orders.begin(), orders.end(), [&](std::size_t recording) {
    return fits(value, available_bytes, &SizeRange::least, recording);
  });
}

std::size_t ValuePrediction::bytes_of(std::size_t recording, std::size_t gpu, std::uint32_t life,
                                      std::int64_t value, SizeChoice choice) const {
  const BlockLife& block = compared_.at(recording, gpu).history.lives().lives[life];
  const auto bytes = static_cast<std::int64_t>(block.requested_bytes);
  if (block.began_before()) return block.requested_bytes;
  const SizeLaw* const law = compared_.matched(gpu).law_of(recording, life);
  const SizeRange range =
      law != nullptr ? law->at(value)
                     : range_without_law(bytes, compared_.recordings()[recording].value, value);
  return static_cast<std::size_t>(range.*choice);
}

std::vector<std::size_t> ValuePrediction::orders() const {
  std::vector<std::size_t> orders = {largest()};
  if (compared_.are_one_sequence()) return orders;
  for (std::size_t i = 0; i < largest(); ++i) orders.push_back(i);
  return orders;
}

bool ValuePrediction::fits(std::int64_t value, std::int64_t available_bytes, SizeChoice choice,
                           std::size_t recording) const {
  if (available_bytes <= 0) return false;
  const PredictionTrial trial = {static_cast<std::size_t>(available_bytes), choice, recording};
  for (std::size_t gpu = 0; gpu < compared_.gpus(); ++gpu) {
    if (!replayed(value, trial, gpu).fits()) return false;
  }
  return true;
}

WhatIfOutcome ValuePrediction::replayed(std::int64_t value, const PredictionTrial& trial,
                                        std::size_t gpu) const {
  const VerifiedHistory& history = compared_.at(trial.recording, gpu).history;
  ChangedProgram program;
  program.end = compared_.matched(gpu).end(trial.recording);
  const std::size_t lives = history.lives().lives.size();
  program.bytes.reserve(lives);
  for (std::uint32_t life = 0; life < lives; ++life) {
    program.bytes.push_back(bytes_of(trial.recording, gpu, life, value, trial.choice));
  }
  WhatIf what_if;
  what_if.capacity_bytes = trial.available_bytes;
  what_if.settings = settings_;
  what_if.rules = compared_.rules();
  return run_elsewhere(history, what_if, program);
}

DeviceResult ValuePrediction::device_of(const WhatIfOutcome& outcome, std::size_t gpu) const {
  DeviceResult device;
  device.device = fmt::format("cuda:{}", compared_.at(0, gpu).history.history().device);
  device.peak_allocated_bytes = static_cast<std::int64_t>(outcome.peak_allocated_bytes);
  device.peak_reserved_bytes = static_cast<std::int64_t>(outcome.peak_reserved_bytes);
  device.num_alloc_retries = outcome.retries;
  return device;
}

std::optional<FitStop> ValuePrediction::broken_limit(std::int64_t value,
                                                     const MeasuredVariant& measured) const {
  for (const Limit& limit : limits_) {
    const LimitResult result = evaluate(limit, {&measured, nullptr}, [](const std::string&) {
                                 return MeasurementSource{};
                               }).result;
    if (result.holds == true) continue;
    return FitStop{value, FitStopKind::limit, reports::limit_sentence(result), result};
  }
  return std::nullopt;
}

FitStop ValuePrediction::stop_of(std::int64_t value, std::size_t recording, std::size_t gpu,
                                 const WhatIfFailure& failure) const {
  if (!failure.request) return {value, FitStopKind::out_of_memory, failure.message, {}};
  const RecordedGpu& recorded = compared_.at(recording, gpu);
  const Snapshot& snapshot = compared_.recordings()[recording].snapshot;
  const int device = recorded.history.history().device;
  const std::vector<std::uint32_t>& ends = recorded.step_ends;
  OomResult oom;
  oom.step = ends.empty()
                 ? 0
                 : std::upper_bound(ends.begin(), ends.end(), *failure.request) - ends.begin() + 1;
  oom.device = fmt::format("cuda:{}", device);
  oom.requested_bytes = static_cast<std::int64_t>(failure.requested_bytes);
  reports::RecordedSites sites(snapshot.tables, /*has_stacks=*/true,
                               reports::user_files_of(snapshot));
  const TraceEntry& entry =
      snapshot.device_traces[static_cast<std::size_t>(device)][*failure.request];
  const HistorySite& site = sites.at(sites.of(entry.stack));
  oom.op = site.op;
  oom.file = site.file;
  oom.line = site.line;
  return {value, FitStopKind::out_of_memory, reports::oom_sentence(oom), {}};
}

}  // namespace ohm::engine

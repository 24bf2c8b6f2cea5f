#include "harness/gate/gate_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/history/lines_of_blocks.h"
#include "reports/text/measured_text.h"

namespace ohm::engine {

namespace {

constexpr std::string_view kGrowth = "growth_bytes_per_step";

const VariantResult& variant_of(const reports::RecordedRun& recorded) {
  return recorded.result.scenarios.front().variants.front();
}

CauseResult cause(std::string_view figure, const std::string& device, std::string what,
                  std::vector<CauseLine> lines) {
  CauseResult cause{std::string(figure), device, std::move(what), {}, 0, 0};
  for (std::size_t i = CauseResult::kMostLines; i < lines.size(); ++i) {
    ++cause.other_lines;
    cause.other_bytes += lines[i].increase();
  }
  lines.resize(std::min(lines.size(), CauseResult::kMostLines));
  cause.lines = std::move(lines);
  return cause;
}

std::int64_t sum_of(const std::vector<CauseLine>& lines) {
  std::int64_t sum = 0;
  for (const CauseLine& line : lines) sum += line.bytes;
  return sum;
}

/// By what the user's lines have, on the device that has most of it, or the one that is asked for.
template <class Measure>
std::optional<std::size_t> device_of(const Limit& limit, const reports::RecordedRun& recorded,
                                     const Measure& measure) {
  const std::vector<DeviceResult>& devices = variant_of(recorded).devices;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (limit.gpu && devices[i].device != fmt::format("cuda:{}", *limit.gpu)) continue;
    if (!found || measure(i) > measure(*found)) found = i;
  }
  return found;
}

std::optional<Category> category_of(std::string_view measurement) {
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    if (measurement == fmt::format("peak_{}_bytes", kCategoryNames[i])) {
      return static_cast<Category>(i);
    }
  }
  return std::nullopt;
}

std::vector<HolderResult> of_category(std::vector<HolderResult> holders, Category category) {
  std::erase_if(holders, [&](const HolderResult& one) { return one.category != category; });
  return holders;
}

std::optional<CauseResult> of_peak(const Limit& limit, const reports::RecordedRun& recorded) {
  const std::vector<DeviceResult>& devices = variant_of(recorded).devices;
  const std::string_view name = limit.measurement->name;
  const auto category = category_of(name);
  const bool is_reserved = name == "peak_reserved_bytes";
  const auto index = device_of(limit, recorded, [&](std::size_t i) {
    if (category) return devices[i].peak_by_category[static_cast<std::size_t>(*category)];
    return is_reserved ? devices[i].peak_reserved_bytes : devices[i].peak_allocated_bytes;
  });
  if (!index || !devices[*index].peak || !recorded.has_breakdown) return std::nullopt;
  const DeviceResult& device = devices[*index];
  const auto lines = reports::lines_of_holders(
      category ? of_category(device.peak->holders, *category) : device.peak->holders);
  std::string what = fmt::format("alive at the peak of {}: {}{}, made by", device.device,
                                 reports::short_bytes(sum_of(lines)),
                                 category ? fmt::format(" of {}", name_of(*category)) : "");
  if (is_reserved) {
    what = fmt::format("{} reserved {} at its peak; allocated at its peak were {}, made by",
                       device.device, reports::short_bytes(device.peak_reserved_bytes),
                       reports::short_bytes(device.peak_allocated_bytes));
  }
  return cause(name, device.device, std::move(what), lines);
}

CauseResult of_growth(const std::string& device, const std::vector<CauseLine>& lines) {
  return cause(kGrowth, device,
               fmt::format("{} has more at the end of the step that grows most, made by", device),
               lines);
}

std::optional<CauseResult> growth_of(const Limit& limit, const reports::RecordedRun& recorded) {
  const auto index =
      device_of(limit, recorded, [&](std::size_t i) { return sum_of(recorded.grown[i]); });
  if (!index || recorded.grown.size() <= *index) return std::nullopt;
  return of_growth(variant_of(recorded).devices[*index].device, recorded.grown[*index]);
}

std::optional<CauseResult> of_end(const Limit& limit, const reports::RecordedRun& recorded) {
  const auto index =
      device_of(limit, recorded, [&](std::size_t i) { return sum_of(recorded.left[i]); });
  if (!index) return std::nullopt;
  const std::string& device = variant_of(recorded).devices[*index].device;
  return cause(limit.measurement->name, device,
               fmt::format("still allocated on {} at the end, made by", device),
               recorded.left[*index]);
}

std::optional<CauseResult> of_out_of_memory(std::string_view figure,
                                            const reports::RecordedRun& recorded) {
  const auto& oom = variant_of(recorded).oom;
  if (!oom) return std::nullopt;
  return cause(figure, oom->device,
               fmt::format("alive on {} when memory ran out, made by", oom->device),
               reports::lines_of_holders(oom->holders));
}

std::optional<CauseResult> of_host(const Limit& limit, const reports::RecordedRun& recorded) {
  const auto& host = variant_of(recorded).host;
  if (!host || !host->peak) return std::nullopt;
  return cause(limit.measurement->name, "host", "alive at the peak, made by",
               reports::lines_of_holders(host->peak->holders));
}

bool is_recorded(const reports::RecordedRun& recorded) {
  return recorded.grown.size() == variant_of(recorded).devices.size();
}

/// Lines that have more, each once, whatever its categories.
std::vector<CauseLine> increases_of(const reports::DeviceDiff& diff) {
  std::map<std::pair<std::string, int>, CauseLine> sums;
  for (const reports::HolderChange& change : diff.holders) {
    CauseLine& line = sums[{change.file, change.line}];
    line.file = change.file;
    line.line = change.line;
    if (line.op.empty() || change.change() > line.increase()) line.op = change.op;
    if (line.text.empty()) line.text = change.text;
    line.bytes += change.bytes_after;
    line.before_bytes = line.before_bytes.value_or(0) + change.bytes_before;
    line.count += change.blocks_after;
  }
  std::vector<CauseLine> lines;
  for (auto& [place, line] : sums) {
    if (line.increase() > 0) lines.push_back(std::move(line));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const CauseLine& a, const CauseLine& b) {
    return a.increase() > b.increase();
  });
  return lines;
}

}  // namespace

std::optional<CauseResult> cause_of_limit(const Limit& limit,
                                          const reports::RecordedRun& recorded) {
  const std::string_view name = limit.measurement->name;
  if (name == "peak_host_bytes") return of_host(limit, recorded);
  if (!is_recorded(recorded)) return std::nullopt;
  if (name == kGrowth) return growth_of(limit, recorded);
  if (name == "allocated_at_end_bytes") return of_end(limit, recorded);
  if (name == "num_ooms") return of_out_of_memory(name, recorded);
  const bool is_peak = name.starts_with("peak_") && name.ends_with("_bytes");
  return is_peak ? of_peak(limit, recorded) : std::nullopt;
}

std::optional<CauseResult> cause_of_increase(std::string_view figure,
                                             const reports::VariantDiff& diff,
                                             const reports::RecordedRun& recorded) {
  const std::size_t blank = figure.rfind(' ');
  const std::string_view name = blank == std::string_view::npos ? figure : figure.substr(blank + 1);
  const std::string_view of =
      blank == std::string_view::npos ? std::string_view() : figure.substr(0, blank);
  if (is_recorded(recorded) && name == kGrowth) {
    const Limit growth{std::string(name), &find_measurement(kGrowth), {}, {}, {}};
    return growth_of(growth, recorded);
  }
  if (name == "num_ooms") return of_out_of_memory(name, recorded);
  for (const reports::DeviceDiff& device : diff.devices) {
    if (device.device != of) continue;
    auto lines = increases_of(device);
    if (lines.empty()) return std::nullopt;
    return cause(name, device.device,
                 fmt::format("at the peak of {}, more is alive than in the baseline, made by",
                             device.device),
                 std::move(lines));
  }
  return std::nullopt;
}

}  // namespace ohm::engine

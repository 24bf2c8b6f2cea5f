#include "reports/text/limit_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

std::string human(std::int64_t bytes) {
  return short_figure(static_cast<double>(bytes), Unit::bytes);
}

}  // namespace

std::int64_t peak_bytes(const VariantResult& variant) {
  std::int64_t peak = 0;
  for (const DeviceResult& device : variant.devices) {
    peak = std::max(peak, device.peak_allocated_bytes);
  }
  return peak;
}

std::vector<LimitLine> limit_lines(const ScenarioResult& scenario) {
  std::vector<LimitLine> lines;
  const auto add = [&lines](LimitLine line) {
    const auto same = [&](const LimitLine& one) {
      return one.bytes == line.bytes && one.is_capacity == line.is_capacity;
    };
    if (line.bytes > 0 && std::none_of(lines.begin(), lines.end(), same)) {
      lines.push_back(std::move(line));
    }
  };
  for (const VariantResult& variant : scenario.variants) {
    for (const DeviceResult& device : variant.devices) {
      add({device.capacity_bytes, "capacity of the GPU, " + human(device.capacity_bytes), true});
    }
  }
  for (const VariantResult& variant : scenario.variants) {
    for (const LimitResult& limit : variant.limits) {
      const bool is_of_peak = limit.limit.starts_with("peak_allocated_bytes") && limit.bound &&
                              std::abs(*limit.bound) < 0x1p63;
      if (!is_of_peak) continue;
      const auto bound = static_cast<std::int64_t>(*limit.bound);
      add({bound, fmt::format("limit {} ({})", limit.limit, human(bound)), false});
    }
  }
  return lines;
}

std::map<int, std::int64_t> bytes_by_line(const VariantResult& variant, const std::string& file) {
  std::map<int, std::int64_t> lines;
  for (const DeviceResult& device : variant.devices) {
    if (!device.peak) continue;
    for (const HolderResult& holder : device.peak->holders) {
      if (holder.file == file && holder.line > 0) lines[holder.line] += holder.bytes;
    }
  }
  return lines;
}

std::size_t lead_variant(const ScenarioResult& scenario) {
  const std::vector<VariantResult>& variants = scenario.variants;
  const auto comes_before = [](const VariantResult& a, const VariantResult& b) {
    const bool is_problem = a.role == Role::problem;
    if (is_problem != (b.role == Role::problem)) return !is_problem;
    return peak_bytes(a) < peak_bytes(b);
  };
  // Of equals the first.
  const auto lead = std::max_element(variants.begin(), variants.end(), comes_before);
  return static_cast<std::size_t>(lead - variants.begin());
}

}  // namespace ohm::reports

#include "harness/judge/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/judge/equivalence.h"

namespace ohm::engine {

namespace {

Measured figure(double value) { return {value, false, {}}; }
Measured no_figure(std::string why_not) { return {std::nullopt, false, std::move(why_not)}; }
Measured needs_values() {
  return {std::nullopt, true, "not checked: values are not computed on size-only devices"};
}

using DeviceField = std::int64_t DeviceResult::*;

const DeviceResult* device_at(const MeasuredVariant& variant, int gpu) {
  const auto index = static_cast<std::size_t>(gpu);
  return index < variant.devices.size() ? &variant.devices[index] : nullptr;
}

Measured no_such_gpu(int gpu, const MeasuredVariant& variant) {
  return no_figure(fmt::format("there is no cuda:{}, the scenario runs on {} GPU{}", gpu,
                               variant.devices.size(), variant.devices.size() == 1 ? "" : "s"));
}

template <DeviceField Field>
Measured largest_of_devices(const MeasurementSource& source, std::optional<int> gpu) {
  const MeasuredVariant& variant = *source.variant;
  std::int64_t largest = 0;
  if (gpu) {
    const DeviceResult* device = device_at(variant, *gpu);
    if (device == nullptr) return no_such_gpu(*gpu, variant);
    return figure(static_cast<double>(device->*Field));
  }
  for (const DeviceResult& device : variant.devices) largest = std::max(largest, device.*Field);
  return figure(static_cast<double>(largest));
}

template <DeviceField Field>
Measured sum_of_devices(const MeasurementSource& source, std::optional<int> gpu) {
  if (gpu) return largest_of_devices<Field>(source, gpu);
  std::int64_t sum = 0;
  for (const DeviceResult& device : source.variant->devices) sum += device.*Field;
  return figure(static_cast<double>(sum));
}

/// Of the peak, what one category was; the maximum over the GPUs.
template <Category C>
Measured largest_at_peak(const MeasurementSource& source, std::optional<int> gpu) {
  const MeasuredVariant& variant = *source.variant;
  if (gpu && device_at(variant, *gpu) == nullptr) return no_such_gpu(*gpu, variant);
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < variant.devices.size(); ++i) {
    if (gpu && static_cast<std::size_t>(*gpu) != i) continue;
    largest = std::max(largest, variant.devices[i].peak_by_category[static_cast<std::size_t>(C)]);
  }
  return figure(static_cast<double>(largest));
}

/// The first two steps warm up (gradients, optimizer state, the cache): growth counts after them.
constexpr std::size_t kFirstGrowingMark = 2;

std::optional<std::int64_t> largest_growth(const std::vector<std::int64_t>& allocated) {
  std::optional<std::int64_t> largest;
  for (std::size_t k = kFirstGrowingMark; k < allocated.size(); ++k) {
    const std::int64_t growth = allocated[k] - allocated[k - 1];
    largest = std::max(growth, largest.value_or(growth));
  }
  return largest;
}

Measured growth_per_step(const MeasurementSource& source, std::optional<int> gpu) {
  const MeasuredVariant& variant = *source.variant;
  if (gpu && device_at(variant, *gpu) == nullptr) return no_such_gpu(*gpu, variant);
  std::optional<std::int64_t> largest;
  for (std::size_t i = 0; i < variant.allocated_at_marks.size(); ++i) {
    if (gpu && static_cast<std::size_t>(*gpu) != i) continue;
    const std::optional<std::int64_t> growth = largest_growth(variant.allocated_at_marks[i]);
    if (growth) largest = std::max(*growth, largest.value_or(*growth));
  }
  if (largest) return figure(static_cast<double>(*largest));
  return no_figure(fmt::format("growth needs at least {} marks of ohm.step(), there {} {}",
                               kFirstGrowingMark + 1, variant.steps == 1 ? "was" : "were",
                               variant.steps));
}

Measured count_steps(const MeasurementSource& source, std::optional<int> /*gpu*/) {
  return figure(static_cast<double>(source.variant->steps));
}

template <std::int64_t HostResult::*Field>
Measured host_figure(const MeasurementSource& source, std::optional<int> /*gpu*/) {
  return figure(static_cast<double>(source.variant->host.*Field));
}

Measured imbalance(const MeasurementSource& source, std::optional<int> /*gpu*/) {
  std::vector<double> peaks;
  for (const DeviceResult& device : source.variant->devices) {
    const auto peak = static_cast<double>(device.peak_allocated_bytes);
    if (peak > 0) peaks.push_back(peak);
  }
  if (peaks.empty()) return no_figure("no GPU was used");
  const auto [smallest, largest] = std::minmax_element(peaks.begin(), peaks.end());
  return figure(*largest / *smallest);
}

Measured count_non_finite(const MeasurementSource& source, std::optional<int> /*gpu*/) {
  const MeasuredVariant& variant = *source.variant;
  if (variant.outcome != Outcome::completed) return no_figure("it returned no values");
  if (variant.values.empty()) return no_figure("it returns nothing");
  double count = 0;
  for (const auto& [name, value] : variant.values) {
    if (!value.has_values) return needs_values();
    const auto is_not_finite = [](double element) { return !std::isfinite(element); };
    count +=
        static_cast<double>(std::count_if(value.values.begin(), value.values.end(), is_not_finite));
  }
  return figure(count);
}

Measured error_vs_reference(const MeasurementSource& source, std::optional<int> /*gpu*/) {
  const MeasuredVariant& variant = *source.variant;
  if (variant.outcome != Outcome::completed) return no_figure("it returned no values");
  if (source.reference == nullptr) return no_figure("there is no reference that completed");
  RelativeError error = largest_relative_error(variant.values, source.reference->values);
  if (error.value) return figure(*error.value);
  return error.why_not.empty() ? needs_values() : no_figure(std::move(error.why_not));
}

constexpr std::array<Measurement, 20> kMeasurements = {{
    {"peak_allocated_bytes", Unit::bytes, true, false, InSnapshot::figure,
     "most memory in blocks handed out; the maximum over the GPUs",
     largest_of_devices<&DeviceResult::peak_allocated_bytes>},
    {"peak_parameter_bytes", Unit::bytes, true, false, InSnapshot::figure, "parameters at the peak",
     largest_at_peak<Category::parameter>},
    {"peak_gradient_bytes", Unit::bytes, true, false, InSnapshot::figure, "gradients at the peak",
     largest_at_peak<Category::gradient>},
    {"peak_optimizer_state_bytes", Unit::bytes, true, false, InSnapshot::figure,
     "optimizer state and temporaries at the peak", largest_at_peak<Category::optimizer_state>},
    {"peak_activation_bytes", Unit::bytes, true, false, InSnapshot::figure,
     "results of ops at the peak", largest_at_peak<Category::activation>},
    {"peak_input_bytes", Unit::bytes, true, false, InSnapshot::figure,
     "results of factories and copies from the host at the peak", largest_at_peak<Category::input>},
    {"peak_workspace_bytes", Unit::bytes, true, false, InSnapshot::figure,
     "workspaces of libraries at the peak", largest_at_peak<Category::workspace>},
    {"peak_other_bytes", Unit::bytes, true, false, InSnapshot::figure, "anything else at the peak",
     largest_at_peak<Category::other>},
    {"peak_reserved_bytes", Unit::bytes, true, false, InSnapshot::figure,
     "most memory in segments, cache included; the maximum over the GPUs",
     largest_of_devices<&DeviceResult::peak_reserved_bytes>},
    {"allocated_at_end_bytes", Unit::bytes, true, false, InSnapshot::figure,
     "still allocated after the function returned; the maximum over the GPUs",
     largest_of_devices<&DeviceResult::allocated_at_end_bytes>},
    {"growth_bytes_per_step", Unit::bytes, true, false, InSnapshot::slope,
     "largest growth from one ohm.step() to the next after the second; the maximum over the GPUs",
     growth_per_step},
    {"num_ooms", Unit::count, true, false, InSnapshot::figure,
     "out-of-memory errors, caught ones included; the sum over the GPUs",
     sum_of_devices<&DeviceResult::num_ooms>},
    {"num_alloc_retries", Unit::count, true, false, InSnapshot::counter,
     "segments obtained only after the cache was flushed; the sum over the GPUs",
     sum_of_devices<&DeviceResult::num_alloc_retries>},
    {"num_device_alloc", Unit::count, true, false, InSnapshot::figure,
     "segments obtained (cudaMalloc); the sum over the GPUs",
     sum_of_devices<&DeviceResult::num_device_alloc>},
    {"peak_host_bytes", Unit::bytes, false, false, InSnapshot::host,
     "most host memory of tensors, or of a program, pinned memory included",
     host_figure<&HostResult::peak_allocated_bytes>},
    {"pinned_host_bytes", Unit::bytes, false, false, InSnapshot::absent,
     "pinned memory obtained from the host (cudaHostAlloc)",
     host_figure<&HostResult::pinned_bytes>},
    {"steps", Unit::count, false, false, InSnapshot::figure, "marks of ohm.step()", count_steps},
    {"imbalance", Unit::ratio, false, false, InSnapshot::figure,
     "largest peak_allocated_bytes over the smallest, of the GPUs used", imbalance},
    {"non_finite", Unit::count, false, false, InSnapshot::absent,
     "infinite or NaN elements in the returned values", count_non_finite},
    {"error_vs_reference", Unit::ratio, false, true, InSnapshot::absent,
     "largest error of a returned value against the reference, relative to its largest magnitude",
     error_vs_reference},
}};

}  // namespace

std::span<const Measurement> measurements() { return kMeasurements; }

const Measurement& find_measurement(std::string_view name) {
  std::vector<std::string> known;
  for (const Measurement& measurement : kMeasurements) {
    if (measurement.name == name) return measurement;
    known.emplace_back(measurement.name);
  }
  const std::string suggestion = did_you_mean(name, known);
  throw std::invalid_argument(fmt::format(
      "unknown measurement \"{}\"{}", name,
      suggestion.empty() ? fmt::format("; known: {}", fmt::join(known, ", ")) : suggestion));
}

}  // namespace ohm::engine

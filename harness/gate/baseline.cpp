#include "harness/gate/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "allocator_shim/fault/fault_point.h"
#include "harness/gate/machine_text.h"
#include "harness/process/shell_quote.h"
#include "harness/scenario/scenario_program.h"
#include "harness/scenario/source_file.h"
#include "reports/history/result_diff.h"
#include "reports/text/json_text.h"

namespace ohm::engine {

namespace {

using Json = nlohmann::json;

std::string holder_lines(const DeviceResult& device, const std::filesystem::path& folder) {
  std::vector<std::string> lines;
  for (const HolderResult& holder : device.peak->holders) {
    // As seen from the scenario, wherever it is run from. A line that moves is the same line: its
    // number stands for it only where its text is not known.
    const std::string file =
        std::filesystem::path(holder.file).lexically_proximate(folder).string();
    Json place = {holder.op, holder.file.empty() ? "" : file, holder.text};
    if (holder.text.empty() && holder.line > 0) place.push_back(holder.line);
    lines.push_back(fmt::format("  {} holds {} in {} {} {}\n", device.device, holder.bytes,
                                holder.count, name_of(holder.category), reports::json_line(place)));
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

/// Names and shapes are JSON: a script can give a value any name.
std::string value_line(const ValueResult& value) {
  const Json head = {value.name, value.dtype, value.shape};
  std::string line = "  value " + reports::json_line(head);
  if (!value.digest.empty()) line += " digest " + value.digest;
  if (value.norm) line += fmt::format(" norm {:.9g}", *value.norm);
  if (value.projection) line += fmt::format(" projection {:.9g}", *value.projection);
  if (value.non_finite > 0) line += fmt::format(" non_finite {}", value.non_finite);
  return line + "\n";
}

std::string variant_text(const std::string& name, const BaselineVariant& variant,
                         const std::filesystem::path& folder) {
  const VariantResult& figures = variant.figures;
  std::string out = fmt::format("\nvariant {}\n  machine {}\n  outcome {}\n  steps {}\n", name,
                                variant.machine, name_of(figures.outcome), figures.steps);
  if (!figures.comparison.empty()) out += fmt::format("  comparison {}\n", figures.comparison);
  for (const LimitResult& limit : figures.limits) out += fmt::format("  limit {}\n", limit.limit);
  for (const ValueResult& value : figures.values) out += value_line(value);
  for (const reports::HostFigure& figure : reports::host_figures()) {
    if (!figures.host) break;
    out += fmt::format("  {} {}\n", figure.name, (*figures.host).*figure.member);
  }
  for (const DeviceResult& device : figures.devices) {
    for (const reports::DeviceFigure& figure : reports::device_figures()) {
      out += fmt::format("  {} {} {}\n", device.device, figure.name, device.*figure.member);
    }
    if (device.peak) out += holder_lines(device, folder);
  }
  return out;
}

}  // namespace

std::string baseline_path(const std::string& scenario_file) {
  return std::filesystem::path(scenario_file).replace_extension(".baseline").string();
}

std::string source_digest(const std::string& scenario_file) {
  if (!scenario_file.ends_with(".lua")) return {};
  try {
    return fmt::format("{:016x}", PointHash().add(read_source_file(scenario_file)).value());
  } catch (const ScriptError&) {
    return {};
  }
}

std::string source_change(const Baseline& baseline, const std::string& scenario_file) {
  const std::string now = source_digest(scenario_file);
  if (baseline.source.empty() || now.empty() || baseline.source == now) return {};
  return fmt::format(
      "{} has changed since its baseline was made; if that is meant, ohm baseline update {} "
      "approves what it does now",
      scenario_file, shell_quoted(scenario_file));
}

Baseline baseline_of(const ScenarioResult& scenario, std::uint64_t seed) {
  Baseline baseline;
  baseline.source = source_digest(scenario.file);
  for (const VariantResult& variant : scenario.variants) {
    if (!has_end_of_its_own(variant.outcome)) continue;
    baseline.variants[variant.name] = {machine_text(variant, seed), variant};
  }
  return baseline;
}

std::string baseline_text(const Baseline& baseline, const std::string& scenario_file) {
  std::string out = fmt::format(
      "{}\n# What the variants of {} allocate, return and are held to; ohm baseline update writes "
      "it.\n",
      kBaselineFormat, std::filesystem::path(scenario_file).filename().string());
  const std::filesystem::path folder = std::filesystem::path(scenario_file).parent_path();
  if (!baseline.source.empty()) out += fmt::format("source {}\n", baseline.source);
  for (const auto& [name, variant] : baseline.variants) out += variant_text(name, variant, folder);
  return out;
}

Baseline read_baseline(const std::string& path) {
  try {
    InputFile file(path);
    return read_baseline(file, path);
  } catch (const std::system_error& error) {
    throw BaselineError(fmt::format("cannot read {}: {}", path, error.code().message()));
  }
}

Baseline read_baseline(InputFile& file, const std::string& path) {
  try {
    return parse_baseline(file.rest(), path);
  } catch (const BaselineError& error) {
    throw BaselineError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace ohm::engine

#include "harness/run/rerun_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/process/shell_quote.h"

namespace ohm::engine {

namespace {

/// Allocator settings that are the run's and not the scenario's.
std::optional<std::string> brought_alloc_conf(const RunOptions& options,
                                              const ScenarioDescription& scenario,
                                              const std::string& name) {
  if (options.alloc_conf) return options.alloc_conf;
  const auto described =
      std::find_if(scenario.variants.begin(), scenario.variants.end(),
                   [&](const VariantDescription& variant) { return variant.name == name; });
  const bool has_gpu = described != scenario.variants.end() && described->gpu;
  const GpuSpec& gpu = has_gpu ? *described->gpu : scenario.gpu;
  if (gpu.alloc_conf || options.environment_alloc_conf.empty()) return std::nullopt;
  return options.environment_alloc_conf;
}

}  // namespace

std::string rerun_command(const RunOptions& options, const std::string& path,
                          const ScenarioDescription& scenario, const std::string& variant,
                          const std::string& fault) {
  RunOptions repeated = options;
  repeated.alloc_conf = brought_alloc_conf(options, scenario, variant);
  repeated.fault = fault;
  repeated.parameters.clear();
  for (const ScenarioParameter& parameter : scenario.parameters) {
    if (options.parameters.count(parameter.name) == 0) continue;
    repeated.parameters[parameter.name] = parameter.value;
  }
  std::string command =
      fmt::format("ohm run {} --case {}", shell_quoted(path), shell_quoted(variant));
  for (const RunOptionRow& row : kRunOptionRows) {
    for (const std::string& value : given_values(row, repeated)) {
      command += fmt::format(" {}", row.flag);
      if (!row.value_name.empty()) command += " " + shell_quoted(value);
    }
  }
  return command;
}

}  // namespace ohm::engine

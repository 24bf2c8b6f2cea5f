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
  std::string command =
      fmt::format("ohm run {} --case {}", shell_quoted(path), shell_quoted(variant));
  if (!options.gpu_text.empty()) command += " --gpu " + shell_quoted(options.gpu_text);
  if (options.cuda && options.cuda->limit_bytes) {
    command += fmt::format(" --limit {}B", *options.cuda->limit_bytes);
  }
  if (options.size_only) command += " --size-only";
  if (const std::optional<std::string> alloc_conf =
          brought_alloc_conf(options, scenario, variant)) {
    command += " --alloc-conf " + shell_quoted(*alloc_conf);
  }
  if (!options.rules.empty()) command += " --rules " + options.rules;
  for (const ScenarioParameter& parameter : scenario.parameters) {
    if (options.parameters.count(parameter.name) == 0) continue;
    command += fmt::format(" --set {}={:.17g}", parameter.name, parameter.value);
  }
  if (!fault.empty()) command += " --fault " + shell_quoted(fault);
  if (options.seed != 0) command += fmt::format(" --seed {}", options.seed);
  const RunOptions defaults;
  if (options.timeout_seconds != defaults.timeout_seconds) {
    command += fmt::format(" --timeout {}", options.timeout_seconds);
  }
  if (options.caps.instructions != defaults.caps.instructions) {
    command += fmt::format(" --instructions {}", options.caps.instructions);
  }
  if (options.caps.memory_bytes != defaults.caps.memory_bytes) {
    command += fmt::format(" --script-memory {}B", options.caps.memory_bytes);
  }
  return command;
}

}  // namespace ohm::engine

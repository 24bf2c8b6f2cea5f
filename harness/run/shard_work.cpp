#include "harness/run/shard_work.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "allocator_shim/fault/fault_point.h"
#include "harness/checkpoint/program_fingerprint.h"
#include "harness/gate/baseline.h"
#include "harness/scenario/required_modules.h"
#include "harness/scenario/source_file.h"

namespace ohm::engine {

namespace {

/// Empty for a file that cannot be read: its scenario is an error anyway.
std::string hash_of(const std::string& path) {
  try {
    return fmt::format("{:016x}", PointHash().add(read_source_file(path)).value());
  } catch (const ScriptError&) {
    return {};
  }
}

/// The files that were given, each with its baseline where one is compared, then the modules that
/// they require.
std::vector<ShardInput> inputs_of(const RunOptions& options) {
  std::vector<ShardInput> inputs;
  std::set<std::string> modules;
  for (const std::string& file : options.files) {
    inputs.push_back({file, hash_of(file)});
    const std::string baseline = baseline_path(file);
    const std::string hash = options.checks_baselines ? hash_of(baseline) : std::string();
    if (!hash.empty()) inputs.push_back({baseline, hash});
    const std::vector<std::string> required = required_modules(file);
    modules.insert(required.begin(), required.end());
  }
  for (const std::string& module : modules) inputs.push_back({module, hash_of(module)});
  return inputs;
}

std::string gpu_of(const RunOptions& options) {
  if (!options.gpu) return options.gpu_text;
  return fmt::format("{}, {}", options.gpu_text, gpu_setting(*options.gpu));
}

/// In any order they select the same.
std::string cases_of(const Selection& selection) {
  const std::set<std::string> cases(selection.cases.begin(), selection.cases.end());
  return fmt::format("{}", fmt::join(cases, ", "));
}

/// "--alloc-conf" is "alloc_conf".
std::string name_of(const RunOptionRow& row) {
  std::string name(row.flag.substr(2));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::map<std::string, std::string> settings_of(const RunOptions& options) {
  std::map<std::string, std::string> settings = {
      {"environment_alloc_conf", options.environment_alloc_conf},
      {"cases", cases_of(options.selection)},
      {"filter", options.selection.filter},
      {"fail_fast", options.fail_fast ? "true" : "false"},
      {"timestamps", options.timestamps ? "true" : "false"},
      {"version", OHM_VERSION},
      {"history", options.recording == Recording::history ? "true" : "false"},
      {"require_baseline", options.requires_baselines ? "true" : "false"}};
  for (const RunOptionRow& row : kRunOptionRows)
    settings[name_of(row)] = setting_text(row, options);
  settings["gpu"] = gpu_of(options);
  return settings;
}

}  // namespace

std::string gpu_setting(const GpuSelection& gpu) {
  const GpuProfile& profile = gpu.profile;
  std::string text =
      fmt::format("{} bytes, {} of the context, {} of workspaces, sm_{}, {} x {} threads",
                  profile.capacity_bytes, profile.context_bytes, profile.cublas_workspace_bytes,
                  fmt::join(profile.compute_capability, ""), profile.multiprocessors,
                  profile.threads_per_multiprocessor);
  if (profile.convolution_workspaces.empty()) return text;
  PointHash hash;
  for (const auto& [call, bytes] : profile.convolution_workspaces) hash.add(call).add(bytes);
  return text + fmt::format(", convolutions {:016x}", hash.value());
}

CheckpointedWork checkpointed_work(const Shard& shard, const RunOptions& options) {
  CheckpointedWork work{program_fingerprint(), settings_of(options), {}};
  work.settings["shard"] = fmt::format("{}/{}", shard.index + 1, shard.count);
  work.settings["recording"] = std::to_string(static_cast<int>(options.recording));
  for (const ShardInput& input : inputs_of(options))
    work.files.emplace_back(input.file, input.hash);
  return work;
}

std::string all_shards_text(std::size_t count) { return fmt::format("all of {}", count); }

std::optional<ShardResult> shard_result(const Shard& shard, const RunOptions& options) {
  if (shard.is_whole()) return std::nullopt;
  ShardResult result;
  result.number = static_cast<std::int64_t>(shard.index) + 1;
  result.count = static_cast<std::int64_t>(shard.count);
  result.settings = settings_of(options);
  result.inputs = inputs_of(options);
  return result;
}

}  // namespace ohm::engine

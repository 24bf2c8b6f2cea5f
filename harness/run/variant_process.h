// The work inside a worker process: a scenario is loaded, and one variant of it is run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/measured_variant.h"
#include "harness/machine/machine.h"
#include "harness/run/worker_messages.h"
#include "harness/scenario/scenario_program.h"
#include "reports/model/recording.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {

class LiveEntry;

/// Loads and describes; validates nothing. Errors of the script become the result's error.
LoadedScenario load_scenario(const ScenarioLoader& loader, const LoadRequest& request);

/// The files that running a variant makes, beside its result.
struct VariantFiles {
  std::string snapshot_path;  ///< of the GPUs' memory at the end; empty: none
  bool script_writes = true;  ///< false: what the script writes is not kept
};

/// A scenario that is loaded, on a fresh machine that has no GPUs yet: what variants begin with.
class LoadedProgram {
 public:
  /// Throws what loading throws. The loader outlives this.
  LoadedProgram(const ScenarioLoader& loader, LoadRequest request, const MachineOptions& options);
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  /// Only these variants will be run.
  void keep_only(const std::vector<std::string>& variants) { program_->keep_only(variants); }

  /// Adds the GPUs of `options`, without which the machine is the same, and runs the variant of
  /// this name; once only. The rest is as with run_variant().
  MeasuredVariant run(const std::string& variant, const MachineOptions& options,
                      const VariantFiles& files, Recording recording, LiveEntry* live,
                      const std::function<void(const Machine&)>& look_at = nullptr);

 private:
  MeasuredVariant run_on_machine(const std::string& variant, const MachineOptions& options,
                                 const VariantFiles& files, Recording recording, LiveEntry* live,
                                 const std::function<void(const Machine&)>& look_at);

  const ScenarioLoader& loader_;
  LoadRequest request_;
  std::optional<Machine> machine_;
  std::optional<ContextGuard> guard_;
  std::unique_ptr<ScenarioProgram> program_;
};

/// Loads the scenario again on a fresh machine and runs the variant of this name. Errors of the
/// script and out-of-memory errors become the result's; an error of ours leaves as an exception.
/// `live` is told what is allocated; nullptr: nothing is shown. `look_at` is shown the machine when
/// the variant has ended.
MeasuredVariant run_variant(const ScenarioLoader& loader, const LoadRequest& request,
                            const std::string& variant, const MachineOptions& options,
                            const VariantFiles& files = {},
                            Recording recording = Recording::figures, LiveEntry* live = nullptr,
                            const std::function<void(const Machine&)>& look_at = nullptr);

/// The largest holders of what is alive, one for each place and category; the rest is counted.
void fill_holders(OomResult& oom, const std::vector<LiveBlock>& blocks, const SiteTable& sites);

}  // namespace ohm::engine

#include "harness/verify/device_verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/judge/equivalence.h"
#include "harness/machine/cuda_devices.h"
#include "harness/machine/machine.h"
#include "harness/machine/unmeasured_run.h"
#include "harness/process/ipc_serialization.h"
#include "harness/process/worker_pool.h"
#include "harness/run/runner.h"
#include "harness/run/shard_work.h"
#include "harness/run/variant_machine.h"
#include "harness/scenario/script_sources.h"
#include "harness/verify/event_comparison.h"
#include "reports/model/fields.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {

namespace {

// ---- one variant on one machine -----------------------------------------------------------------

/// What one machine did.
struct Recorded {
  RecordedEvents memory;
  std::int64_t peak_bytes = 0;
  std::vector<HostTraffic> to_host;  ///< by op
  std::vector<ConvolutionWorkspace> convolution_workspaces;
  ReturnedValues values;
};

RecordedEvents events_of(const Machine& machine) {
  RecordedEvents recorded;
  for (std::size_t i = 0; i < machine.events().size(); ++i) {
    const MemoryEvent& event = recorded.events.emplace_back(machine.events()[i]);
    if (recorded.sites.count(event.site) > 0) continue;
    recorded.sites.emplace(event.site, machine.sites().at(event.site));
  }
  return recorded;
}

/// Errors of the script are part of the comparison as far as they leave events.
Recorded record(const ScenarioLoader& loader, const LoadRequest& request,
                const std::string& variant, const MachineOptions& options) {
  Machine machine(options);
  const ContextGuard guard(machine.context());
  const std::unique_ptr<ScenarioProgram> program = loader(request);
  machine.add_gpus();
  UnmeasuredRun run(machine);
  Recorded recorded;
  try {
    recorded.values = program->run(variant, run);
  } catch (const OutOfMemory&) {
    // Both have to run out at the same event.
  } catch (const ScriptError&) {
    // What a check raises on purpose, it raises on both.
  }
  recorded.memory = events_of(machine);
  for (const DeviceResult& device : machine.device_results()) {
    recorded.peak_bytes = std::max(recorded.peak_bytes, device.peak_allocated_bytes);
  }
  for (const auto& [op, moved] : machine.cuda_traffic().to_host) {
    recorded.to_host.push_back({op, moved.times, moved.bytes});
  }
  for (const auto& [convolution, bytes] : machine.cuda_traffic().convolution_workspaces) {
    recorded.convolution_workspaces.push_back({convolution, static_cast<std::int64_t>(bytes)});
  }
  return recorded;
}

// ---- one variant on both ------------------------------------------------------------------------

/// NaN agrees with nothing where a fix is judged; here it is a result like any other.
void match_nans(ReturnedValues& a, ReturnedValues& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    std::vector<double>& x = a[i].second.values;
    std::vector<double>& y = b[i].second.values;
    for (std::size_t k = 0; k < std::min(x.size(), y.size()); ++k) {
      if (std::isnan(x[k]) && std::isnan(y[k])) x[k] = y[k] = 0;
    }
  }
}

/// Empty where they agree or where nothing is computed.
std::string value_difference(Recorded& on_virtual, Recorded& on_card) {
  match_nans(on_virtual.values, on_card.values);
  const Comparison compared = compare_values(on_card.values, on_virtual.values, {});
  const bool agrees =
      compared.state == Equivalence::same || compared.state == Equivalence::not_checked;
  return agrees ? "" : compared.difference;
}

/// In a worker process.
VerifiedVariant verify(const ScenarioLoader& loader, const LoadRequest& request,
                       const std::string& variant, const MachineOptions& machine) {
  VerifiedVariant found;
  try {
    MachineOptions virtual_machine = machine;
    virtual_machine.cuda.reset();
    Recorded on_virtual = record(loader, request, variant, virtual_machine);
    Recorded on_card = record(loader, request, variant, machine);
    found.value_difference = value_difference(on_virtual, on_card);
    found.virtual_events = static_cast<std::int64_t>(on_virtual.memory.events.size());
    found.card_events = static_cast<std::int64_t>(on_card.memory.events.size());
    found.virtual_peak_bytes = on_virtual.peak_bytes;
    found.card_peak_bytes = on_card.peak_bytes;
    found.to_host = std::move(on_card.to_host);
    found.convolution_workspaces = std::move(on_card.convolution_workspaces);
    compare_events(on_virtual.memory, on_card.memory, found);
  } catch (const std::runtime_error& error) {
    found.error = error.what();
  } catch (const std::invalid_argument& error) {  // a machine that makes no sense
    found.error = error.what();
  }
  return found;
}

// ---- all of them --------------------------------------------------------------------------------

VerifiedCard card_of(const CudaLibraries& places) {
  const FoundCudaDevices found = find_cuda_devices(places);
  VerifiedCard card;
  for (const cuda::CudaDeviceProperties& device : found.devices) {
    const auto& [major, minor] = device.compute_capability;
    card.devices.push_back({device.name, fmt::format("{}.{}", major, minor),
                            static_cast<std::int64_t>(device.total_bytes)});
  }
  card.driver = cuda::version_text(found.driver_version);
  card.kernels_missing = found.kernels_missing;
  for (const cuda::LibraryState& library : find_libraries(places)) {
    card.libraries.push_back({library.name, library.version, library.missing});
  }
  return card;
}

VerificationWork shared_work(const RunOptions& run) {
  const CheckpointedWork known = checkpointed_work({}, run);
  VerificationWork work;
  work.settings = known.settings;
  // Of what it is a part, and what only results of runs have.
  for (const char* const other : {"shard", "recording"}) work.settings.erase(other);
  for (const auto& [file, hash] : known.files) work.inputs.push_back({file, hash});
  return work;
}

class Verification {
 public:
  Verification(const RunOptions& run, const ScenarioLoader& loader) : run_(run), loader_(loader) {
    table_.card = card_of(*run.cuda);
    card_key_ = fmt::format("{:016x}", PointHash().add(encoded_message(table_.card)).value());
  }

  FinishedVerification run() {
    const std::vector<ListedScenario> listed = list_scenarios(run_, loader_);
    FinishedVerification finished;
    finished.signal = InterruptGuard::signal();
    if (finished.signal == 0) finished.signal = verify_all(listed);
    VerificationResult& result = finished.result;
    result.work = shared_work(run_);
    if (!run_.shard.is_whole()) {
      result.shard = ShardResult();
      result.shard->number = static_cast<std::int64_t>(run_.shard.index) + 1;
      result.shard->count = static_cast<std::int64_t>(run_.shard.count);
    }
    result.cards.push_back(std::move(table_));
    result.exit_reason = finished.signal == 0 ? exit_reason_of(result) : ExitReason::interrupted;
    return finished;
  }

 private:
  /// The signal that ended it; 0: none.
  int verify_all(const std::vector<ListedScenario>& listed) {
    WorkerPool pool({run_.jobs, run_.timeout_seconds, 0});
    for (std::size_t i = 0; i < listed.size(); ++i) add(pool, i, listed[i]);
    pool.run([] { return true; });
    return InterruptGuard::signal();
  }

  void add(WorkerPool& pool, std::size_t file, const ListedScenario& listed) {
    const ScenarioDescription& scenario = listed.description;
    if (listed.error) {
      if (VerifiedVariant* const unloaded = next_own()) {
        unloaded->name = run_.files[file];
        unloaded->error = listed.error->message;
      }
      return;
    }
    const LoadRequest request =
        load_request(run_, scenario.file, read_script_sources(scenario.file));
    for (const std::string& name : selected_variants(scenario, run_.selection)) {
      if (VerifiedVariant* const own = next_own()) {
        own->name = scenario.name + "." + name;
        verify_or_take(pool, scenario, name, request,
                       fmt::format("{}/{}/{}", card_key_, file, name));
      }
    }
  }

  /// The next of all variants, where it is one of the shard.
  VerifiedVariant* next_own() {
    return run_.shard.has(seen_++) ? &table_.variants.emplace_back() : nullptr;
  }

  /// The last variant of the table.
  void verify_or_take(WorkerPool& pool, const ScenarioDescription& scenario,
                      const std::string& name, const LoadRequest& request,
                      const std::string& piece) {
    const std::size_t index = table_.variants.size() - 1;
    Checkpoint* const checkpoint = run_.checkpoint;
    const std::optional<std::string> known =
        checkpoint == nullptr ? std::nullopt : checkpoint->find(piece);
    if (known) return take(index, *known);
    const auto variant =
        std::find_if(scenario.variants.begin(), scenario.variants.end(),
                     [&](const VariantDescription& one) { return one.name == name; });
    pool.submit(
        static_cast<std::int64_t>(index),
        [this, request, name, machine = machine_for(scenario, *variant, run_)] {
          return encoded_message(verify(loader_, request, name, machine));
        },
        [this, index, piece, checkpoint](const WorkResult& result) {
          if (result.end != WorkEnd::message) {
            table_.variants[index].error = "its process " + ending_of(result);
            return;
          }
          if (checkpoint != nullptr) checkpoint->add(piece, result.message);
          take(index, result.message);
        });
  }

  void take(std::size_t index, const std::string& message) {
    auto found = decoded_message<VerifiedVariant>(message);
    found.name = std::move(table_.variants[index].name);
    table_.variants[index] = std::move(found);
  }

  static std::string ending_of(const WorkResult& result) {
    if (result.end == WorkEnd::timeout) return "ran longer than --timeout";
    if (result.end == WorkEnd::interrupted) return "was interrupted";
    return fmt::format("{}: {}", result.how_it_ended, result.output);
  }

  const RunOptions& run_;
  const ScenarioLoader& loader_;
  CardVerification table_;
  std::string card_key_;  ///< as which a checkpoint knows the card
  std::size_t seen_ = 0;  ///< variants of all shards
};

}  // namespace

CheckpointedWork verification_work(const Shard& shard, const RunOptions& run) {
  CheckpointedWork work = checkpointed_work(shard, run);
  work.settings["command"] = "verify-device";
  return work;
}

int FinishedVerification::exit_code() const { return process_code(result.exit_reason, signal); }

FinishedVerification verify_device(const RunOptions& run, const ScenarioLoader& loader) {
  return Verification(run, loader).run();
}

}  // namespace ohm::engine

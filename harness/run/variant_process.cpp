#include "harness/run/variant_process.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/cut_text.h"
#include "allocator_shim/device/cuda/driver.h"
#include "allocator_shim/device/host_mapping.h"
#include "harness/machine/holder_table.h"
#include "harness/machine/memory_recording.h"
#include "harness/machine/snapshot_file.h"
#include "harness/process/live_board.h"
#include "harness/run/retention_probe.h"
#include "harness/scenario/script_errors.h"
#include "runtime/nn/running_module.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {

namespace {

ErrorResult error_of(const std::string& path, const std::exception& error) {
  return {cut_text(path + ": " + error.what()), path, 0, {}, {}};
}

ErrorResult host_is_full(const std::string& path) {
  return {
      path + ": the host has no memory left", path, 0, {}, "make the scenario's tensors smaller"};
}

/// Calls `body`; errors of the script's making and a CUDA device's come back as a value. Mistakes
/// of ours are not results: they end the process, and so the run as an internal error.
template <class Body>
std::optional<ErrorResult> script_error_of(const std::string& path, Body&& body) {
  try {
    body();
    return std::nullopt;
  } catch (const ScriptError& error) {
    return error_result(error);
  } catch (const std::invalid_argument& error) {
    return error_of(path, error);
  } catch (const OutOfMemory& error) {
    return error_of(path, error);
  } catch (const HostRefusal& error) {
    ErrorResult refused = error_of(path, error);
    refused.hint = "--size-only needs no memory for values; GPUs of a smaller capacity need less";
    return refused;
  } catch (const cuda::DriverError& error) {
    return error_of(path, error);
  } catch (const GpuUnavailable& error) {
    return error_of(path, error);
  } catch (const std::bad_alloc&) {
    return host_is_full(path);
  }
}

OomResult oom_result(Machine& machine, int device, const OutOfMemoryReport& report,
                     std::int64_t steps) {
  const Site& site = machine.sites().at(report.site);
  OomResult oom;
  oom.step = steps + 1;
  oom.device = Device::cuda(device).str();
  oom.requested_bytes = static_cast<std::int64_t>(report.requested_bytes);
  oom.segment_bytes = static_cast<std::int64_t>(report.segment_bytes);
  oom.category = report.category;
  oom.op = site.op;
  oom.file = site.file;
  oom.line = site.line;
  oom.message = report.message;
  oom.injected = report.injected;
  oom.policy = report.policy;
  oom.alive_by_category = machine.requests(device).allocated_bytes_by_category();
  fill_holders(oom, machine.requests(device).live_blocks(), machine.sites());
  return oom;
}

/// Counts steps and keeps what the machine told about its last failure.
class VariantRun final : public RunContext {
 public:
  /// `live` may be null: the run is not watched.
  VariantRun(Machine& machine, const VariantFiles& files, Recording recording, LiveEntry* live)
      : machine_(machine), files_(files), recording_(recording), live_(live) {
    marks_.resize(static_cast<std::size_t>(machine.gpu_count()));
    machine.on_out_of_memory([this](int device, const OutOfMemoryReport& report) {
      last_oom_ = oom_result(machine_, device, report, steps_);
      last_oom_event_ = events_so_far();
    });
    if (live_ != nullptr || recording_ == Recording::history) {
      machine.on_allocation([this](int gpu) { look_at_allocation(gpu); });
    }
  }
  ~VariantRun() override {
    machine_.on_out_of_memory(nullptr);
    machine_.on_allocation([](int /*device*/) {});
  }

  void mark_step() override {
    ++steps_;
    recorded_.steps.push_back(events_so_far());
    for (std::size_t gpu = 0; gpu < marks_.size(); ++gpu) {
      marks_[gpu].push_back(machine_.allocated_bytes(static_cast<int>(gpu)));
    }
    machine_.begin_step(steps_ + 1);
  }
  void dump_snapshot(const std::string& path) override {
    check_script_snapshot_path(path);
    if (files_.script_writes) write_snapshot_file(snapshot(), path);
    machine_.record_snapshot();
  }
  Machine& machine() override { return machine_; }

  void report(MeasuredVariant& measured) {
    measured.steps = steps_;
    measured.unused_faults = machine_.unused_faults();
    measured.allocated_at_marks = marks_;
    measured.devices = machine_.device_results();
    measured.host = machine_.host_result();
    if (measured.outcome == Outcome::oom) {
      measured.oom = last_oom_;
      recorded_.oom = last_oom_event_;
      measured.oom_event = last_oom_event_;
    }
    if (recording_ != Recording::figures) fill_peaks(measured.devices, machine_, recorded_);
    if (recording_ == Recording::history) {
      measured.history = memory_history(machine_, recorded_, notes_);
    }
    if (files_.snapshot_path.empty()) return;
    try {
      write_snapshot_file(snapshot(), files_.snapshot_path);
    } catch (const std::runtime_error& error) {
      measured.snapshot_error = error.what();
    }
  }

 private:
  void look_at_allocation(int gpu) {
    if (live_ != nullptr) {
      live_->note(static_cast<std::size_t>(gpu), machine_.allocated_bytes(gpu));
    }
    if (recording_ != Recording::history) return;
    notes_.note(machine_, nn::running_module_path(machine_.context_state().running_module));
  }

  /// With its steps marked as a profiler marks those of PyTorch: readers need not look for them.
  Snapshot snapshot() const {
    Snapshot snapshot = machine_.snapshot();
    const TextId name = snapshot.tables.intern("step");
    const TextId start = snapshot.tables.intern("START");
    const TextId end = snapshot.tables.intern("END");
    std::int64_t began = 0;  // times are ordinals of events
    for (const std::uint64_t events : recorded_.steps) {
      const std::int64_t last = static_cast<std::int64_t>(events) - 1;
      snapshot.external_annotations.push_back({name, start, 0, began});
      snapshot.external_annotations.push_back({name, end, 0, last});
      began = last + 1;
    }
    return snapshot;
  }

  std::uint64_t events_so_far() const {
    return machine_.events().dropped() + machine_.events().size();
  }

  Machine& machine_;
  const VariantFiles& files_;
  Recording recording_;
  LiveEntry* live_;
  std::int64_t steps_ = 0;
  std::vector<std::vector<std::int64_t>> marks_;
  RecordedMarks recorded_;
  CallNotes notes_;
  std::optional<OomResult> last_oom_;
  std::uint64_t last_oom_event_ = 0;
};

void show_capacities(LiveEntry& live, Machine& machine) {
  for (int gpu = 0; gpu < machine.gpu_count(); ++gpu) {
    live.set_capacity(static_cast<std::size_t>(gpu),
                      static_cast<std::int64_t>(machine.requests(gpu).info().total_bytes));
  }
}

/// Where no arithmetic is done, what a script reads is NaN: it is not a value.
void mark_unknown_numbers(ReturnedValues& values) {
  for (auto& [name, value] : values) {
    const bool is_number = value.dtype == name_of(ScriptType::number) && value.values.size() == 1;
    if (is_number && std::isnan(value.values[0])) value.has_values = false;
  }
}

void check_sizes(const ReturnedValues& values) {
  for (const auto& [name, value] : values) {
    std::size_t elements = value.dtype == name_of(ScriptType::string) ? 0 : 1;
    for (const std::int64_t size : value.shape) elements *= static_cast<std::size_t>(size);
    OHM_ASSERT(!value.has_values || value.values.size() == elements,
               "a returned value has as many elements as its shape says");
  }
}

}  // namespace

void fill_holders(OomResult& oom, const std::vector<LiveBlock>& blocks, const SiteTable& sites) {
  HolderTable table;
  for (const LiveBlock& block : blocks) {
    if (!block.pending_free) table.add(block.site, block.category, block.bytes);
  }
  oom.holders = table.sorted(sites);
  if (oom.holders.size() <= kMaxHolders) return;
  oom.other_holders = static_cast<std::int64_t>(oom.holders.size() - kMaxHolders);
  oom.holders.resize(kMaxHolders);
}

LoadedScenario load_scenario(const ScenarioLoader& loader, const LoadRequest& request) {
  LoadedScenario loaded;
  loaded.error = script_error_of(request.path, [&] {
    MachineOptions host;
    host.value_bytes = request.caps.value_bytes;
    Machine machine(host);
    const ContextGuard guard(machine.context());
    const std::unique_ptr<ScenarioProgram> program = loader(request);
    loaded.description = program->description();
    const ModuleTexts modules = program->modules();
    loaded.modules.assign(modules.begin(), modules.end());
    loaded.description.file = request.path;
  });
  return loaded;
}

LoadedProgram::LoadedProgram(const ScenarioLoader& loader, LoadRequest request,
                             const MachineOptions& options)
    : loader_(loader), request_(std::move(request)), machine_(options) {
  guard_.emplace(machine_->context());
  program_ = loader_(request_);
}

MeasuredVariant LoadedProgram::run(const std::string& variant, const MachineOptions& options,
                                   const VariantFiles& files, Recording recording, LiveEntry* live,
                                   const std::function<void(const Machine&)>& look_at) {
  MeasuredVariant measured = run_on_machine(variant, options, files, recording, live, look_at);
  if (recording != Recording::history) return measured;
  // The second run has the memory of this process to itself.
  program_.reset();
  guard_.reset();
  machine_.reset();
  measured.retention = probe_retention(loader_, request_, variant, options, measured);
  return measured;
}

MeasuredVariant LoadedProgram::run_on_machine(const std::string& variant,
                                              const MachineOptions& options,
                                              const VariantFiles& files, Recording recording,
                                              LiveEntry* live,
                                              const std::function<void(const Machine&)>& look_at) {
  Machine& machine = *machine_;
  MeasuredVariant measured;
  measured.outcome = Outcome::error;
  measured.error = script_error_of(request_.path, [&] { machine.add_gpus_of(options); });
  if (measured.error) return measured;
  if (live != nullptr) show_capacities(*live, machine);
  VariantRun run(machine, files, recording, live);
  measured.outcome = Outcome::completed;
  measured.error = script_error_of(request_.path, [&] {
    try {
      measured.values = program_->run(variant, run);
    } catch (const OutOfMemory&) {
      measured.outcome = Outcome::oom;
    }
  });
  if (measured.error) measured.outcome = Outcome::error;
  if (!options.gpu.values) mark_unknown_numbers(measured.values);
  check_sizes(measured.values);
  run.report(measured);
  if (look_at) look_at(machine);
  return measured;
}

MeasuredVariant run_variant(const ScenarioLoader& loader, const LoadRequest& request,
                            const std::string& variant, const MachineOptions& options,
                            const VariantFiles& files, Recording recording, LiveEntry* live,
                            const std::function<void(const Machine&)>& look_at) {
  MeasuredVariant failed;
  failed.outcome = Outcome::error;
  std::optional<LoadedProgram> loaded;
  failed.error = script_error_of(request.path, [&] { loaded.emplace(loader, request, options); });
  if (failed.error) return failed;
  return loaded->run(variant, options, files, recording, live, look_at);
}

}  // namespace ohm::engine

#include "harness/verify/device_verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "harness/judge/equivalence.h"
#include "harness/machine/snapshot_file.h"
#include "harness/process/ipc_serialization.h"
#include "harness/process/worker_pool.h"
#include "harness/run/runner.h"
#include "harness/run/variant_machine.h"
#include "harness/scenario/script_sources.h"
#include "runtime/tensor/context.h"

namespace ohm {

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, MovedValues>
void fields(Archive& archive, T& moved) { archive(moved.times, moved.bytes); }

}  // namespace ohm

namespace ohm::engine {

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, EventDifference>
void fields(Archive& archive, T& difference) {
  archive(difference.is_on_cuda, difference.ordinal, difference.event, difference.bytes);
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, LibraryWorkspace>
void fields(Archive& archive, T& workspace) {
  archive(workspace.op, workspace.largest_bytes, workspace.calls);
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, VariantVerification>
void fields(Archive& archive, T& variant) {
  archive(variant.variant, variant.virtual_events, variant.cuda_events, variant.virtual_peak_bytes,
          variant.cuda_peak_bytes, variant.differences, variant.other_differences, variant.to_host,
          variant.workspaces, variant.value_difference, variant.error);
}

namespace {

/// What one machine did.
struct Recorded {
  std::vector<MemoryEvent> events;
  std::unordered_map<SiteId, Site> sites;  ///< of the events
  std::int64_t peak_bytes = 0;
  std::vector<std::pair<std::string, MovedValues>> to_host;  ///< by op
  ReturnedValues values;

  const Site& site_of(std::size_t index) const { return sites.at(events[index].site); }
};

class RecordedRun final : public RunContext {
 public:
  explicit RecordedRun(Machine& machine) : machine_(machine) {}

  void mark_step() override { machine_.begin_step(++step_); }
  void dump_snapshot(const std::string& path) override {
    check_script_snapshot_path(path);
    machine_.record_snapshot();
  }
  Machine& machine() override { return machine_; }

 private:
  Machine& machine_;
  std::int64_t step_ = 1;
};

/// Errors of the script are part of the comparison as far as they leave events.
Recorded record(const ScenarioLoader& loader, const LoadRequest& request,
                const std::string& variant, const MachineOptions& options) {
  Machine machine(options);
  const ContextGuard guard(machine.context());
  const std::unique_ptr<ScenarioProgram> program = loader(request);
  machine.add_gpus();
  RecordedRun run(machine);
  Recorded recorded;
  try {
    recorded.values = program->run(variant, run);
  } catch (const OutOfMemory&) {
    // Both have to run out at the same event.
  } catch (const ScriptError&) {
    // What a check raises on purpose, it raises on both.
  }
  for (std::size_t i = 0; i < machine.events().size(); ++i) {
    const MemoryEvent& event = recorded.events.emplace_back(machine.events()[i]);
    if (recorded.sites.count(event.site) > 0) continue;
    recorded.sites.emplace(event.site, machine.sites().at(event.site));
  }
  for (const DeviceResult& device : machine.device_results()) {
    recorded.peak_bytes = std::max(recorded.peak_bytes, device.peak_allocated_bytes);
  }
  const auto& to_host = machine.cuda_traffic().to_host;
  recorded.to_host.assign(to_host.begin(), to_host.end());
  return recorded;
}

// ---- returned values ----------------------------------------------------------------------------

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
std::string value_difference(Recorded& on_virtual, Recorded& on_cuda) {
  match_nans(on_virtual.values, on_cuda.values);
  const Comparison compared = compare_values(on_cuda.values, on_virtual.values, {});
  const bool agrees =
      compared.state == Equivalence::same || compared.state == Equivalence::not_checked;
  return agrees ? "" : compared.difference;
}

// ---- two lists of events ------------------------------------------------------------------------

std::string text_of(const MemoryEvent& event, const Site& site) {
  const std::string place =
      site.line == 0 ? std::string() : fmt::format(" at {}:{} {}", site.file, site.line, site.op);
  return fmt::format("{} {} {} ({} bytes){}", name_of(event.action),
                     event.device < 0 ? "host" : Device::cuda(event.device).str(),
                     human_bytes(event.bytes), event.bytes, place);
}

/// But for the address, which is the driver's own.
bool is_same(const MemoryEvent& a, const MemoryEvent& b) {
  return a.action == b.action && a.device == b.device && a.bytes == b.bytes &&
         a.stream == b.stream && a.block_units == b.block_units && a.category == b.category &&
         a.is_injected == b.is_injected;
}

void add(std::vector<LibraryWorkspace>& workspaces, const LibraryWorkspace& more) {
  const auto known = std::find_if(workspaces.begin(), workspaces.end(),
                                  [&](const auto& one) { return one.op == more.op; });
  if (known == workspaces.end()) {
    workspaces.push_back(more);
    return;
  }
  known->largest_bytes = std::max(known->largest_bytes, more.largest_bytes);
  known->calls += more.calls;
}

class EventComparison {
 public:
  EventComparison(const Recorded& on_virtual, const Recorded& on_cuda, VariantVerification& found)
      : virtual_(on_virtual), cuda_(on_cuda), found_(found) {}

  void run() {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < virtual_.events.size() || j < cuda_.events.size()) {
      if (i < virtual_.events.size() && j < cuda_.events.size() && agree(i, j)) {
        ++i;
        ++j;
        continue;
      }
      const auto [next_i, next_j] = nearest_agreement(i, j);
      for (; i < next_i; ++i) note(false, i, virtual_);
      note_on_cuda(j, next_j);
      j = next_j;
    }
  }

 private:
  /// How far ahead the two are looked at, to find where they go on alike.
  static constexpr std::size_t kWindow = 64;
  /// So many equal events in a row are no accident.
  static constexpr std::size_t kAgreement = 3;

  bool agree(std::size_t i, std::size_t j) const {
    return is_same(virtual_.events[i], cuda_.events[j]) && virtual_.site_of(i) == cuda_.site_of(j);
  }

  bool agree_from(std::size_t i, std::size_t j) const {
    const std::size_t of_virtual = virtual_.events.size() - i;
    const std::size_t of_cuda = cuda_.events.size() - j;
    if (of_virtual == 0 || of_cuda == 0) return of_virtual == of_cuda;
    // Between events that agree a library may have taken a workspace.
    for (std::size_t seen = 0; seen < kAgreement; ++j) {
      if (i == virtual_.events.size() || j == cuda_.events.size()) return true;
      if (agree(i, j)) {
        ++seen;
        ++i;
      } else if (seen == 0 || !belongs_to_workspace(j)) {
        return false;
      }
    }
    return true;
  }

  std::pair<std::size_t, std::size_t> nearest_agreement(std::size_t i, std::size_t j) const {
    for (std::size_t skipped = 1; skipped <= kWindow; ++skipped) {
      for (std::size_t of_cuda = 0; of_cuda <= skipped; ++of_cuda) {
        const std::size_t next_i = i + skipped - of_cuda;
        const std::size_t next_j = j + of_cuda;
        if (next_i > virtual_.events.size() || next_j > cuda_.events.size()) continue;
        if (agree_from(next_i, next_j)) return {next_i, next_j};
      }
    }
    return {virtual_.events.size(), cuda_.events.size()};
  }

  /// Whether an event of the card is a library's workspace, or the segment that one needed.
  bool belongs_to_workspace(std::size_t j) const {
    const auto is_workspace = [&](std::size_t index) {
      return index < cuda_.events.size() && cuda_.events[index].category == Category::workspace;
    };
    const bool is_segment = cuda_.events[j].action == EventAction::segment_alloc;
    return is_workspace(j) || (is_segment && is_workspace(j + 1));
  }

  /// What is on the card alone: a library's workspace, or a difference.
  void note_on_cuda(std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const MemoryEvent& event = cuda_.events[j];
      if (!belongs_to_workspace(j)) {
        note(true, j, cuda_);
      } else if (event.action == EventAction::alloc) {
        add(found_.workspaces,
            {std::string(cuda_.site_of(j).op), static_cast<std::int64_t>(event.bytes), 1});
      }
    }
  }

  void note(bool is_on_cuda, std::size_t ordinal, const Recorded& side) {
    if (found_.differences.size() >= VariantVerification::kMaxDifferences) {
      ++found_.other_differences;
      return;
    }
    const MemoryEvent& event = side.events[ordinal];
    found_.differences.push_back({is_on_cuda, ordinal, text_of(event, side.site_of(ordinal)),
                                  static_cast<std::int64_t>(event.bytes)});
  }

  const Recorded& virtual_;
  const Recorded& cuda_;
  VariantVerification& found_;
};

std::string encoded(const VariantVerification& found) {
  MessageWriter writer;
  writer(found);
  return writer.take();
}

/// In a worker process.
VariantVerification verify(const ScenarioLoader& loader, const LoadRequest& request,
                           const std::string& variant, const MachineOptions& machine) {
  VariantVerification found;
  try {
    MachineOptions virtual_machine = machine;
    virtual_machine.cuda.reset();
    Recorded on_virtual = record(loader, request, variant, virtual_machine);
    Recorded on_cuda = record(loader, request, variant, machine);
    found.value_difference = value_difference(on_virtual, on_cuda);
    found.virtual_events = on_virtual.events.size();
    found.cuda_events = on_cuda.events.size();
    found.virtual_peak_bytes = on_virtual.peak_bytes;
    found.cuda_peak_bytes = on_cuda.peak_bytes;
    found.to_host = on_cuda.to_host;
    EventComparison(on_virtual, on_cuda, found).run();
  } catch (const std::runtime_error& error) {
    found.error = error.what();
  } catch (const std::invalid_argument& error) {  // a machine that makes no sense
    found.error = error.what();
  }
  return found;
}

class Verification {
 public:
  Verification(const RunOptions& run, const ScenarioLoader& loader)
      : run_(run), loader_(loader), pool_({run.jobs, run.timeout_seconds, 0}) {}

  std::vector<VariantVerification> run() {
    const std::vector<ListedScenario> listed = list_scenarios(run_, loader_);
    for (std::size_t i = 0; i < listed.size(); ++i) add(run_.files[i], listed[i]);
    pool_.run([] { return true; });
    return std::move(results_);
  }

 private:
  void add(const std::string& file, const ListedScenario& listed) {
    const ScenarioDescription& scenario = listed.description;
    if (listed.error) {
      VariantVerification& unloaded = results_.emplace_back();
      unloaded.variant = file;
      unloaded.error = listed.error->message;
      return;
    }
    const LoadRequest request =
        load_request(run_, scenario.file, read_script_sources(scenario.file));
    for (const std::string& name : selected_variants(scenario, run_.selection)) {
      const auto variant =
          std::find_if(scenario.variants.begin(), scenario.variants.end(),
                       [&](const VariantDescription& one) { return one.name == name; });
      submit(scenario, *variant, request);
    }
  }

  void submit(const ScenarioDescription& scenario, const VariantDescription& variant,
              const LoadRequest& request) {
    const std::size_t index = results_.size();
    results_.emplace_back();
    const std::string full_name = scenario.name + "." + variant.name;
    pool_.submit(
        static_cast<std::int64_t>(index),
        [this, request, name = variant.name, machine = machine_for(scenario, variant, run_)] {
          return encoded(verify(loader_, request, name, machine));
        },
        [this, index, full_name](const WorkResult& result) {
          VariantVerification& found = results_[index];
          if (result.end == WorkEnd::message) {
            MessageReader(result.message)(found);
          } else {
            found.error = "its process " + ending_of(result);
          }
          found.variant = full_name;
        });
  }

  static std::string ending_of(const WorkResult& result) {
    if (result.end == WorkEnd::timeout) return "ran longer than --timeout";
    if (result.end == WorkEnd::interrupted) return "was interrupted";
    return fmt::format("{}: {}", result.how_it_ended, result.output);
  }

  const RunOptions& run_;
  const ScenarioLoader& loader_;
  WorkerPool pool_;
  std::vector<VariantVerification> results_;
};

}  // namespace

std::vector<LibraryWorkspace> all_workspaces(const std::vector<VariantVerification>& variants) {
  std::vector<LibraryWorkspace> all;
  for (const VariantVerification& variant : variants) {
    for (const LibraryWorkspace& workspace : variant.workspaces) add(all, workspace);
  }
  return all;
}

std::vector<VariantVerification> verify_device(const RunOptions& run,
                                               const ScenarioLoader& loader) {
  return Verification(run, loader).run();
}

}  // namespace ohm::engine

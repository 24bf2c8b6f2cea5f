#include "harness/sweep/minimum_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <list>
#include <optional>
#include <utility>

#include "allocator_shim/base/bytes.h"
#include "harness/judge/scenario_validation.h"
#include "harness/process/interrupt.h"
#include "harness/process/ipc_serialization.h"
#include "harness/process/worker_pool.h"
#include "harness/run/rerun_command.h"
#include "harness/run/variant_machine.h"
#include "harness/run/variant_process.h"
#include "harness/run/worker_messages.h"
#include "harness/scenario/script_errors.h"
#include "harness/scenario/script_sources.h"

namespace ohm::engine {

namespace {

constexpr std::size_t kGranuleBytes = kMinimumGranuleBytes;
/// More than any program needs: what it takes there is what it takes anywhere.
constexpr std::size_t kUnlimitedBytes = 1024_GiB;

enum class Wish : std::uint8_t { no_retry, no_oom };

/// One search, in a worker process.
class MinimumSearch {
 public:
  MinimumSearch(const ScenarioLoader& loader, LoadRequest request, std::string variant,
                MachineOptions machine)
      : loader_(loader),
        request_(std::move(request)),
        variant_(std::move(variant)),
        machine_(std::move(machine)) {
    machine_.gpu.values = false;
  }

  struct Found {
    std::uint64_t granules = 0;
    Shortage shortage = Shortage::no_device;  ///< with one granule less
    std::string failure;                      ///< an encoded MeasuredVariant, of shortage oom
  };

  /// nullopt, with an error() and its reason(), when it fails whatever there is.
  std::optional<std::pair<Found, Found>> run() {
    const MeasuredVariant unlimited = measured(kUnlimitedBytes);
    if (const auto shortage = shortage_of(unlimited, Wish::no_oom)) {
      const std::string handled = *shortage == Shortage::handled_oom ? ", and handles it" : "";
      error_ = unlimited.error ? unlimited.error->message
                               : "it runs out of memory whatever the capacity" + handled;
      if (unlimited.outcome == Outcome::error) reason_ = ExitReason::script_error;
      return std::nullopt;
    }
    std::int64_t reserved = 0;
    for (const DeviceResult& device : unlimited.devices) {
      reserved = std::max(reserved, device.peak_reserved_bytes);
    }
    const std::size_t most = static_cast<std::size_t>(reserved) + context_bytes() + kGranuleBytes;
    const std::size_t likely = most / kGranuleBytes + 1;
    return std::pair(search(Wish::no_retry, likely), search(Wish::no_oom, likely));
  }
  const std::string& error() const { return error_; }
  ExitReason reason() const { return reason_; }

 private:
  std::size_t context_bytes() const { return machine_.gpu_profile().context_bytes; }

  MeasuredVariant measured(std::size_t capacity_bytes) const {
    MachineOptions machine = machine_;
    machine.gpu.capacity_bytes = capacity_bytes;
    VariantFiles files;
    files.script_writes = false;
    return run_variant(loader_, request_, variant_, machine, files);
  }

  /// nullopt: it does what is wished for.
  static std::optional<Shortage> shortage_of(const MeasuredVariant& variant, Wish wish) {
    if (variant.outcome == Outcome::oom) return Shortage::oom;
    if (variant.outcome != Outcome::completed) return Shortage::error;
    const auto any = [&](std::int64_t DeviceResult::*count) {
      return std::any_of(variant.devices.begin(), variant.devices.end(),
                         [&](const DeviceResult& device) { return device.*count != 0; });
    };
    if (any(&DeviceResult::num_ooms)) return Shortage::handled_oom;
    if (wish == Wish::no_retry && any(&DeviceResult::num_alloc_retries)) return Shortage::retry;
    return std::nullopt;
  }

  Found search(Wish wish, std::size_t likely) const {
    Found found;
    // Fails with `low`, passes with `high`. Less than the context is not a device at all.
    std::size_t low = context_bytes() / kGranuleBytes;
    std::size_t high = likely;
    // A fraction of the memory, or what others take of it, wants more than what is reserved.
    while (high < kUnlimitedBytes / kGranuleBytes && !is_enough(high, wish, found)) {
      low = high;
      high = std::min(2 * high, kUnlimitedBytes / kGranuleBytes);
    }
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (is_enough(middle, wish, found) ? high : low) = middle;
    }
    found.granules = high;
    return found;
  }

  /// Where it is not, `found` gets why.
  bool is_enough(std::size_t granules, Wish wish, Found& found) const {
    const MeasuredVariant variant = measured(granules * kGranuleBytes);
    const std::optional<Shortage> shortage = shortage_of(variant, wish);
    if (!shortage) return true;
    found.shortage = *shortage;
    found.failure = variant.oom ? encoded(variant) : std::string();
    return false;
  }

  const ScenarioLoader& loader_;
  LoadRequest request_;
  std::string variant_;
  MachineOptions machine_;
  std::string error_;
  ExitReason reason_ = ExitReason::failed;  ///< of `error_`
};

std::string search_message(MinimumSearch search) {
  const auto found = search.run();
  MessageWriter writer;
  writer(search.error(), search.reason(), found.has_value());
  if (found) {
    for (const auto& one : {found->first, found->second}) {
      writer(one.granules, one.shortage, one.failure);
    }
  }
  return writer.take();
}

/// One file's variants.
class ScenarioSearch {
 public:
  ScenarioSearch(std::int64_t order, std::string path, const RunOptions& options,
                 const ScenarioLoader& loader, WorkerPool& pool)
      : order_(order), path_(std::move(path)), options_(options), loader_(loader), pool_(pool) {
    result_.file = path_;
    result_.name = std::filesystem::path(path_).stem().string();
  }

  void start() {
    try {
      sources_ = read_script_sources(path_);
    } catch (const ScriptError& error) {
      return fail(error_result(error), ExitReason::script_error);
    }
    pool_.submit(
        order_, [this] { return encoded(load_scenario(loader_, request())); },
        [this](const WorkResult& result) { take_description(result); });
  }

  ScenarioMinimum& result() { return result_; }
  ExitReason exit_reason() const { return exit_reason_; }

 private:
  LoadRequest request() const { return load_request(options_, path_, sources_); }

  void fail(ErrorResult error, ExitReason reason) {
    result_.error = std::move(error);
    exit_reason_ = worse_of(exit_reason_, reason);
  }

  void take_description(const WorkResult& result) {
    if (result.end != WorkEnd::message) {
      return fail(
          {"loading " + why_without_message(result, options_.timeout_seconds), path_, 0, {}, {}},
          reason_of(result.end));
    }
    LoadedScenario loaded = decoded_scenario(result.message);
    add_modules(loaded, sources_);
    if (loaded.error) return fail(std::move(*loaded.error), ExitReason::script_error);
    try {
      description_ = validated(std::move(loaded.description));
    } catch (const ScriptError& error) {
      return fail(error_result(error), ExitReason::script_error);
    }
    result_.name = description_.name;
    for (const std::string& name : selected_variants(description_, options_.selection)) {
      for (const VariantDescription& variant : description_.variants) {
        if (variant.name == name) submit(variant);
      }
    }
  }

  void submit(const VariantDescription& variant) {
    const std::size_t index = result_.variants.size();
    VariantMinimum& minimum = result_.variants.emplace_back();
    minimum.name = variant.name;
    minimum.role = variant.role;
    pool_.submit(
        order_,
        [this, variant] {
          return search_message(MinimumSearch(loader_, request(), variant.name,
                                              machine_for(description_, variant, options_)));
        },
        [this, index, variant](const WorkResult& result) { take(index, variant, result); });
  }

  void take(std::size_t index, const VariantDescription& variant, const WorkResult& result) {
    VariantMinimum& minimum = result_.variants[index];
    const auto refuse = [&](std::string message, ExitReason reason) {
      minimum.error = ErrorResult{std::move(message), path_, variant.line, {}, {}};
      exit_reason_ = worse_of(exit_reason_, reason);
    };
    if (result.end != WorkEnd::message) {
      return refuse("the search " + why_without_message(result, options_.timeout_seconds),
                    reason_of(result.end));
    }
    MessageReader reader(result.message);
    std::string error;
    ExitReason reason = ExitReason::passed;
    bool is_found = false;
    reader(error, reason, is_found);
    if (!is_found) return refuse(std::move(error), reason);
    for (MinimumCapacity* capacity : {&minimum.without_retry, &minimum.with_retries}) {
      std::uint64_t granules = 0;
      std::string failure;
      reader(granules, capacity->shortage, failure);
      capacity->bytes = static_cast<std::int64_t>(granules * kGranuleBytes);
      capacity->rerun = command(variant, granules);
      if (capacity->shortage != Shortage::no_device) {
        capacity->fails_rerun = command(variant, granules - 1);
      }
      if (!failure.empty()) capacity->fails = decoded_variant(failure).oom;
    }
  }

  /// The same run on a card of this size.
  std::string command(const VariantDescription& variant, std::uint64_t granules) const {
    const GpuSpec gpu = machine_for(description_, variant, options_).gpu;
    RunOptions options = options_;
    options.size_only = true;
    options.gpu_text = fmt::format("{},capacity={}MiB,count={}", gpu.profile,
                                   granules * (kGranuleBytes / 1_MiB), gpu.count);
    return rerun_command(options, path_, description_, variant.name, options_.fault);
  }

  std::int64_t order_;
  std::string path_;
  const RunOptions& options_;
  const ScenarioLoader& loader_;
  WorkerPool& pool_;
  ScriptSources sources_;
  ScenarioDescription description_;
  ScenarioMinimum result_;
  ExitReason exit_reason_ = ExitReason::passed;
};

}  // namespace

int MinimumOutcome::exit_code() const { return process_code(result.exit_reason, signal); }

MinimumOutcome find_minimum_memory(const RunOptions& options, const ScenarioLoader& loader) {
  WorkerPool pool({std::max(1, options.jobs), options.timeout_seconds});
  std::list<ScenarioSearch> searches;
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    searches.emplace_back(static_cast<std::int64_t>(i), options.files[i], options, loader, pool)
        .start();
  }
  pool.run([] { return true; });
  MinimumOutcome outcome;
  MinimumResult& result = outcome.result;
  for (ScenarioSearch& search : searches) {
    result.exit_reason = worse_of(result.exit_reason, search.exit_reason());
    ScenarioMinimum& scenario = search.result();
    if (scenario.error || !scenario.variants.empty()) {
      result.scenarios.push_back(std::move(scenario));
    }
  }
  outcome.signal = InterruptGuard::signal();
  if (outcome.signal != 0) {
    result.exit_reason = worse_of(result.exit_reason, ExitReason::interrupted);
  } else if (result.scenarios.empty()) {
    result.exit_reason = ExitReason::nothing_selected;
  }
  return outcome;
}

}  // namespace ohm::engine

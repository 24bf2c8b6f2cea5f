#include "harness/replay/replay_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "allocator_shim/base/input_file.h"
#include "allocator_shim/base/no_memory.h"
#include "allocator_shim/caching/trace_runner.h"
#include "allocator_shim/replay/verified_history.h"
#include "allocator_shim/replay/what_if.h"
#include "harness/replay/checkpointed_modules.h"
#include "harness/replay/early_frees.h"
#include "harness/replay/fused_optimizer.h"
#include "harness/replay/replayable_snapshot.h"
#include "harness/replay/what_if_runs.h"
#include "reports/history/cut_history.h"
#include "reports/history/recorded_sites.h"
#include "reports/history/user_frames.h"
#include "reports/text/measured_text.h"

namespace ohm::engine {
namespace {

// ---- what kind of file --------------------------------------------------------------------------

/// One that is read once, so that it may be a pipe.
class RecordedFile {
 public:
  explicit RecordedFile(const std::string& path) : path_(path) {
    try {
      file_.emplace(path);
    } catch (const std::system_error& error) {
      fail(error);
    }
  }

  /// Snapshots are pickles, which begin with a byte that no text begins with.
  bool is_trace() {
    if (path_.ends_with(".trace")) return true;
    if (path_.ends_with(".pickle") || path_.ends_with(".pkl")) return false;
    try {
      const std::string_view first = file_->beginning(1);
      return first == "#" || first == "a";
    } catch (const std::system_error& error) {
      fail(error);
    }
  }

  Trace trace() {
    try {
      return reading(path_, [&] { return parse_trace(file_->rest()); });
    } catch (const std::system_error& error) {
      fail(error);
    } catch (const std::invalid_argument& error) {
      throw ReplayError(fmt::format("{}: {}", path_, error.what()));
    }
  }

  Snapshot snapshot() {
    try {
      return reading(path_, [&] { return replayable_snapshot(*file_, path_); });
    } catch (const std::bad_alloc&) {
      throw;  // of the machine, not of the file
    } catch (const std::exception& error) {
      throw ReplayError(error.what());
    }
  }

 private:
  [[noreturn]] void fail(const std::system_error& error) const {
    const bool is_folder = error.code() == std::errc::is_a_directory;
    throw ReplayError(
        fmt::format("{}: {}", path_, is_folder ? "is a directory" : error.code().message()));
  }

  const std::string& path_;
  std::optional<InputFile> file_;
};

/// What is wrong with the trace itself is about the file.
template <typename Run>
auto run_trace(const std::string& path, Run&& run) {
  try {
    return run();
  } catch (const std::invalid_argument& error) {
    throw ReplayError(fmt::format("{}: {}", path, error.what()));
  }
}

// ---- what if ------------------------------------------------------------------------------------

/// The same run, told to who waits.
template <class Run>
auto counted(const ReplayOptions& options, Run run) {
  return [&options, run](const WhatIf& what_if) {
    auto outcome = run(what_if);
    if (options.on_run) options.on_run();
    return outcome;
  };
}

// ---- snapshots ----------------------------------------------------------------------------------

ReplayStart start_of(const VerifiedHistory& verified) {
  const StartSummary& summary = verified.start();
  ReplayStart start;
  start.segments = summary.segments;
  start.blocks = summary.blocks;
  start.reserved_bytes = summary.reserved_bytes;
  start.open_blocks = summary.open_blocks;
  start.known_blocks = summary.known_blocks;
  start.narrowed_blocks = summary.narrowed_blocks;
  start.skipped_events = verified.first_event();
  return start;
}

ReplayedDevice device_of(const VerifiedHistory& verified) {
  ReplayedDevice device;
  device.device = verified.history().device;
  device.events = verified.history().events.size();
  device.notes = verified.history().notes;
  if (verified.disagreement()) {
    const Disagreement& disagreement = *verified.disagreement();
    device.mismatch = {disagreement.event, disagreement.summary, disagreement.details};
  }
  device.is_replayed = verified.is_replayed();
  if (!device.is_replayed) return device;
  const ReplayCounts& counts = verified.counts();
  device.start = start_of(verified);
  device.allocations = counts.allocations;
  device.allocations_at_recorded_address = counts.allocations_at_recorded_address;
  device.segments = counts.segments;
  device.segments_as_recorded = counts.segments_as_recorded;
  device.frees = counts.frees;
  device.ooms = counts.ooms;
  device.flushes = counts.flushes;
  device.retries = counts.retries;
  device.given_releases = verified.given_releases();
  device.peak_reserved_bytes = {verified.recorded_peaks().reserved_bytes,
                                verified.peaks().reserved_bytes};
  device.peak_requested_bytes = {verified.recorded_peaks().requested_bytes,
                                 verified.peaks().requested_bytes};
  return device;
}

std::vector<DeviceHistory> histories_in(const Snapshot& snapshot, const std::string& path,
                                        const RuleSet& rules) {
  try {
    return device_histories(snapshot, rules);
  } catch (const HistoryError& error) {
    throw ReplayError(fmt::format("{}: {}", path, error.what()));
  }
}

/// "--free-at a.py:1 --free-at b.py:2".
std::string change_text(const ReplayOptions& options) {
  std::string text;
  for (const std::string& line : options.free_at) {
    text += fmt::format("{}--free-at {}", text.empty() ? "" : " ", line);
  }
  if (options.is_fused) text += text.empty() ? "--optimizer fused" : " --optimizer fused";
  if (!options.dtype.empty()) text += (text.empty() ? "--dtype " : " --dtype ") + options.dtype;
  for (const std::string& module : options.checkpoints) {
    text += fmt::format("{}--checkpoint {}", text.empty() ? "" : " ", module);
  }
  return text;
}

class SnapshotReplay {
 public:
  SnapshotReplay(RecordedFile& recording, const ReplayOptions& options, const RuleSet& rules,
                 ReplayResult& result)
      : snapshot_(recording.snapshot()),
        options_(options),
        rules_(rules),
        result_(result),
        what_ifs_(options, rules, result),
        early_frees_(snapshot_, options.file, options.free_at),
        fused_optimizer_(snapshot_, options.file),
        checkpoints_(snapshot_, options.file, options.checkpoints) {}

  void run() {
    if (!options_.dtype.empty()) refuse_dtype();
    for (DeviceHistory& history : histories_in(snapshot_, options_.file, rules_)) {
      result_.settings = history.settings.text;
      try {
        replay(std::move(history));
      } catch (const HistoryError& error) {
        throw ReplayError(fmt::format("{}: {}", options_.file, error.what()));
      }
    }
    if (!is_any_replayed_) return;  // what the record disagrees in is the answer
    early_frees_.refuse_what_frees_nothing();
    if (options_.is_fused) fused_optimizer_.refuse_what_changes_nothing();
    checkpoints_.refuse_what_changes_nothing();
  }

 private:
  [[noreturn]] void refuse_dtype() const {
    throw ReplayError(fmt::format(
        "{}: --dtype {}: a record has the sizes of blocks, but not which of them are floats, nor "
        "what PyTorch would allocate instead: attention has other kernels, norms and losses stay "
        "in float32, "
        "autocast keeps casts of weights. Run the job in that dtype on a virtual GPU (ohm exec)",
        options_.file, options_.dtype));
  }

  void replay(DeviceHistory history) {
    const VerifiedHistory verified(std::move(history), rules_);
    result_.devices.push_back(device_of(verified));
    if (reports::is_cut(snapshot_)) {
      const auto events = static_cast<std::int64_t>(result_.devices.back().events);
      result_.devices.back().notes.push_back(reports::events_text(snapshot_, events) +
                                             reports::earlier_events_text(snapshot_));
    }
    if (verified.disagreement() && options_.verifies) result_.exit_reason = ExitReason::failed;
    if (!verified.is_replayed()) return;
    is_any_replayed_ = true;
    std::vector<Rerun> reruns = {rerun_of(verified, {}, "")};
    if (!options_.checkpoints.empty()) {
      reruns = checkpointed(verified);
    } else if (options_.changes_program()) {
      ChangedProgram program;
      if (!options_.free_at.empty()) program = early_frees_.on(verified);
      if (options_.is_fused) fused_optimizer_.change(verified, program);
      reruns.push_back(rerun_of(verified, std::move(program), change_text(options_)));
    }
    what_ifs_.run(reruns);
  }

  /// Of the part of the record that tells of it, as it was and as it would be.
  std::vector<Rerun> checkpointed(const VerifiedHistory& verified) {
    std::vector<ChangedProgram> readings = checkpoints_.on(verified);
    if (readings.empty()) return {rerun_of(verified, {}, "")};
    ChangedProgram part;
    part.end = readings.front().end;
    result_.devices.back().notes.push_back(fmt::format(
        "--checkpoint: of the first {} events, in which ohm record has noted the calls of modules",
        reports::grouped(static_cast<std::int64_t>(part.end))));
    Rerun as_it_was = rerun_of(verified, std::move(part), "");
    Rerun changed = rerun_of(verified, {}, change_text(options_));
    changed.run = counted(options_, agreed_run(verified, as_it_was.settings, std::move(readings)));
    return {std::move(as_it_was), std::move(changed)};
  }

  /// Throws ReplayError where what the record leaves open matters. Of what it does not the least
  /// favourable outcome: addresses may differ.
  std::function<WhatIfOutcome(const WhatIf&)> agreed_run(const VerifiedHistory& verified,
                                                         const AllocatorSettings& settings,
                                                         std::vector<ChangedProgram> readings) {
    WhatIf endless;
    endless.settings = settings;
    endless.rules = rules_;
    std::vector<std::size_t> peaks;
    for (const ChangedProgram& reading : readings) {
      peaks.push_back(run_elsewhere(verified, endless, reading).peak_allocated_bytes);
    }
    checkpoints_.refuse_unless_equal(peaks);
    return [&verified, readings = std::move(readings)](const WhatIf& what_if) {
      WhatIfOutcome worst;
      for (const ChangedProgram& reading : readings) {
        WhatIfOutcome outcome = run_elsewhere(verified, what_if, reading);
        const auto key = [](const WhatIfOutcome& one) {
          return std::tuple(!one.fits(), one.retries, one.peak_reserved_bytes);
        };
        if (&reading == &readings.front() || key(worst) < key(outcome)) worst = std::move(outcome);
      }
      return worst;
    };
  }

  Rerun rerun_of(const VerifiedHistory& verified, ChangedProgram program, std::string change) {
    const auto device = static_cast<std::size_t>(verified.history().device);
    Rerun rerun;
    rerun.device = verified.history().device;
    rerun.settings = verified.history().settings;
    rerun.change = std::move(change);
    rerun.events = verified.history().events.size();
    rerun.run = counted(options_, [&verified, program = std::move(program)](const WhatIf& what_if) {
      return run_elsewhere(verified, what_if, program);
    });
    rerun.site_of = [this, device](std::size_t request) {
      reports::RecordedSites sites(snapshot_.tables, /*has_stacks=*/true,
                                   reports::user_files_of(snapshot_));
      return sites.at(sites.of(snapshot_.device_traces[device][request].stack));
    };
    return rerun;
  }

  const Snapshot snapshot_;
  const ReplayOptions& options_;
  const RuleSet& rules_;
  ReplayResult& result_;
  WhatIfRuns what_ifs_;
  EarlyFrees early_frees_;
  FusedOptimizer fused_optimizer_;
  CheckpointedModules checkpoints_;
  bool is_any_replayed_ = false;
};

// ---- traces -------------------------------------------------------------------------------------

TraceRunOptions trace_options(const ReplayOptions& options, const RuleSet& rules) {
  TraceRunOptions run;
  run.rules = rules;
  run.memory_fraction = options.memory_fraction;
  return run;
}

ReplayedTrace summary_of(const Trace& trace, const TraceRunOptions& options) {
  TraceRunner runner(trace, options);
  ReplayedTrace summary;
  for (const TraceOperation& operation : trace.operations) {
    const TraceRunner::Outcome outcome = runner.run(operation);
    runner.events().clear();
    if (operation.kind == TraceOperation::Kind::allocate) ++summary.allocations;
    if (outcome.status == TraceRunner::Status::out_of_memory) ++summary.ooms;
    // Counters that the trace resets are not what is asked for here.
    const MemoryStats& stats = runner.allocator().stats();
    const auto raise = [](std::uint64_t& peak, std::int64_t current) {
      peak = std::max(peak, static_cast<std::uint64_t>(current));
    };
    raise(summary.peak_allocated_bytes, stats.allocated_bytes[0].current);
    raise(summary.peak_reserved_bytes, stats.reserved_bytes[0].current);
  }
  const MemoryStats& stats = runner.allocator().stats();
  summary.operations = trace.operations.size();
  summary.capacity_bytes = trace.capacity_bytes;
  summary.retries = static_cast<std::uint64_t>(stats.num_alloc_retries);
  summary.device_allocations = static_cast<std::uint64_t>(stats.num_device_alloc);
  summary.device_frees = static_cast<std::uint64_t>(stats.num_device_free);
  return summary;
}

void replay_trace(RecordedFile& recording, const ReplayOptions& options, const RuleSet& rules,
                  ReplayResult& result) {
  const Trace trace = recording.trace();
  result.settings = trace.settings;
  run_trace(options.file, [&] {
    const AllocatorSettings settings = parse_settings(trace.settings, rules);
    result.trace = summary_of(trace, trace_options(options, rules));
    Rerun rerun;
    rerun.settings = settings;
    rerun.events = trace.operations.size();
    rerun.run =
        counted(options, [&](const WhatIf& what_if) { return run_elsewhere(trace, what_if); });
    WhatIfRuns(options, rules, result).run({rerun});
  });
}

}  // namespace

ReplayResult replay_file(const ReplayOptions& options) {
  const RuleSet& rules = rule_set_or_default(options.rules);
  for (const std::string& settings : options.settings) parse_settings(settings, rules);
  RecordedFile recording(options.file);
  ReplayResult result;
  result.file = options.file;
  result.rules = rules.name;
  if (recording.is_trace()) {
    if (options.verifies) {
      throw std::invalid_argument(
          "--verify compares a snapshot with its own record; a .trace has only requests: compare "
          "--format golden with what is expected");
    }
    if (options.changes_program()) {
      throw std::invalid_argument(change_text(options) +
                                  " is for snapshots: a .trace has no lines and no steps");
    }
    replay_trace(recording, options, rules, result);
  } else {
    SnapshotReplay(recording, options, rules, result).run();
  }
  return result;
}

GoldenOutput replay_in_golden_format(const ReplayOptions& options) {
  const RuleSet& rules = rule_set_or_default(options.rules);
  RecordedFile recording(options.file);
  if (!recording.is_trace()) {
    throw std::invalid_argument("--format golden, --events and --ooms are for .trace files");
  }
  const Trace trace = recording.trace();
  TraceRunOptions run = trace_options(options, rules);
  if (!options.settings.empty()) run.settings = options.settings.front();
  if (!options.capacities.empty()) run.capacity_bytes = options.capacities.front();
  return run_trace(options.file, [&] { return run_in_golden_format(trace, run); });
}

}  // namespace ohm::engine

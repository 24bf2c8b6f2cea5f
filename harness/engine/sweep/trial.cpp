#include "harness/engine/sweep/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <utility>

#include "allocator_shim/fault/fault_point.h"
#include "harness/engine/snapshot_file.h"
#include "runtime/autograd/autocast_state.h"

namespace ohm::engine {

/// The running variant: nothing is measured, and its files are not written.
class Trial::Run final : public RunContext {
 public:
  explicit Run(Machine& machine) : machine_(machine) {}

  void mark_step() override { machine_.begin_step(++steps_ + 1); }
  void dump_snapshot(const std::string& path) override {
    check_script_snapshot_path(path);
    machine_.record_snapshot();
  }
  Machine& machine() override { return machine_; }

 private:
  Machine& machine_;
  std::int64_t steps_ = 0;
};

namespace {

bool same_bits(const ReturnedValue& a, const ReturnedValue& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.text == b.text &&
         a.has_values == b.has_values && a.values.size() == b.values.size() &&
         (a.values.empty() ||
          std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof a.values[0]) == 0);
}

/// A script can make an error's text of any length: a report needs the beginning.
std::string beginning_of(std::string text) {
  constexpr std::size_t kMostBytes = 2048;
  if (text.size() <= kMostBytes) return text;
  std::size_t end = kMostBytes;
  const auto is_within_letter = [&] { return (static_cast<unsigned char>(text[end]) >> 6U) == 2; };
  while (end > 0 && is_within_letter()) --end;
  const std::size_t rest = text.size() - end;
  text.resize(end);
  return text + fmt::format("... ({} more bytes)", rest);
}

/// The first name whose values differ; nullopt when none do.
std::optional<std::string> different_value(const ReturnedValues& values,
                                           const ReturnedValues& others) {
  for (std::size_t i = 0; i < std::max(values.size(), others.size()); ++i) {
    if (i >= values.size()) return others[i].first;
    if (i >= others.size() || values[i].first != others[i].first) return values[i].first;
    if (!same_bits(values[i].second, others[i].second)) return values[i].first;
  }
  return std::nullopt;
}

bool has_values(const ReturnedValues& values) {
  return !values.empty() && std::all_of(values.begin(), values.end(),
                                        [](const auto& value) { return value.second.has_values; });
}

MemoryByPlace memory_of(const UndisturbedRun& undisturbed) {
  return {undisturbed.at_end.begin(), undisturbed.at_end.end()};
}

TrialVerdict bad(FaultVerdict verdict, std::string what) {
  TrialVerdict found;
  found.verdict = verdict;
  found.what = std::move(what);
  return found;
}

}  // namespace

Trial::Trial(const ScenarioLoader& loader, const TrialSetup& setup, CallRecorder::Decide decide)
    : setup_(setup),
      machine_(setup.machine),
      context_(machine_.context()),
      program_(loader(setup.request)),
      recorder_(machine_, setup.filter, std::move(decide)) {
  machine_.add_gpus();
  run_ = std::make_unique<Run>(machine_);
  machine_.faults().add(recorder_);
}

Trial::~Trial() { machine_.faults().remove(recorder_); }

TrialEnding Trial::ending_of(const std::function<ReturnedValues()>& body) {
  TrialEnding ending;
  try {
    ending.values = body();
    ending.outcome = Outcome::completed;
  } catch (const OutOfMemory& error) {
    ending.outcome = Outcome::oom;
    ending.is_injected = error.report().injected;
    ending.message = error.what();
  } catch (const ScriptError& error) {
    ending.outcome = Outcome::error;
    ending.message = error.what();
  } catch (const std::invalid_argument& error) {
    ending.outcome = Outcome::error;
    ending.message = error.what();
  } catch (const std::bad_alloc&) {
    ending.outcome = Outcome::error;
    ending.message = "the host has no memory left";
  }
  ending.message = beginning_of(std::move(ending.message));
  return ending;
}

void Trial::run() {
  ending_ = ending_of([&] { return program_->run(setup_.variant, *run_); });
}

UndisturbedRun Trial::undisturbed() {
  UndisturbedRun run;
  run.ending = ending_;
  run.calls = recorder_.calls();
  run.points = recorder_.points();
  run.hashes = recorder_.point_hashes();
  program_->let_go();
  machine_.context().pinned->empty_cache();
  const MemoryByPlace memory = memory_by_place(machine_, /*host=*/true);
  run.at_end.assign(memory.begin(), memory.end());
  run.modes = modes();
  run.is_benchmark = machine_.context().state.convolution_plans.is_benchmark;
  run.memory_limits = memory_limits();
  run.peak_bytes = peak_bytes();
  return run;
}

// ---- what is left -------------------------------------------------------------------------------

/// What is switched on, in words: equal texts are equal modes.
std::string Trial::modes() const {
  const ExecutionState& state = machine_.context_state();
  std::string text;
  const auto add = [&](bool is_on, std::string_view what) {
    if (!is_on) return;
    if (!text.empty()) text += ", ";
    text += what;
  };
  add(!state.grad_enabled, "gradients are off");
  add(state.inference_mode, "inference mode is on");
  add(state.autocast && state.autocast->is_enabled, "autocast is on");
  add(state.autocast && !state.autocast->cache.is_empty(), "autocast keeps casts");
  add(state.category != Category::activation, "allocations count as something else");
  add(!state.op.empty(), "an op seems to run");
  add(state.current_gpu != Device::cuda(0), "another GPU is the current one");
  add(state.backward_pass != 0, "a backward pass seems to run");
  add(!state.after_backward.empty(), "callbacks wait for the end of a backward pass");
  add(state.saved_tensor_hook != nullptr, "a hook takes what is saved");
  add(!state.stops_recomputation_early, "checkpoints are recomputed to their end");
  for (int gpu = 0; gpu < machine_.gpu_count(); ++gpu) {
    add(state.streams.of(Device::cuda(gpu)) != kDefaultStream,
        fmt::format("another stream of cuda:{} is the current one", gpu));
  }
  return text;
}

/// Of each GPU; the largest number where there is none.
std::vector<std::int64_t> Trial::memory_limits() {
  std::vector<std::int64_t> limits;
  for (int gpu = 0; gpu < machine_.gpu_count(); ++gpu) {
    constexpr auto kNone = static_cast<std::size_t>(INT64_MAX);
    const std::size_t limit = machine_.caching_allocator(gpu).memory_limit().value_or(kNone);
    limits.push_back(static_cast<std::int64_t>(limit));
  }
  return limits;
}

/// What a program may choose for good, but has to take back where the undisturbed run does; empty
/// when it did.
std::string Trial::setting_left(const UndisturbedRun& undisturbed) {
  if (machine_.context().state.convolution_plans.is_benchmark && !undisturbed.is_benchmark) {
    return "cudnn.benchmark is on";
  }
  const std::vector<std::int64_t> limits = memory_limits();
  for (std::size_t gpu = 0; gpu < limits.size(); ++gpu) {
    if (limits[gpu] < undisturbed.memory_limits[gpu]) {
      return fmt::format("cuda:{} may use only {} bytes", gpu, limits[gpu]);
    }
  }
  return {};
}

/// What a program chooses, and may choose once more when memory runs out.
std::uint64_t Trial::settings_key() {
  const Context& context = machine_.context();
  const AttentionKernels& attention = context.state.attention_kernels;
  PointHash hash;
  for (const bool is_on : {context.cudnn_enabled, context.state.convolution_plans.is_benchmark,
                           attention.flash, attention.efficient, attention.math}) {
    hash.add(std::uint64_t{is_on});
  }
  // Which convolutions were computed so far decides when the cache is emptied next.
  context.state.convolution_plans.for_each(
      [&](ExecutionThread thread, const ConvolutionKey& key, ConvolutionPlan plan) {
        hash.add(static_cast<std::uint64_t>(thread)).add(static_cast<std::uint64_t>(plan));
        for (const std::int64_t number : key) hash.add(static_cast<std::uint64_t>(number));
      });
  for (int gpu = 0; gpu < machine_.gpu_count(); ++gpu) {
    const CachingAllocator& allocator = machine_.caching_allocator(gpu);
    const AllocatorSettings& settings = allocator.settings();
    hash.add(settings.text).add(std::uint64_t{settings.expandable_segments});
    hash.add(settings.max_non_split_rounding_bytes);
    hash.add(allocator.memory_limit().value_or(~std::size_t{0}));
    hash.add(context.gpus[static_cast<std::size_t>(gpu)].cublas_workspace_bytes);
  }
  return hash.value();
}

std::int64_t Trial::peak_bytes() const {
  std::int64_t peak = 0;
  for (const DeviceResult& gpu : machine_.device_results()) {
    peak = std::max(peak, gpu.peak_allocated_bytes);
  }
  return peak;
}

std::string Trial::broken_invariant() {
  try {
    for (int gpu = 0; gpu < machine_.gpu_count(); ++gpu) {
      machine_.caching_allocator(gpu).check_invariants();
    }
  } catch (const std::logic_error& broken) {
    return broken.what();
  }
  return {};
}

/// Of each device and category no more may be alive than at the undisturbed end: objects that a
/// program replaces have another line, and the same bytes.
std::string Trial::leaked(const UndisturbedRun& undisturbed) {
  machine_.context().pinned->empty_cache();
  const MemoryByPlace now = memory_by_place(machine_, /*host=*/true);
  const MemoryByPlace then = memory_of(undisturbed);
  const auto sums_of = [](const MemoryByPlace& memory) {
    std::map<std::string, std::int64_t> sums;
    for (const auto& [place, held] : memory) {
      sums[place.substr(0, place.find(' ', place.find(' ') + 1))] += held.bytes;
    }
    return sums;
  };
  const std::map<std::string, std::int64_t> allowed = sums_of(then);
  MemoryByPlace too_much;
  for (const auto& [kind, bytes] : sums_of(now)) {
    const auto known = allowed.find(kind);
    if (bytes <= (known == allowed.end() ? 0 : known->second)) continue;
    for (const auto& [place, held] : now) {
      if (place.starts_with(kind + " ")) too_much[place] = held;
    }
  }
  return excess_text(too_much, then, Places::all);
}

/// 0 where the state cannot be told from others.
std::uint64_t Trial::state_key() {
  const std::optional<std::uint64_t> script = program_->fingerprint();
  if (!script) return 0;
  PointHash hash;
  hash.add(*script).add(modes()).add(settings_key());
  for (int device = -1; device < machine_.gpu_count(); ++device) {
    for (const LiveBlock& block : machine_.requests(device).live_blocks()) {
      // What only waits for a stream is the allocator's; where the rest lies is all the same.
      if (!block.pending_free) hash.add(block.bytes).add(std::uint64_t{block.site});
    }
  }
  return hash.value() | 1U;
}

/// One more step, or the variant once more; why it does not work, empty when it does.
std::string Trial::unusable(const UndisturbedRun& undisturbed) {
  machine_.context().seed(setup_.machine.seed);
  machine_.begin_step(1);
  if (program_->has_next_step(setup_.variant)) {
    machine_.drop_faults();
    const TrialEnding again = ending_of([&] {
      program_->next_step(setup_.variant, *run_);
      return ReturnedValues();
    });
    return again.outcome == Outcome::completed ? std::string()
                                               : "its next_step fails: " + again.message;
  }
  machine_.restart_faults();
  const TrialEnding again = ending_of([&] { return program_->run(setup_.variant, *run_); });
  if (again.outcome == undisturbed.ending.outcome) return {};
  return again.message.empty() ? "run again, it ends in another way"
                               : "run again, it fails: " + again.message;
}

// ---- the verdict --------------------------------------------------------------------------------

/// Whether the requests after the failure end as those of the undisturbed run do from the failed
/// request on: the work was done again, and what followed is the same.
bool Trial::goes_on_as(const UndisturbedRun& undisturbed) const {
  const RecordedCalls& calls = recorder_.calls();
  const std::size_t tail = undisturbed.calls.size() - recorder_.target();
  if (calls.size() < recorder_.calls_before_recovery() + tail) return false;
  const auto matches = [&](const std::vector<std::uint64_t>& mine,
                           const std::vector<std::uint64_t>& theirs) {
    return std::equal(mine.end() - static_cast<std::ptrdiff_t>(tail), mine.end(),
                      theirs.end() - static_cast<std::ptrdiff_t>(tail));
  };
  return matches(calls.kinds, undisturbed.calls.kinds) &&
         matches(calls.bytes, undisturbed.calls.bytes);
}

TrialVerdict Trial::judged_values(const UndisturbedRun& undisturbed) const {
  TrialVerdict same;
  same.verdict = FaultVerdict::recovered_same;
  std::string what;
  if (has_values(undisturbed.ending.values)) {
    const auto different = different_value(ending_.values, undisturbed.ending.values);
    if (!different) return same;
    what = fmt::format("'{}' is not what the undisturbed run returns", *different);
  } else {
    // Of what the allocator survived by itself the program has seen nothing.
    if (!recorder_.reached_program() || goes_on_as(undisturbed)) return same;
    what = "its requests after the failure are not those of the undisturbed run";
  }
  const auto& kinds = undisturbed.calls.kinds;
  const std::uint64_t target = recorder_.calls().kinds[recorder_.target()];
  const bool is_missing = recorder_.successes() < std::count(kinds.begin(), kinds.end(), target);
  if (!is_missing) return bad(FaultVerdict::recovered_different, std::move(what));
  return bad(FaultVerdict::swallowed, what + ", and the failed request was not made again");
}

TrialVerdict Trial::judged_ending(const UndisturbedRun& undisturbed) const {
  switch (ending_.outcome) {
    case Outcome::completed:
      return judged_values(undisturbed);
    case Outcome::oom: {
      if (!ending_.is_injected && undisturbed.ending.outcome != Outcome::oom) {
        return bad(FaultVerdict::wrong_error,
                   "a genuine out-of-memory error followed: " + ending_.message);
      }
      TrialVerdict clean;
      clean.verdict = FaultVerdict::clean_error;
      return clean;
    }
    default:
      if (undisturbed.ending.outcome == Outcome::error &&
          undisturbed.ending.message == ending_.message) {
        return judged_values(undisturbed);
      }
      return bad(FaultVerdict::wrong_error, ending_.message);
  }
}

TrialVerdict Trial::judged(const UndisturbedRun& undisturbed, const UsableStates& usable) {
  recorder_.disarm();
  if (!recorder_.has_fired()) return bad(FaultVerdict::not_reached, "the request was never made");
  const RecordedCalls& calls = recorder_.calls();
  const auto until = static_cast<std::ptrdiff_t>(recorder_.target() + 1);
  if (undisturbed.calls.size() <= recorder_.target() ||
      !std::equal(calls.points.begin(), calls.points.begin() + until,
                  undisturbed.calls.points.begin())) {
    return bad(FaultVerdict::nondeterministic,
               "the requests before the failure are not those of the undisturbed run");
  }
  program_->let_go();
  TrialVerdict found = judged_ending(undisturbed);
  found.handled = ending_.outcome != Outcome::oom;
  found.benign = found.handled && !recorder_.reached_program();
  if (found.handled && !found.benign) {
    found.peak_bytes = peak_bytes();
    found.repeated_calls = static_cast<std::int64_t>(calls.size()) -
                           static_cast<std::int64_t>(undisturbed.calls.size());
  }
  const auto worse = [&](FaultVerdict verdict, const std::string& what) {
    if (what.empty()) return false;
    found.verdict = verdict;
    found.what = what;
    return true;
  };
  if (worse(FaultVerdict::corrupt, broken_invariant())) return found;
  if (modes() != undisturbed.modes && worse(FaultVerdict::corrupt, "left behind: " + modes())) {
    return found;
  }
  const std::string left = setting_left(undisturbed);
  if (!left.empty() && worse(FaultVerdict::corrupt, "left behind: " + left)) return found;
  if (worse(FaultVerdict::leak, leaked(undisturbed))) return found;
  // What looks like the failed request made again is one only if all that followed it follows.
  const bool is_retry = recorder_.is_retry_immediate() || goes_on_as(undisturbed);
  if (is_retry && !recorder_.held_by_failed_try().empty() &&
      worse(FaultVerdict::leak,
            "when the failed request was made again, the failed try still held " +
                recorder_.held_by_failed_try())) {
    return found;
  }
  if (found.verdict == FaultVerdict::wrong_error) return found;
  found.state_key = state_key();
  const bool is_known = found.state_key != 0 && usable.count(found.state_key) != 0;
  if (!is_known && worse(FaultVerdict::corrupt, unusable(undisturbed))) found.state_key = 0;
  return found;
}

}  // namespace ohm::engine

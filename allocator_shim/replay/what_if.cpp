#include "allocator_shim/replay/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/caching/caching_allocator.h"
#include "allocator_shim/caching/trace_runner.h"
#include "allocator_shim/device/capacity_tracker.h"
#include "allocator_shim/observe/out_of_memory.h"
#include "allocator_shim/replay/history_steps.h"
#include "allocator_shim/replay/other_memory.h"
#include "allocator_shim/replay/recorded_memory.h"

namespace ohm {
namespace {

std::size_t bytes_of(std::int64_t stat) { return static_cast<std::size_t>(stat); }

/// Adds what the counters say since they were last reset.
void gather(WhatIfOutcome& outcome, const MemoryStats& stats) {
  const auto raise = [](std::size_t& peak, const PooledStat& stat) {
    peak = std::max(peak, bytes_of(stat[0].peak));
  };
  raise(outcome.peak_allocated_bytes, stats.allocated_bytes);
  raise(outcome.peak_requested_bytes, stats.requested_bytes);
  raise(outcome.peak_reserved_bytes, stats.reserved_bytes);
  if (!outcome.failure) raise(outcome.stranded_bytes, stats.inactive_split_bytes);
  outcome.retries += stats.num_alloc_retries;
}

void fail(WhatIfOutcome& outcome, const CachingAllocator& allocator, WhatIfFailure failure) {
  const MemoryStats& stats = allocator.stats();
  outcome.failure = std::move(failure);
  outcome.stranded_bytes =
      bytes_of(stats.reserved_bytes[0].current - stats.active_bytes[0].current);
}

// ---- histories ----------------------------------------------------------------------------------

CachingAllocatorOptions options_of(const VerifiedHistory& history, const WhatIf& what_if) {
  CachingAllocatorOptions options;
  options.device = history.history().device;
  options.rules = what_if.rules;
  options.settings = what_if.settings;
  return options;
}

class HistoryElsewhere {
 public:
  HistoryElsewhere(const VerifiedHistory& verified, const WhatIf& what_if,
                   const ChangedProgram& program)
      : history_(verified.history()),
        lives_(verified.lives()),
        flushes_(verified.flushes()),
        what_if_(what_if),
        program_(program),
        memory_(verified, what_if.capacity_bytes,
                program.is_changed() ? SegmentAddresses::lowest_gap : SegmentAddresses::recorded),
        tracker_(memory_, verified.initial_state().reserved_bytes()),
        streams_(static_cast<StreamId>(history_.lanes.size())),
        allocator_(tracker_, streams_, options_of(verified, what_if)),
        handles_(lives_.lives.size()),
        steps_(history_, lives_, verified.first_event()) {
    restore(verified.initial_state());
  }

  WhatIfOutcome run() {
    begin();
    HistoryStep step;
    while (outcome_.fits() && steps_.next(step) && step.begin < program_.end) {
      change_until(step.begin);
      if (outcome_.fits()) do_step(step);
    }
    gather(outcome_, allocator_.stats());
    outcome_.refusals = tracker_.refusals();
    if (!what_if_.memory_fraction) {
      const bool has_begun = outcome_.fits() || outcome_.failure->request;
      outcome_.same_from_bytes = has_begun ? tracker_.same_from_bytes() : 0;
    }
    return std::move(outcome_);
  }

 private:
  void restore(const InitialState& state) {
    const std::vector<BlockHandle> handles = allocator_.restore(state.segments, state.oldest_first);
    for (std::size_t i = 0; i < handles.size(); ++i) {
      const std::uint32_t life = state.allocated[i].life;
      if (lives_.lives[life].is_pending_at_start) {
        free(handles[i], lives_.lives[life]);
      } else {
        handles_[life] = handles[i];
      }
    }
    for (std::size_t i = 0; i < history_.lanes.size(); ++i) {
      if (history_.lanes[i].is_private()) allocator_.make_private(static_cast<StreamId>(i));
    }
    allocator_.reset_peak_stats();
    allocator_.reset_accumulated_stats();
  }

  /// A smaller device would have made the program empty its cache before.
  void begin() {
    if (what_if_.memory_fraction) allocator_.set_memory_fraction(*what_if_.memory_fraction);
    if (tracker_.held_bytes() <= what_if_.capacity_bytes) return;
    allocator_.empty_cache();
    allocator_.reset_peak_stats();
    tracker_.forget_answers();
    ++outcome_.retries;
    if (tracker_.held_bytes() <= what_if_.capacity_bytes) return;
    WhatIfFailure failure;
    failure.requested_bytes = tracker_.held_bytes();
    failure.message = fmt::format("the state that the record begins in takes {}",
                                  human_and_exact_bytes(tracker_.held_bytes()));
    fail(outcome_, allocator_, std::move(failure));
  }

  void do_step(const HistoryStep& step) {
    complete(step);
    switch (step.kind) {
      case HistoryStep::Kind::allocate:
        if (was_flushed(step)) allocator_.empty_cache();
        return request(step);
      case HistoryStep::Kind::free:
        if (is_kept_behind(step.begin)) return;
        return free_life(lives_.life_of[step.begin]);
      case HistoryStep::Kind::flush:
        return allocator_.empty_cache();
      case HistoryStep::Kind::snapshot:
      case HistoryStep::Kind::refusal:
        return;
    }
  }

  bool is_kept_behind(std::size_t event) const {
    return !program_.kept_until.empty() && event < program_.kept_until[lives_.life_of[event]];
  }

  /// What the changed program does before this event and the record does not.
  void change_until(std::size_t event) {
    const std::vector<ChangedProgram::Repeat>& repeats = program_.repeats;
    for (; next_repeat_ < repeats.size() && repeats[next_repeat_].event <= event; ++next_repeat_) {
      free_early(repeats[next_repeat_].event);
      repeat(repeats[next_repeat_]);
      if (!outcome_.fits()) return;
    }
    free_early(event);
  }

  void free_early(std::size_t event) {
    const std::vector<ChangedProgram::EarlyFree>& frees = program_.early_frees;
    for (; next_early_ < frees.size() && frees[next_early_].event <= event; ++next_early_) {
      free_life(frees[next_early_].life);
    }
  }

  void repeat(const ChangedProgram::Repeat& repeat) {
    using Kind = ChangedProgram::Repeat::Kind;
    std::unordered_map<std::uint32_t, BlockHandle> taken;  // by life
    for (const ChangedProgram::Repeat::Step& step : repeat.steps) {
      const BlockLife& life = lives_.lives[step.life];
      if (step.kind == Kind::drop) {
        const auto found = taken.find(step.life);
        if (found == taken.end()) continue;
        allocator_.free(found->second);
        taken.erase(found);
        continue;
      }
      try {
        BlockHandle block = allocate(life.requested_bytes, life.stream);
        (step.kind == Kind::keep ? handles_[step.life] : taken[step.life]) = block;
      } catch (const OutOfMemory& error) {
        fail(outcome_, allocator_, {life.allocated_at, asked_bytes_, error.what()});
        return;
      }
    }
    // In the order of their requests.
    for (const ChangedProgram::Repeat::Step& step : repeat.steps) {
      const auto found = taken.find(step.life);
      if (found == taken.end()) continue;
      allocator_.free(found->second);
      taken.erase(found);
    }
  }

  void free_life(std::uint32_t life) {
    if (BlockHandle& handle = handles_[life]) {
      free(std::exchange(handle, nullptr), lives_.lives[life]);
    }
    const auto companion = companions_.find(life);
    if (companion == companions_.end()) return;
    allocator_.free(companion->second);
    companions_.erase(companion);
  }

  /// Other streams are done when they were in the record.
  void complete(const HistoryStep& step) {
    if (step.kind == HistoryStep::Kind::free) return;
    for (std::size_t i = step.begin; i < step.end; ++i) {
      if (history_.events[i].action == EventAction::free_completed) streams_.complete(1);
    }
  }

  bool was_flushed(const HistoryStep& step) {
    while (next_flush_ < flushes_.size() && flushes_[next_flush_].begin < step.begin) ++next_flush_;
    return next_flush_ < flushes_.size() && flushes_[next_flush_].begin == step.begin;
  }

  void request(const HistoryStep& step) {
    const MemoryEvent& asked = history_.events[step.end - 1];
    try {
      if (asked.action == EventAction::alloc) {
        serve(lives_.life_of[step.end - 1], asked);
      } else {
        allocator_.free(allocate(asked.bytes, asked.stream));
        ++outcome_.rescued;
      }
    } catch (const OutOfMemory& error) {
      fail(outcome_, allocator_, {step.end - 1, asked_bytes_, error.what()});
    }
  }

  void serve(std::uint32_t life, const MemoryEvent& asked) {
    const std::size_t companion = program_.companions.empty() ? 0 : program_.companions[life];
    if (companion > 0) companions_[life] = allocate(companion, asked.stream);
    const std::size_t bytes = program_.bytes.empty() ? asked.bytes : program_.bytes[life];
    if (bytes > 0) handles_[life] = allocate(bytes, asked.stream);
  }

  BlockHandle allocate(std::size_t bytes, StreamId stream) {
    asked_bytes_ = bytes;
    AllocationRequest request;
    request.bytes = bytes;
    request.stream = stream;
    return allocator_.allocate(request).block;
  }

  void free(BlockHandle block, const BlockLife& life) {
    if (life.deferral != 0) allocator_.record_stream(block, streams_.stream_of(life.deferral));
    allocator_.free(block);
  }

  const DeviceHistory& history_;
  const BlockLives& lives_;
  const std::vector<RecordedFlush>& flushes_;
  const WhatIf& what_if_;
  const ChangedProgram& program_;
  OtherMemory memory_;
  CapacityTracker tracker_;
  RecordedStreams streams_;
  CachingAllocator allocator_;
  std::vector<BlockHandle> handles_;
  std::unordered_map<std::uint32_t, BlockHandle> companions_;  ///< by life
  std::size_t asked_bytes_ = 0;                                ///< by the last request
  HistorySteps steps_;
  std::size_t next_flush_ = 0;
  std::size_t next_early_ = 0;
  std::size_t next_repeat_ = 0;
  WhatIfOutcome outcome_;
};

// ---- traces -------------------------------------------------------------------------------------

bool sets_fraction(const Trace& trace) {
  return std::any_of(trace.operations.begin(), trace.operations.end(),
                     [](const TraceOperation& operation) {
                       return operation.kind == TraceOperation::Kind::set_fraction;
                     });
}

bool resets_counters(const TraceOperation& operation) {
  return operation.kind == TraceOperation::Kind::reset_peak ||
         operation.kind == TraceOperation::Kind::reset_accumulated;
}

}  // namespace

WhatIfOutcome run_elsewhere(const VerifiedHistory& history, const WhatIf& what_if,
                            const ChangedProgram& program) {
  return HistoryElsewhere(history, what_if, program).run();
}

WhatIfOutcome run_elsewhere(const Trace& trace, const WhatIf& what_if) {
  TraceRunOptions options;
  options.capacity_bytes = what_if.capacity_bytes;
  options.settings = what_if.settings.text;
  options.rules = what_if.rules;
  options.memory_fraction = what_if.memory_fraction;
  TraceRunner runner(trace, options);
  WhatIfOutcome outcome;
  for (const TraceOperation& operation : trace.operations) {
    if (resets_counters(operation)) {
      gather(outcome, runner.allocator().stats());
      runner.allocator().reset_accumulated_stats();
    }
    const TraceRunner::Outcome done = runner.run(operation);
    runner.events().clear();
    if (done.status != TraceRunner::Status::out_of_memory) continue;
    fail(outcome, runner.allocator(), {operation.line, operation.bytes, done.message});
    break;
  }
  gather(outcome, runner.allocator().stats());
  outcome.refusals = runner.tracker().refusals();
  if (!what_if.memory_fraction && !sets_fraction(trace)) {
    outcome.same_from_bytes = runner.tracker().same_from_bytes();
  }
  return outcome;
}

}  // namespace ohm

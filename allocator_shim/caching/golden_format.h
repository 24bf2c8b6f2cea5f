// A trace's run in the words of the recordings made of PyTorch's own allocator, so that both can be
// compared with diff.
#pragma once

#include <string>

#include "allocator_shim/caching/trace_file.h"
#include "allocator_shim/caching/trace_runner.h"

namespace ohm {

struct GoldenOutput {
  /// A line for each line of the trace: headers as they stand, counters for `d`, otherwise status,
  /// segment ordinal, offset, twelve counters and a hash of the allocator's state.
  std::string expected;
  /// `line action ordinal offset bytes stream` for each event.
  std::string events;
  /// `line TAB message` for each request that was out of memory.
  std::string out_of_memory;
};

/// Throws what TraceRunner throws.
GoldenOutput run_in_golden_format(const Trace& trace, const TraceRunOptions& options = {});

}  // namespace ohm

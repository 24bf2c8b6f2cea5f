// ohm replay: a recorded history or a list of requests through the caching allocator, as it was and
// as it might have been.
#pragma once

#include "allocator_shim/caching/golden_format.h"
#include "harness/replay/replay_error.h"
#include "harness/replay/replay_options.h"
#include "reports/model/replay_result.h"

namespace ohm::engine {

/// Snapshots and .trace files. Throws ReplayError; std::invalid_argument for settings and options
/// that do not fit the file.
ReplayResult replay_file(const ReplayOptions& options);

/// A .trace in the words of the recordings made of PyTorch's allocator; at most one of settings and
/// one of capacities. Throws as replay_file() does.
GoldenOutput replay_in_golden_format(const ReplayOptions& options);

}  // namespace ohm::engine

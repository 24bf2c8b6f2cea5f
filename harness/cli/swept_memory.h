// Whose memory a sweep of a command fails: that of virtual GPUs, or the host's.
#pragma once

#include <memory>
#include <string>

#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/command/torch_memory.h"

namespace ohm::cli {

struct SweptMemory {
  std::unique_ptr<engine::FailingMemory> memory;
  bool is_host = false;
};

/// `asked`: "device", "host", or nothing: a Python program's GPUs where it asks them for memory,
/// which a run of it tells, and otherwise the host. Throws UsageError for options of the GPUs
/// (`is_about_gpus`) with the host; what FailingMemory throws.
SweptMemory swept_memory(const std::string& asked, const engine::TorchCommand& command,
                         bool is_about_gpus);

}  // namespace ohm::cli

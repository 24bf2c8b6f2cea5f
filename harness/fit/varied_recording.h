// A recording of one process at one value of what varies: what it asked its GPUs for, by whom, and
// in which step.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocator_shim/base/rule_set.h"
#include "allocator_shim/observe/stack_table.h"
#include "allocator_shim/replay/verified_history.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::engine {

/// A recording cannot be compared, or not with the others. Says which file and why.
class RecordingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What happened on one GPU.
struct RecordedGpu {
  VerifiedHistory history;
  /// Of each life of the history the stack of its request, as CommonStacks knows it.
  std::vector<StackId> stacks;
  /// Of each marked step the number of events up to its end, ascending.
  std::vector<std::uint32_t> step_ends;
  std::string origin;  ///< the GPU and PyTorch's version, where ohm record wrote them
};

struct VariedRecording {
  std::string file;
  std::int64_t value = 0;
  Snapshot snapshot;
  std::vector<RecordedGpu> gpus;
};

/// Stacks of several recordings, as one: frames are told by the names of their files without
/// folders, so that a job is the same in another folder and in another environment.
class CommonStacks {
 public:
  /// Ids of these, by the StackIds of the snapshot.
  StackId id_of(StackId stack, const StackTable& tables);

 private:
  StackTable common_;
};

/// Replays the history of every GPU. Throws RecordingError for what ran out of memory, what the
/// allocator does not agree with, and for files that cannot be read or have no history.
VariedRecording read_varied_recording(const std::string& file, std::int64_t value,
                                      const RuleSet& rules, CommonStacks& stacks);

}  // namespace ohm::engine

// The replay of a recorded job whose modules are checkpointed
// (torch.utils.checkpoint.checkpoint(module, x, use_reentrant=False)).
//
// Note [Checkpointing a record]
// A checkpointed module keeps what goes in until its backward is done, and of what it makes only
// what comes out. When backward comes to it, it runs again, and keeps what its nodes have saved;
// from there on all goes as recorded. What was saved is what outlives the call, does not come out,
// and goes in the module's backward.
//
// What a node has saved is held by its own code alone then: it goes when the node's results are
// there, before autograd sums up the gradients of what was broadcast.
//
// A record leaves open at which node backward asks for what was saved first, whether the module's
// last ops run again (it ends with the last thing that is needed), how long the program itself
// holds what is not saved any more (until the call's end at most, until the next request at least),
// which node is the last that has saved something, and how many results some nodes have. All of
// these are tried: where the peaks differ, nothing is predicted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "allocator_shim/replay/what_if.h"
#include "allocator_shim/snapshot/snapshot.h"
#include "harness/replay/recorded_calls.h"

namespace ohm::engine {

class CheckpointedModules {
 public:
  /// Of this snapshot, which was read from `file`; both outlive this. Throws ReplayError where the
  /// record notes no calls of these modules, or not all of what it takes.
  CheckpointedModules(const Snapshot& snapshot, const std::string& file,
                      const std::vector<std::string>& patterns);

  /// The programs of a device that the record leaves open, of the steps in which calls were noted;
  /// none where no module was called there. Throws ReplayError that says why, where the record does
  /// not tell.
  std::vector<ChangedProgram> on(const VerifiedHistory& history);

  /// Throws ReplayError where the programs have several peaks.
  void refuse_unless_equal(const std::vector<std::size_t>& peaks) const;

  /// After all devices: throws ReplayError where checkpointing changes nothing.
  void refuse_what_changes_nothing() const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void check(const std::vector<std::string>& patterns) const;
  std::string known_paths(const std::vector<RecordedCall>& all) const;

  const Snapshot& snapshot_;
  const std::string& file_;
  std::string patterns_;
  std::vector<RecordedCall> calls_;  ///< of the modules that were asked for
  bool changes_something_ = false;
};

}  // namespace ohm::engine

// The what-if of a fused optimizer: a recorded Adam or AdamW with fused=True.
//
// A fused step computes in place: what the loops over lists of tensors and over single ones make on
// the way is not requested. In exchange each parameter's count of steps, four bytes, stands on the
// GPU: it is made before the rest of the parameter's state, and lives as long.
#pragma once

#include <string>

#include "allocator_shim/replay/what_if.h"
#include "allocator_shim/snapshot/snapshot.h"

namespace ohm::engine {

class FusedOptimizer {
 public:
  /// Of this snapshot, which was read from `file`; both outlive this.
  FusedOptimizer(const Snapshot& snapshot, const std::string& file)
      : snapshot_(snapshot), file_(file) {}

  /// Changes the program of a device. Throws ReplayError that says why, where the record does not
  /// tell what fused optimizers would do.
  void change(const VerifiedHistory& history, ChangedProgram& program);

  /// After all devices: throws ReplayError where no such optimizer was recorded.
  void refuse_what_changes_nothing() const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;

  const Snapshot& snapshot_;
  const std::string& file_;
  bool has_optimizer_ = false;
};

}  // namespace ohm::engine

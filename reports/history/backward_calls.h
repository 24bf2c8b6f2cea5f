// The lines of a program whose backward its autograd threads run: these have no Python stack, so
// what they allocate has none of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "allocator_shim/observe/stack_table.h"

namespace ohm::reports {

/// Follows the allocations of a record. Who calls backward waits for it, and what it allocates last
/// is the gradient that backward begins with: the stack of that one tells of what comes after it,
/// until its thread allocates again. A backward that is given its first gradient has no such line,
/// nor has one that another thread than the program's first calls, or that runs beside such a one.
class BackwardCalls {
 public:
  explicit BackwardCalls(const StackTable& tables) : tables_(tables) {}

  /// To be told each allocation, in the order of their times.
  void follow(StackId allocation);

  /// The stack that the running backward began with; kNoStack: none is known to run.
  StackId running() const { return running_; }

 private:
  enum class Thread : std::uint8_t { native, main, other };
  /// What a stack tells.
  struct Part {
    Thread thread = Thread::native;
    bool begins_backward = false;
  };

  Part part_of(StackId stack);

  const StackTable& tables_;
  std::unordered_map<StackId, Part> parts_;  ///< of those that were followed
  StackId running_ = kNoStack;
  bool others_run_ = false;  ///< another thread's backward may be running
};

/// Whether the stack is of a thread that Python made, not of the program's first one or of a native
/// one.
bool is_of_python_thread(const StackTable& tables, StackId stack);

/// How many frames of a stack, the innermost ones, are backward's making of its first gradient; 0:
/// that is not what the stack is of.
std::size_t frames_of_first_gradient(const StackTable& tables, StackId stack);

}  // namespace ohm::reports

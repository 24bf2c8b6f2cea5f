// The parts of a checkpoint: its function, its options, and the early end of a recomputation.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "runtime/tensor/context.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// From tensors to tensors. It runs once in the forward pass and again during backward, with other
/// inputs of the same values; what else it reads must be the same then.
using CheckpointedFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

/// How a checkpoint is woven into the graph.
enum class Checkpointing {
  /// One node stands for the whole function, which runs without a graph. Its backward step runs the
  /// function on detached inputs and then a backward pass inside the running one.
  reentrant,
  /// The function's own nodes are in the graph, and what they would save is left out. The first one
  /// that needs something runs the function again.
  non_reentrant,
};

struct CheckpointOptions {
  Checkpointing variant = Checkpointing::reentrant;
  /// The function draws the same random numbers again: the state of the host's generator and of
  /// those of its inputs' GPUs is put back for the second run.
  bool preserves_random_state = true;
  /// Non-reentrant: throws where the second run saves other shapes or dtypes than the first.
  bool checks_determinism = true;
};

/// Whether non-reentrant checkpoints made while the guard lives stop running their function again
/// with the last tensor that backward needs.
class EarlyStopGuard {
 public:
  explicit EarlyStopGuard(bool enabled)
      : context_(Context::current()),
        previous_(std::exchange(context_.state.stops_recomputation_early, enabled)) {}
  ~EarlyStopGuard() { context_.state.stops_recomputation_early = previous_; }
  EarlyStopGuard(const EarlyStopGuard&) = delete;
  EarlyStopGuard& operator=(const EarlyStopGuard&) = delete;

 private:
  Context& context_;
  bool previous_;
};

/// Leaves a function that runs again as soon as it is not needed any more. No error, so it derives
/// from none: what calls back into a program must let it through.
struct StopRecomputation {};

}  // namespace ohm

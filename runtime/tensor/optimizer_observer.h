// An observer of the steps of optimizers.
#pragma once

#include <functional>
#include <string_view>

#include "runtime/tensor/tensor.h"

namespace ohm {

/// What a step may write: parameters and their state, in an order that stays the same while the
/// step runs. Undefined tensors are not there yet.
using StepTensors = std::function<void(const std::function<void(const Tensor&)>& visit)>;

/// Told of every step, in the order in which they run; a step does not run within another one.
class OptimizerObserver {
 public:
  /// `optimizer` names its type and outlives the step; `tensors` may be kept until the step ends.
  virtual void step_begins(std::string_view optimizer, StepTensors tensors) = 0;
  virtual void step_ends() = 0;
  /// An error has ended it: a part of the tensors may be written.
  virtual void step_fails() = 0;

 protected:
  ~OptimizerObserver() = default;
};

}  // namespace ohm

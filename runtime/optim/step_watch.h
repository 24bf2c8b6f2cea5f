// Whether a program trains on after an error that stopped an optimizer's step halfway: part of what
// the step updates is updated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/autograd/weak_tensor.h"
#include "runtime/optim/optimizer.h"

namespace ohm::optim {

/// Sees all steps of this process while it lives, but for those that a later one sees. Keeps no
/// tensor alive.
class StepWatch {
 public:
  StepWatch();
  ~StepWatch();
  StepWatch(const StepWatch&) = delete;
  StepWatch& operator=(const StepWatch&) = delete;

  /// The optimizer of the first step that was made where an earlier one was stopped halfway: of
  /// what that one wrote before its error, the step updated something as it was left. (A program
  /// that brings back what was there writes all of it, or lets it go.) Empty when there was none.
  const std::string& built_on() const { return built_on_; }

 private:
  friend class WatchedStep;
  struct Written {
    WeakTensor tensor;
    std::uint32_t version;
  };

  static StepWatch* current;

  bool is_half_made(const Tensor& tensor) const;

  StepWatch* outer_;
  std::vector<Written> half_made_;  ///< by steps that were stopped
  std::string built_on_;
};

/// The writes of one step; for Optimizer::step. Costs nothing while nobody watches.
class WatchedStep {
 public:
  /// `states` are those of all parameters that are about to be updated.
  WatchedStep(std::string_view optimizer, const std::vector<ParameterState*>& states);

  /// The step is made.
  void note_end() const;
  /// An error has ended it: tells the watch what was written.
  void note_error() const;

 private:
  struct Before {
    const TensorImpl* tensor;  ///< nullptr: not there yet
    std::uint32_t version;
  };

  StepWatch* watch_;
  std::string_view optimizer_;
  bool begins_half_made_ = false;
  std::vector<ParameterState*> states_;
  std::vector<Before> before_;  ///< of each state: its parameter, then its tensors
};

}  // namespace ohm::optim

// Which optimizer steps an error stopped halfway: part of what they update is updated.
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

  /// The optimizer of a step that is half made still: of the tensors that it wrote before the
  /// error, one is there with what it wrote. (A program that brings back what was there writes all
  /// of them, or lets them go.) Empty when there is none.
  std::string half_made() const;

 private:
  friend class WatchedStep;
  struct Written {
    WeakTensor tensor;
    std::uint32_t version;
  };
  struct HalfStep {
    std::string optimizer;
    std::vector<Written> written;
  };

  static StepWatch* current;

  StepWatch* outer_;
  std::vector<HalfStep> half_steps_;
};

/// The writes of one step; for Optimizer::step. Costs nothing while nobody watches.
class WatchedStep {
 public:
  /// `states` are those of all parameters that are about to be updated.
  WatchedStep(std::string_view optimizer, const std::vector<ParameterState*>& states);

  /// An error has ended the step: tells the watch what was written.
  void note_error() const;

 private:
  struct Before {
    const TensorImpl* tensor;  ///< nullptr: not there yet
    std::uint32_t version;
  };

  StepWatch* watch_;
  std::string_view optimizer_;
  std::vector<ParameterState*> states_;
  std::vector<Before> before_;  ///< of each state: its parameter, then its tensors
};

}  // namespace ohm::optim

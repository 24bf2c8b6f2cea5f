// A detector of training that goes on from a partial step: an error stopped an optimizer's step
// halfway, so that a part of what it updates is updated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/autograd/weak_tensor.h"
#include "runtime/tensor/context.h"

namespace ohm::engine {

/// Observes all steps of the current context while it lives, in place of another observer. Keeps no
/// tensor alive.
class PartialStepDetector final : public OptimizerObserver {
 public:
  PartialStepDetector();
  ~PartialStepDetector();
  PartialStepDetector(const PartialStepDetector&) = delete;
  PartialStepDetector& operator=(const PartialStepDetector&) = delete;

  /// The optimizer of the first step that was made where an earlier one was stopped halfway: of
  /// what that one wrote before its error, the step updated something as it was left. (A program
  /// that brings back what was there writes all of it, or lets it go.) Empty when there was none.
  const std::string& built_on() const { return built_on_; }

  void step_begins(std::string_view optimizer, StepTensors tensors) override;
  void step_ends() override;
  void step_fails() override;

 private:
  struct Written {
    WeakTensor tensor;
    std::uint32_t version;
  };
  struct Before {
    const TensorImpl* tensor;  ///< nullptr: not there yet
    std::uint32_t version;
  };

  bool is_partially_updated(const Tensor& tensor) const;

  Context& context_;
  OptimizerObserver* previous_;
  std::vector<Written> partially_updated_;  ///< by steps that were stopped
  std::string built_on_;

  // Of the step that runs.
  std::string_view optimizer_;
  StepTensors tensors_;
  std::vector<Before> before_;  ///< of each tensor
  bool begins_partially_updated_ = false;
};

}  // namespace ohm::engine

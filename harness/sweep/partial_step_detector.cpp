#include "harness/sweep/partial_step_detector.h"

#include <algorithm>
#include <utility>

namespace ohm::engine {

PartialStepDetector::PartialStepDetector()
    : context_(Context::current()), previous_(std::exchange(context_.optimizer_observer, this)) {}

PartialStepDetector::~PartialStepDetector() { context_.optimizer_observer = previous_; }

bool PartialStepDetector::is_partially_updated(const Tensor& tensor) const {
  return std::any_of(partially_updated_.begin(), partially_updated_.end(),
                     [&](const Written& written) {
                       return written.tensor.lock().is_same(tensor) &&
                              tensor.storage().writes() == written.version;
                     });
}

void PartialStepDetector::step_begins(std::string_view optimizer, StepTensors tensors) {
  optimizer_ = optimizer;
  tensors_ = std::move(tensors);
  before_.clear();
  begins_partially_updated_ = false;
  tensors_([this](const Tensor& tensor) {
    if (tensor.defined() && is_partially_updated(tensor)) begins_partially_updated_ = true;
    before_.push_back(tensor.defined() ? Before{tensor.impl(), tensor.storage().writes()}
                                       : Before{nullptr, 0});
  });
}

void PartialStepDetector::step_ends() {
  if (begins_partially_updated_ && built_on_.empty()) built_on_ = optimizer_;
  tensors_ = {};
}

void PartialStepDetector::step_fails() {
  auto before = before_.begin();
  tensors_([&](const Tensor& tensor) {
    const Before& then = *before++;
    if (!tensor.defined()) return;
    const std::uint32_t version = tensor.storage().writes();
    if (tensor.impl() == then.tensor && version == then.version) return;
    partially_updated_.push_back({WeakTensor(tensor), version});
  });
  tensors_ = {};
}

}  // namespace ohm::engine

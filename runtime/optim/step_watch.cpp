#include "runtime/optim/step_watch.h"

#include <algorithm>
#include <utility>

namespace ohm::optim {
namespace {

/// visit(tensor) for what an update can write.
template <class Visit>
void for_each_tensor(const std::vector<ParameterState*>& states, const Visit& visit) {
  for (const ParameterState* state : states) {
    visit(state->parameter);
    for (const Tensor& tensor : state->tensors) visit(tensor);
  }
}

}  // namespace

StepWatch* StepWatch::current = nullptr;

StepWatch::StepWatch() : outer_(std::exchange(current, this)) {}

StepWatch::~StepWatch() { current = outer_; }

bool StepWatch::is_half_made(const Tensor& tensor) const {
  return std::any_of(half_made_.begin(), half_made_.end(), [&](const Written& written) {
    return written.tensor.lock().is_same(tensor) && tensor.storage().version() == written.version;
  });
}

WatchedStep::WatchedStep(std::string_view optimizer, const std::vector<ParameterState*>& states)
    : watch_(StepWatch::current), optimizer_(optimizer) {
  if (watch_ == nullptr) return;
  states_ = states;
  for_each_tensor(states_, [&](const Tensor& tensor) {
    if (tensor.defined() && watch_->is_half_made(tensor)) begins_half_made_ = true;
    before_.push_back(tensor.defined() ? Before{tensor.impl(), tensor.storage().version()}
                                       : Before{nullptr, 0});
  });
}

void WatchedStep::note_end() const {
  if (begins_half_made_ && watch_->built_on_.empty()) watch_->built_on_ = optimizer_;
}

void WatchedStep::note_error() const {
  if (watch_ == nullptr) return;
  auto before = before_.begin();
  for_each_tensor(states_, [&](const Tensor& tensor) {
    const Before& then = *before++;
    if (!tensor.defined()) return;
    const std::uint32_t version = tensor.storage().version();
    if (tensor.impl() == then.tensor && version == then.version) return;
    watch_->half_made_.push_back({WeakTensor(tensor), version});
  });
}

}  // namespace ohm::optim

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

std::string StepWatch::half_made() const {
  for (const HalfStep& step : half_steps_) {
    const bool is_there =
        std::any_of(step.written.begin(), step.written.end(), [](const Written& written) {
          const Tensor tensor = written.tensor.lock();
          return tensor.defined() && tensor.storage().version() == written.version;
        });
    if (is_there) return step.optimizer;
  }
  return {};
}

WatchedStep::WatchedStep(std::string_view optimizer, const std::vector<ParameterState*>& states)
    : watch_(StepWatch::current), optimizer_(optimizer) {
  if (watch_ == nullptr) return;
  states_ = states;
  for_each_tensor(states_, [&](const Tensor& tensor) {
    before_.push_back(tensor.defined() ? Before{tensor.impl(), tensor.storage().version()}
                                       : Before{nullptr, 0});
  });
}

void WatchedStep::note_error() const {
  if (watch_ == nullptr) return;
  StepWatch::HalfStep step{std::string(optimizer_), {}};
  auto before = before_.begin();
  for_each_tensor(states_, [&](const Tensor& tensor) {
    const Before& then = *before++;
    if (!tensor.defined()) return;
    const std::uint32_t version = tensor.storage().version();
    if (tensor.impl() == then.tensor && version == then.version) return;
    step.written.push_back({WeakTensor(tensor), version});
  });
  if (!step.written.empty()) watch_->half_steps_.push_back(std::move(step));
}

}  // namespace ohm::optim

#include "runtime/autograd/recorder.h"

#include <algorithm>

#include "runtime/autograd/view_tracking.h"
#include "runtime/tensor/context.h"

namespace ohm {

void BackwardCall::unpack_all() {
  for (const SavedTensor& saved : node_.saved()) {
    unpacked_.push_back(is_recorded_ ? saved.unpack_recorded(node_) : saved.unpack(node_));
  }
}

bool BackwardCall::is_selected(std::size_t i) const {
  return selection_->includes(*node_.edges()[i].node);
}

namespace {

// No op records under inference_mode, whatever set_grad_enabled() says there.
bool is_recording() {
  const ExecutionState& state = Context::current().state;
  return state.grad_enabled && !state.inference_mode;
}

bool is_recorded(std::initializer_list<const Tensor*> inputs) {
  return is_recording() && std::any_of(inputs.begin(), inputs.end(), [](const Tensor* input) {
           return input->defined() && input->requires_grad();
         });
}

}  // namespace

Recorder::Recorder(std::string_view name, std::initializer_list<const Tensor*> inputs)
    : name_(name) {
  is_needed_ = is_recorded(inputs);
  if (!is_needed_) return;
  for (const Tensor* input : inputs) add_edge(*input);
}

Recorder::Recorder(std::string_view name, const std::vector<Tensor>& inputs) : name_(name) {
  if (!is_recording()) return;
  is_needed_ = std::any_of(inputs.begin(), inputs.end(),
                           [](const Tensor& input) { return input.requires_grad(); });
  if (!is_needed_) return;
  for (const Tensor& input : inputs) add_edge(input);
}

Recorder Recorder::overwriting(std::string_view op, std::string_view name,
                               std::initializer_list<const Tensor*> inputs) {
  if (is_recorded(inputs)) require_overwritable_history(**inputs.begin(), op);
  return {name, inputs};
}

void Recorder::add_edge(const Tensor& input) {
  edges_.push_back(input.defined() ? gradient_edge(input) : Edge{});
}

void Recorder::bind(const Tensor& output, const IntrusivePtr<Node>& node) {
  if (is_marked_view(output)) {
    rebase_history(output, node);
  } else {
    set_history(output, node, node->add_input(output));
  }
}

}  // namespace ohm

#include "runtime/autograd/recorder.h"

#include <algorithm>

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

Recorder::Recorder(std::string_view name, std::initializer_list<const Tensor*> inputs)
    : name_(name) {
  if (!Context::current().state.grad_enabled) return;
  is_needed_ = std::any_of(inputs.begin(), inputs.end(), [](const Tensor* input) {
    return input->defined() && input->requires_grad();
  });
  if (!is_needed_) return;
  for (const Tensor* input : inputs) add_edge(*input);
}

Recorder::Recorder(std::string_view name, const std::vector<Tensor>& inputs) : name_(name) {
  if (!Context::current().state.grad_enabled) return;
  is_needed_ = std::any_of(inputs.begin(), inputs.end(),
                           [](const Tensor& input) { return input.requires_grad(); });
  if (!is_needed_) return;
  for (const Tensor& input : inputs) add_edge(input);
}

void Recorder::add_edge(const Tensor& input) {
  edges_.push_back(input.defined() ? gradient_edge(input) : Edge{});
}

void Recorder::bind(const Tensor& output, const IntrusivePtr<Node>& node) {
  AutogradMeta& meta = ensure_autograd_meta(output);
  meta.output_number = node->add_input(output);
  meta.grad_fn = node;
}

}  // namespace ohm

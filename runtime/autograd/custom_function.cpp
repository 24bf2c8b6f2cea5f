#include "runtime/autograd/custom_function.h"

#include <algorithm>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/autograd/view_history.h"

namespace ohm {
namespace {

bool is_among(const Tensor& tensor, const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& other) { return other.is_same(tensor); });
}

class CustomNode final : public SavingNode {
 public:
  CustomNode(std::shared_ptr<CustomFunction> function, const std::vector<Tensor>& inputs)
      : SavingNode(function->name(), next_sequence_number()), function_(std::move(function)) {
    EdgeList edges;
    for (const Tensor& input : inputs) edges.push_back(gradient_edge(input));
    set_edges(std::move(edges));
    set_python();
    set_differentiable();
  }

  void set_makes_zeros(bool makes_zeros) { makes_zeros_ = makes_zeros; }

  TensorList apply(TensorList& grads) override {
    BackwardCall call(*this, grads);
    TensorList given = grads;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const TensorMeta& meta = inputs()[i];
      const bool is_missing = makes_zeros_ && !given[i].defined() && is_floating(meta.dtype);
      if (is_missing) given[i] = zeros(meta.shape, {meta.dtype, meta.device});
    }
    return function_->backward(call, given);
  }

 private:
  ~CustomNode() override = default;

  std::shared_ptr<CustomFunction> function_;
  bool makes_zeros_ = true;
};

// The outputs get their places in the graph; those that were written over keep being the inputs.
void record_outputs(CustomForward& forward, const std::vector<Tensor>& inputs,
                    const IntrusivePtr<Node>& node, std::string_view name) {
  const bool is_alone =
      std::count_if(forward.outputs.begin(), forward.outputs.end(),
                    [](const Tensor& output) { return is_floating(output.dtype()); }) == 1;
  for (Tensor& output : forward.outputs) {
    const bool is_written = is_among(output, forward.written);
    const bool is_plain =
        !is_floating(output.dtype()) || is_among(output, forward.not_differentiable);
    if (is_written) require_overwritable_history(output, name);
    if (!is_written && !is_plain) output = own_output(output, inputs);
    const std::uint32_t number = node->add_input(output);
    if (is_plain) continue;
    if (is_written && is_marked_view(output)) {
      rebase_history(output, node);
    } else {
      set_history(output, node, number);
    }
    if (is_written) continue;
    set_view_origin(output, is_alone ? ViewOrigin::custom_function : ViewOrigin::several_outputs);
  }
}

void save(const CustomForward& forward, CustomNode& node) {
  SavedList saved;
  for (const Tensor& tensor : forward.saved) {
    const bool is_output = tensor.defined() && tensor.grad_fn() == &node;
    saved.emplace_back(tensor, is_output ? SavedTensor::Kind::output : SavedTensor::Kind::input);
  }
  node.set_saved(std::move(saved));
}

}  // namespace

Tensor own_output(const Tensor& output, const std::vector<Tensor>& inputs) {
  const bool is_input = is_among(output, inputs);
  if (!is_input && (is_marked_view(output) || !output.requires_grad())) return output;
  Tensor alias = detach(output);
  if (is_input) track_view(alias, output);
  return alias;
}

std::vector<Tensor> call_function(const std::shared_ptr<CustomFunction>& function,
                                  const std::vector<Tensor>& inputs) {
  std::vector<bool> needs;
  for (const Tensor& input : inputs) needs.push_back(input.requires_grad());
  const bool is_recorded = Context::current().state.grad_enabled &&
                           std::find(needs.begin(), needs.end(), true) != needs.end();
  CustomNode* const node = is_recorded ? new CustomNode(function, inputs) : nullptr;
  const IntrusivePtr<Node> owner(node);
  CustomForward forward;
  {
    const NoGradGuard no_grad;
    forward = function->forward(inputs, needs);
  }
  if (!is_recorded) return std::move(forward.outputs);
  record_outputs(forward, inputs, owner, function->name());
  save(forward, *node);
  node->set_makes_zeros(forward.makes_zeros);
  return std::move(forward.outputs);
}

}  // namespace ohm

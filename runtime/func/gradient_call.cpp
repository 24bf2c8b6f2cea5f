#include "runtime/func/gradient_call.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/variable.h"
#include "runtime/func/batching_rules.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::func {
namespace {

// Of the graph that a tensor came from.
template <class F>
void for_each_node(const Tensor& result, F&& visit) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> next = {result.grad_fn()};
  while (!next.empty()) {
    const Node* const node = next.back();
    next.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    visit(*node);
    for (const Edge& edge : node->edges()) next.push_back(edge.node.get());
  }
}

// Formulas that know nothing of samples would compute with the first one alone.
void require_batched_gradients(const Tensor& output) {
  for_each_node(output, [](const Node& node) {
    if (node.leaf() == nullptr) require_batched_gradient(node.name());
  });
}

}  // namespace

GradientCall::GradientCall() : is_recorded_outside_(Context::current().state.grad_enabled) {}

Tensor GradientCall::differentiable(const Tensor& input) {
  Tensor own;
  if (is_recorded_outside_ && input.requires_grad()) {
    own = ops::view(input, input.shape());
  } else {
    own = detached_alias(input);
    own.set_requires_grad(true);
  }
  inputs_.push_back(own);
  return own;
}

std::vector<Tensor> GradientCall::gradients(const Tensor& output) const {
  if (output.dims() != 0) {
    throw std::invalid_argument(
        fmt::format("[grad] expected the function to return a scalar tensor, got one with {} dims",
                    output.dims()));
  }
  const bool is_needed_again = is_recorded_outside_ && leads_outside(output);
  return gradients_of(output, {},
                      is_needed_again ? GraphRetention::retain : GraphRetention::release,
                      GradientGraph::record);
}

std::vector<Tensor> GradientCall::gradients_later(const Tensor& output, const Tensor& given) const {
  const bool is_recorded = is_recorded_outside_ && leads_outside(output);
  return gradients_of(output, {given}, GraphRetention::retain,
                      is_recorded ? GradientGraph::record : GradientGraph::none);
}

std::vector<Tensor> GradientCall::gradients_of(const Tensor& output, std::vector<Tensor> given,
                                               GraphRetention retention,
                                               GradientGraph graph) const {
  std::vector<Tensor> found(inputs_.size());
  if (output.requires_grad()) {
    if (running_transforms().vmaps > 0) require_batched_gradients(output);
    GradientRequest request;
    request.retention = retention;
    request.graph = graph;
    request.allows_unused = true;
    found = ohm::gradients({output}, std::move(given), inputs_, request);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].defined()) found[i] = zeros_like(inputs_[i]);
  }
  return found;
}

bool GradientCall::leads_outside(const Tensor& result) const {
  bool found = false;
  for_each_node(result, [&](const Node& node) {
    const Tensor* const leaf = node.leaf();
    if (leaf == nullptr) return;
    const bool is_own = std::any_of(inputs_.begin(), inputs_.end(),
                                    [leaf](const Tensor& input) { return input.is_same(*leaf); });
    found = found || !is_own;
  });
  return found;
}

Tensor GradientCall::outside(const Tensor& result) const {
  const bool stays = is_recorded_outside_ && result.requires_grad() && leads_outside(result);
  return stays ? result : detached_alias(result);
}

}  // namespace ohm::func

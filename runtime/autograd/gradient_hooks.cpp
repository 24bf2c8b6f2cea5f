#include "runtime/autograd/gradient_hooks.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/autograd/variable.h"

namespace ohm {
namespace {

void require_alike(const Tensor& result, const Tensor& grad) {
  if (result.shape() == grad.shape() && result.dtype() == grad.dtype() &&
      result.device() == grad.device()) {
    return;
  }
  throw std::invalid_argument(fmt::format(
      "[register_hook] hook has changed what the gradient is: {} {} instead of {} {}",
      name_of(result.dtype()), result.shape().str(), name_of(grad.dtype()), grad.shape().str()));
}

// A second gradient makes a new tensor: the first may be in other hands.
void keep(const Tensor& tensor, const Tensor& grad) {
  const Tensor before = tensor.grad();
  Tensor kept = before.defined() ? recorded_sum(before, grad) : recorded_copy(grad);
  kept.storage().set_category(Category::gradient);
  tensor.set_grad(std::move(kept));
}

void require_gradient(const Tensor& tensor, const char* message) {
  if (!tensor.requires_grad()) throw std::invalid_argument(message);
}

}  // namespace

std::uint64_t GradientHooks::add(std::uint32_t output, GradientHook hook) {
  hooks_.emplace(next_number_, Hook{output, std::move(hook)});
  return next_number_++;
}

void GradientHooks::remove(std::uint64_t number) { hooks_.erase(number); }

void GradientHooks::keep_gradient_of(const Tensor& tensor, std::uint32_t output) {
  kept_.push_back({output, WeakTensor(tensor)});
}

void GradientHooks::move_kept_gradient(const Tensor& tensor, Node& node, std::uint32_t output) {
  std::erase_if(kept_, [&](const Kept& kept) {
    const Tensor alive = kept.tensor.lock();
    return !alive.defined() || alive.is_same(tensor);
  });
  std::shared_ptr<GradientHooks>& hooks = node.own_hooks();
  if (!hooks) hooks = std::make_shared<GradientHooks>();
  hooks->keep_gradient_of(tensor, output);
}

// A hook may remove itself, or add others.
void GradientHooks::run(TensorList& grads) const {
  const std::map<std::uint64_t, Hook> hooks = hooks_;
  for (const auto& [number, hook] : hooks) {
    Tensor& grad = grads[hook.output];
    if (!grad.defined()) continue;
    Tensor result = hook.call(grad);
    if (!result.defined()) continue;
    require_alike(result, grad);
    grad = std::move(result);
  }
  for (const Kept& kept : kept_) {
    const Tensor tensor = kept.tensor.lock();
    if (tensor.defined() && grads[kept.output].defined()) keep(tensor, grads[kept.output]);
  }
}

std::shared_ptr<GradientHooks> gradient_hooks_of(const Tensor& tensor) {
  Node* const node = tensor.grad_fn();
  std::shared_ptr<GradientHooks>& hooks =
      node == nullptr ? ensure_autograd_meta(tensor).gradient_hooks : node->own_hooks();
  if (!hooks) hooks = std::make_shared<GradientHooks>();
  return hooks;
}

std::function<void()> register_gradient_hook(const Tensor& tensor, GradientHook hook) {
  require_gradient(tensor,
                   "[register_hook] cannot register a hook on a tensor that doesn't require "
                   "gradient");
  const std::shared_ptr<GradientHooks> hooks = gradient_hooks_of(tensor);
  const std::uint32_t output = tensor.is_leaf() ? 0 : autograd_meta(tensor)->output_number;
  const std::uint64_t number = hooks->add(output, std::move(hook));
  return [weak = std::weak_ptr(hooks), number] {
    if (const auto alive = weak.lock()) alive->remove(number);
  };
}

void retain_gradient(const Tensor& tensor) {
  require_gradient(tensor,
                   "[retain_grad] can't retain_grad on Tensor that has requires_grad=False");
  if (tensor.is_leaf() || retains_gradient(tensor)) return;
  const std::shared_ptr<GradientHooks> hooks = gradient_hooks_of(tensor);
  AutogradMeta& meta = ensure_autograd_meta(tensor);
  hooks->keep_gradient_of(tensor, meta.output_number);
  meta.retains_grad = true;
}

bool retains_gradient(const Tensor& tensor) {
  const AutogradMeta* meta = autograd_meta(tensor);
  return meta != nullptr && meta->retains_grad && meta->grad_fn;
}

// Declared in variable.h: here, because the gradient that a tensor keeps follows it.
void set_history(const Tensor& tensor, const IntrusivePtr<Node>& node,
                 std::uint32_t output_number) {
  AutogradMeta& meta = ensure_autograd_meta(tensor);
  if (meta.retains_grad && meta.grad_fn) {
    meta.grad_fn->own_hooks()->move_kept_gradient(tensor, *node, output_number);
  }
  meta.grad_fn = node;
  meta.output_number = output_number;
  if (meta.view_of) meta.view_of->version = tensor.version();
}

}  // namespace ohm

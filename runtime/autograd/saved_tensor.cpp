#include "runtime/autograd/saved_tensor.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/autograd/node.h"
#include "runtime/autograd/variable.h"
#include "runtime/tensor/context.h"

namespace ohm {
namespace {

SavedTensorHook* installed_hook() {
  const AutogradState* state = find_autograd_state(Context::current().state);
  return state == nullptr ? nullptr : state->saved_tensor_hook;
}

// Which op of which line recorded the node.
std::string place_of_node(const Node& owner) {
  const SiteTable* sites = Context::current().sites;
  if (sites == nullptr || owner.site() == kUnknownSite) return {};
  const Site& site = sites->at(owner.site());
  return fmt::format(" (saved by {} at {}:{})", site.op, site.file, site.line);
}

std::string overwritten_message(const Tensor& tensor, const Node& owner, std::uint32_t expected) {
  return fmt::format(
      "[{}] one of the variables needed for gradient computation has been modified by an inplace "
      "operation: [{} {}], needed by {}, is at version {}; expected version {} instead{}",
      owner.name(), info_of(tensor.dtype()).tensor_type, tensor.shape().str(), owner.name(),
      tensor.version(), expected, place_of_node(owner));
}

}  // namespace

void throw_released(const Node& owner) {
  throw std::invalid_argument(fmt::format(
      "[{}] Trying to backward through the graph a second time (or directly access saved tensors "
      "after they have already been freed). Saved intermediate values of the graph are freed "
      "when you call backward. Pass retain_graph = true to backward the first time{}.",
      owner.name(), place_of_node(owner)));
}

SavedTensor::SavedTensor(const Tensor& tensor, Kind kind, std::uint8_t output_number)
    : kind_(kind), output_number_(output_number) {
  if (!tensor.defined()) return;
  Tensor kept = kind == Kind::output ? detached_alias(tensor) : tensor;
  if (SavedTensorHook* hook = installed_hook()) {
    packed_ = hook->pack(kept);
    remember_place(kept);
    return;
  }
  version_ = tensor.version();
  tensor_ = std::move(kept);
}

void SavedTensor::remember_place(const Tensor& tensor) {
  packed_->place.requires_grad = tensor.requires_grad();
  const Edge edge = gradient_edge(tensor);
  if (tensor.is_leaf()) {
    packed_->place.accumulator = edge.node;
    return;
  }
  packed_->place.grad_fn = edge.node;
  packed_->place.output_number = edge.input;
}

IntrusivePtr<Node> SavedTensor::accumulator() const {
  return packed_ ? packed_->place.accumulator : IntrusivePtr<Node>();
}

// What is unpacked takes the place of the tensor that was saved: a function that runs again with it
// records what it recorded the first time.
Tensor SavedTensor::unpacked() const {
  Tensor tensor = packed_->unpack();
  if (!packed_->place.requires_grad || tensor.requires_grad()) return tensor;
  tensor = detached_alias(tensor);
  AutogradMeta& meta = ensure_autograd_meta(tensor);
  meta.grad_fn = packed_->place.grad_fn;
  meta.output_number = packed_->place.output_number;
  meta.requires_grad = !meta.grad_fn;
  return tensor;
}

Tensor SavedTensor::unpack(const Node& owner) const {
  if (owner.is_released()) throw_released(owner);
  if (packed_) return unpacked();
  if (tensor_.defined() && tensor_.version() != version_) {
    throw std::invalid_argument(overwritten_message(tensor_, owner, version_));
  }
  return tensor_;
}

// A new handle each time: what is kept must not hold its owner.
Tensor SavedTensor::unpack_recorded(Node& owner) const {
  const Tensor kept = unpack(owner);
  if (!kept.defined() || kind_ == Kind::input) return kept;
  Tensor output = detached_alias(kept);
  AutogradMeta& meta = ensure_autograd_meta(output);
  meta.grad_fn = IntrusivePtr<Node>(&owner);
  meta.output_number = output_number_;
  return output;
}

void SavedTensor::release() {
  tensor_ = Tensor();
  packed_.reset();
}

}  // namespace ohm

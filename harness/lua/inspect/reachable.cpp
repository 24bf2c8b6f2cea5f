#include "harness/lua/inspect/reachable.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/autograd/saving_node.h"
#include "runtime/autograd/variable.h"

namespace ohm::lua {

namespace {

/// What backward needs that tensor for, in the words of PyTorch's graph: "ReluBackward".
std::string saved_name(const SavingNode& node, std::size_t index) {
  return fmt::format("tensor {} saved by {}", index, node.name());
}

}  // namespace

Reachable::Reachable(std::string root, Device device) : device_(device) {
  places_.push_back({kRoot, std::move(root), false, true});
}

std::size_t Reachable::add_place(std::size_t from, std::string name) {
  places_.push_back({from, std::move(name), true, places_[from].is_direct});
  return places_.size() - 1;
}

std::size_t Reachable::add_step(std::size_t from, std::string name) {
  places_.push_back({from, std::move(name), false, false});
  return places_.size() - 1;
}

void Reachable::enqueue(const Tensor& tensor, std::size_t place) {
  held_.push_back(tensor);
  tensors_.push_back({tensor, place});
}

void Reachable::add(const Tensor& tensor, std::size_t place) {
  if (tensor.defined() && is_new(tensor.impl())) enqueue(tensor, place);
}

void Reachable::add(const nn::Module& first, std::size_t place) {
  struct Waiting {
    const nn::Module* module;
    std::size_t place;
  };
  // The next one is on top: the last child is put there first.
  std::vector<Waiting> waiting = {{&first, place}};
  while (!waiting.empty()) {
    const auto [module, at] = waiting.back();
    waiting.pop_back();
    if (!is_new(module)) continue;
    for (const auto* tensors : {&module->own_parameters(), &module->own_buffers()}) {
      for (const nn::NamedTensor& one : *tensors) add(one.tensor, add_place(at, "." + one.name));
    }
    const std::vector<nn::NamedModule>& children = module->children();
    for (std::size_t i = children.size(); i-- > 0;) {
      const nn::NamedModule& child = children[i];
      if (child.module) waiting.push_back({child.module.get(), add_place(at, "." + child.name)});
    }
  }
}

void Reachable::add(const optim::Optimizer& optimizer, std::size_t place) {
  if (!is_new(&optimizer)) return;
  const std::vector<std::string_view> names = optimizer.state_names();
  const std::vector<std::string_view> lists = optimizer.list_names();
  const std::vector<Tensor>& parameters = optimizer.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    add(parameters[i], add_place(place, fmt::format(".parameters[{}]", i)));
    const optim::ParameterState* state = optimizer.find_state(parameters[i]);
    if (state == nullptr) continue;
    for (std::size_t k = 0; k < state->tensors.size(); ++k) {
      const std::string_view name = k < names.size() ? names[k] : "state";
      add(state->tensors[k], add_place(place, fmt::format(".state[{}].{}", i, name)));
    }
    for (std::size_t k = 0; k < state->lists.size() && k < lists.size(); ++k) {
      for (std::size_t n = 0; n < state->lists[k].size(); ++n) {
        add(state->lists[k][n], add_place(place, fmt::format(".state[{}].{}[{}]", i, lists[k], n)));
      }
    }
  }
}

void Reachable::follow() {
  // Tensors first: what a variable holds directly is told by the shorter path. Bases last: a graph
  // tells more of how a view came to be than that it is one.
  while (!tensors_.empty() || !nodes_.empty() || !bases_.empty()) {
    if (!tensors_.empty()) {
      const PendingTensor pending = tensors_.front();
      tensors_.pop_front();
      visit(pending);
    } else if (!nodes_.empty()) {
      const PendingNode pending = nodes_.front();
      nodes_.pop_front();
      visit(pending);
    } else {
      const PendingTensor pending = bases_.front();
      bases_.pop_front();
      add(pending.tensor, pending.place);
    }
  }
}

void Reachable::visit(const PendingTensor& pending) {
  const Tensor& tensor = pending.tensor;
  const Storage& storage = tensor.storage();
  if (storage.device() == device_ && storage.bytes() > 0 && is_new(&storage)) {
    storages_.push_back({&storage, pending.place, places_[pending.place].is_direct});
  }
  const Tensor grad = tensor.grad();
  if (grad.defined() && is_new(grad.impl())) {
    enqueue(grad, add_place(pending.place, ".grad"));
  }
  const AutogradMeta* meta = autograd_meta(tensor);
  if (meta == nullptr) return;
  // As it is held, without making that of a view anew.
  if (const Node* node = meta->grad_fn.get(); node != nullptr && is_new(node)) {
    nodes_.push_back({node, add_step(pending.place, fmt::format("grad_fn {}", node->name()))});
  }
  if (meta->view_of) bases_.push_back({meta->view_of->base, add_step(pending.place, "its base")});
}

void Reachable::visit(const PendingNode& pending) {
  visit_saved(pending);
  if (const Tensor* leaf = pending.node->leaf()) {
    if (is_new(leaf->impl())) enqueue(*leaf, add_step(pending.place, "its leaf"));
  }
  const auto enqueue_node = [&](const Node* next) {
    if (next == nullptr || !is_new(next)) return;
    nodes_.push_back({next, add_step(pending.place, std::string(next->name()))});
  };
  enqueue_node(pending.node->function());
  for (const Edge& edge : pending.node->edges()) enqueue_node(edge.node.get());
}

void Reachable::visit_saved(const PendingNode& pending) {
  const auto* const saving = dynamic_cast<const SavingNode*>(pending.node);
  if (saving == nullptr || saving->is_released()) return;
  const SavingNode& node = *saving;
  for (std::size_t i = 0; i < node.saved().size(); ++i) {
    // What a hook packed would have to be computed to be seen.
    if (node.saved()[i].is_packed()) continue;
    try {
      const Tensor tensor = node.saved()[i].unpack(node);
      if (!tensor.defined() || !is_new(tensor.impl())) continue;
      enqueue(tensor, add_step(pending.place, saved_name(node, i)));
    } catch (const std::invalid_argument&) {
      // Overwritten since: it cannot be told apart from one that is gone.
    }
  }
}

std::vector<std::string> Reachable::path_to(const ReachedStorage& reached) const {
  std::vector<std::size_t> places;
  for (std::size_t place = reached.place; place != kRoot; place = places_[place].from) {
    places.push_back(place);
  }
  std::vector<std::string> steps = {places_[kRoot].name};
  std::for_each(places.rbegin(), places.rend(), [&](std::size_t place) {
    if (!places_[place].continues) steps.emplace_back();
    steps.back() += places_[place].name;
  });
  std::vector<std::string> path;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i + 1;
    while (end < steps.size() && steps[end] == steps[i]) ++end;
    path.push_back(end - i == 1 ? steps[i] : fmt::format("{} × {}", steps[i], end - i));
    i = end;
  }
  return path;
}

}  // namespace ohm::lua

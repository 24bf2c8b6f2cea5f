#include "runtime/optim/optimizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "allocator_shim/base/assert.h"
#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/tensor/context.h"

namespace ohm::optim {
namespace {

bool are_alike(const Tensor& a, const Tensor& b) {
  return a.device() == b.device() && a.dtype() == b.dtype();
}

// Integers keep their dtype.
void convert(Tensor& tensor, const TensorOptions& options) {
  if (!tensor.defined()) return;
  const DType dtype = is_floating(tensor.dtype()) ? options.dtype : tensor.dtype();
  if (tensor.dtype() == dtype && tensor.device() == options.device) return;
  Tensor converted = empty(tensor.shape(), {dtype, options.device});
  copy_into(converted, tensor);
  tensor = std::move(converted);
}

bool is_there(const Tensor& entry) { return entry.defined(); }

}  // namespace

bool ParameterState::is_empty() const {
  return std::none_of(tensors.begin(), tensors.end(), is_there);
}

Optimizer::Optimizer(std::vector<Tensor> parameters, double lr, Form form)
    : parameters_(std::move(parameters)), lr_(lr), form_(form) {
  if (!(lr >= 0.0)) {
    throw std::invalid_argument(fmt::format("[optimizer] invalid learning rate: {}", lr));
  }
  for (const Tensor& parameter : parameters_) {
    if (!parameter.is_leaf()) {
      throw std::invalid_argument("[optimizer] can't optimize a non-leaf tensor");
    }
    group_of_[parameter.impl()] = this;
  }
}

Optimizer::~Optimizer() {
  clear_state();
  while (!further_groups_.empty()) further_groups_.pop_back();
  while (!parameters_.empty()) parameters_.pop_back();
}

void Optimizer::step() {
  const NoGradGuard no_grad;
  const CategoryGuard category(Category::optimizer_state);
  States first = states_of_step();
  run_observed([&] { update_groups(std::move(first)); });
}

Tensor Optimizer::step(const Closure& closure) {
  Tensor loss;
  {
    const GradModeGuard recorded(true);
    loss = closure();
  }
  step();
  return loss;
}

void Optimizer::run_observed(const std::function<void()>& update) {
  OptimizerObserver* const observer = Context::current().optimizer_observer;
  if (observer == nullptr) return update();
  observer->step_begins(type_name(), step_tensors());
  try {
    update();
  } catch (...) {
    observer->step_fails();
    throw;
  }
  observer->step_ends();
}

Optimizer::States Optimizer::states_of_step() {
  States states;
  try {
    for (const Tensor& parameter : parameters_) {
      if (parameter.grad().defined()) states.push_back(&state_of(parameter));
    }
  } catch (...) {
    hold_gradients(states.size() + 1);
    throw;
  }
  return states;
}

// Of the first `count` parameters that have one; a list, which goes from the last.
void Optimizer::hold_gradients(std::size_t count) const {
  std::vector<Tensor> grads;
  for (const Tensor& parameter : parameters_) {
    if (parameter.grad().defined() && grads.size() < count) grads.push_back(parameter.grad());
  }
  hold_variables({grads.rbegin(), grads.rend()});
}

std::vector<Tensor> Optimizer::updated_parameters() const {
  std::vector<Tensor> updated = parameters();
  updated.erase(std::remove_if(updated.begin(), updated.end(),
                               [](const Tensor& p) { return !p.grad().defined(); }),
                updated.end());
  return updated;
}

StepTensors Optimizer::step_tensors() const {
  return [this, updated = updated_parameters()](const std::function<void(const Tensor&)>& visit) {
    for (const Tensor& parameter : updated) {
      visit(parameter);
      const ParameterState* state = find_state(parameter);
      for (std::size_t slot = 0; slot < state_names().size(); ++slot) {
        visit(state == nullptr ? Tensor() : state->tensors[slot]);
      }
    }
  };
}

void Optimizer::update_groups(States first) {
  update_all(std::move(first));
  for (const auto& group : further_groups_) group->update_all(group->states_of_step());
}

void Optimizer::add_group(std::shared_ptr<Optimizer> group) {
  for (const Tensor& parameter : group->parameters_) {
    if (group_of_.contains(parameter.impl())) {
      throw std::invalid_argument(
          fmt::format("[{}] some parameters appear in more than one parameter group", type_name()));
    }
  }
  further_groups_.push_back(std::move(group));
  Optimizer& added = *further_groups_.back();
  for (const Tensor& parameter : added.parameters_) group_of_[parameter.impl()] = &added;
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> all = parameters_;
  for (const auto& group : further_groups_) {
    all.insert(all.end(), group->parameters_.begin(), group->parameters_.end());
  }
  return all;
}

// Tells the optimizer when its lists are done, also after a failure.
class Optimizer::ListsOfAStep {
 public:
  explicit ListsOfAStep(Optimizer& optimizer) : optimizer_(optimizer) {}
  ListsOfAStep(const ListsOfAStep&) = delete;
  ListsOfAStep& operator=(const ListsOfAStep&) = delete;
  ~ListsOfAStep() { optimizer_.lists_are_done(); }

 private:
  Optimizer& optimizer_;
};

void Optimizer::update_all(States states) {
  if (states.empty()) return;
  const std::size_t count = states.size();
  const EndedUpdate ended;
  try {
    update_by_form(std::move(states));
  } catch (...) {
    hold_variables(ended.variables());
    hold_gradients(count);
    throw;
  }
}

void Optimizer::update_by_form(States left) {
  if (form_ == Form::for_loop) return update_each(left);
  if (form_ == Form::fused) return update_fused(left);
  std::vector<States> lists;
  while (!left.empty()) {
    const Tensor first = left.front()->parameter;
    const auto others = std::stable_partition(left.begin(), left.end(), [&](const auto* state) {
      return are_alike(state->parameter, first);
    });
    lists.emplace_back(left.begin(), others);
    left.erase(left.begin(), others);
  }
  const ListsOfAStep guard(*this);
  // PyTorch's table of devices and dtypes begins with those that came last.
  std::reverse(lists.begin(), lists.end());
  for (const States& list : lists) update_list(list);
}

void Optimizer::update_fused(const States& /*states*/) {
  OHM_ASSERT(false, "an optimizer without a fused form was made with one");
}

const ParameterState* Optimizer::find_state(const Tensor& parameter) const {
  const auto known = state_by_parameter_.find(parameter.impl());
  if (known != state_by_parameter_.end()) return known->second;
  const auto group = group_of_.find(parameter.impl());
  const bool is_elsewhere = group != group_of_.end() && group->second != this;
  return is_elsewhere ? group->second->find_state(parameter) : nullptr;
}

// As PyTorch's `if len(state) == 0`: what is not empty counts as made.
ParameterState& Optimizer::state_of(const Tensor& parameter) {
  ParameterState& state = entry_of(parameter);
  if (state.is_empty()) make_state(state);
  require_entries(state);
  return state;
}

ParameterState& Optimizer::entry_of(const Tensor& parameter) {
  const auto known = state_by_parameter_.find(parameter.impl());
  if (known != state_by_parameter_.end()) return *known->second;
  states_.push_back(std::make_unique<ParameterState>(
      ParameterState{parameter, 0, std::vector<Tensor>(state_names().size()),
                     std::vector<std::vector<Tensor>>(list_names().size()),
                     std::vector<std::optional<double>>(number_names().size())}));
  state_by_parameter_[parameter.impl()] = states_.back().get();
  return *states_.back();
}

void Optimizer::require_entries(const ParameterState& state) const {
  if (std::all_of(state.tensors.begin(), state.tensors.end(), is_there)) return;
  const std::vector<std::string_view> names = state_names();
  for (const std::string_view name : entries_read()) {
    const auto slot = std::find(names.begin(), names.end(), name) - names.begin();
    if (is_there(state.tensors[static_cast<std::size_t>(slot)])) continue;
    refuse_incomplete(state, fmt::format("KeyError: '{}'", name));
  }
}

void Optimizer::refuse_incomplete(const ParameterState& state, std::string_view error) const {
  throw std::invalid_argument(fmt::format(
      "[{}] {}: the state of a parameter of shape {} is incomplete: the step that began to make it "
      "ended with an error; clear the state, or make a new optimizer",
      type_name(), error, state.parameter.shape().str()));
}

void Optimizer::clear_state() {
  state_by_parameter_.clear();
  for (auto& state : states_) state.reset();
  states_.clear();
  for (const auto& group : further_groups_) group->clear_state();
}

ParameterState Optimizer::converted_state(ParameterState state) const {
  const NoGradGuard no_grad;
  const CategoryGuard category(Category::optimizer_state);
  const TensorOptions options = options_of(state.parameter);
  const std::vector<std::string_view> names = state_names();
  for (std::size_t slot = 0; slot < names.size(); ++slot) {
    if (names[slot] != "step") {
      convert(state.tensors[slot], options);
    } else if (counts_on_device()) {
      convert(state.tensors[slot], {DType::float32, options.device});
    }
  }
  for (std::vector<Tensor>& list : state.lists) {
    for (Tensor& tensor : list) convert(tensor, options);
  }
  return state;
}

void Optimizer::load_state(std::vector<ParameterState> states) {
  clear_state();
  for (ParameterState& state : states) {
    const auto group = group_of_.find(state.parameter.impl());
    Optimizer& owner = group == group_of_.end() ? *this : *group->second;
    ParameterState& entry = owner.entry_of(state.parameter);
    entry.steps = state.steps;
    entry.tensors = std::move(state.tensors);
    entry.lists = std::move(state.lists);
    entry.numbers = std::move(state.numbers);
  }
}

void Optimizer::zero_grad(bool set_to_none) { optim::zero_grad(parameters(), set_to_none); }

void zero_grad(const std::vector<Tensor>& parameters, bool set_to_none) {
  for (const Tensor& parameter : parameters) {
    if (set_to_none) {
      parameter.set_grad(Tensor());
    } else if (parameter.grad().defined()) {
      fill_values(parameter.grad(), 0.0);
      parameter.grad().bump_version();
    }
  }
}

Form default_form(const std::vector<Tensor>& parameters) {
  const bool all_on_gpus = std::all_of(parameters.begin(), parameters.end(),
                                       [](const Tensor& p) { return p.device().is_cuda(); });
  return all_on_gpus ? Form::foreach_list : Form::for_loop;
}

void require_beta(double value, std::string_view optimizer) {
  if (value >= 0.0 && value < 1.0) return;
  throw std::invalid_argument(fmt::format("[{}] invalid beta: {}", optimizer, value));
}

}  // namespace ohm::optim

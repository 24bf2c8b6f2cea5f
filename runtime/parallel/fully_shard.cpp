#include "runtime/parallel/fully_shard.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/gradient_hooks.h"
#include "runtime/autograd/recorder.h"
#include "runtime/nn/module_walk.h"
#include "runtime/ops/convert.h"
#include "runtime/parallel/rank_group.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

void cast_floating(const nn::CallEnvelope::Places& places, DType dtype) {
  for (Tensor* tensor : places) {
    if (is_floating(tensor->dtype())) *tensor = ops::to_dtype(*tensor, dtype);
  }
}

void take_streams(FullyShardedTraffic& traffic, Device device) {
  DeviceSlot& slot = Context::current().slot(device);
  const auto next_stream = [&slot] {
    return kFirstShardingStream + slot.sharding_streams_made++ % kShardingStreamsInPool;
  };
  traffic.gather_stream = next_stream();
  next_stream();  // on which nothing is allocated
  traffic.reduce_stream = next_stream();
  ++slot.streams_made;  // the same
  traffic.has_streams = true;
}

}  // namespace

// ---- one module ---------------------------------------------------------------------------------

FullyShardedState::FullyShardedState(std::shared_ptr<FullyShardedGroup> group, Device device,
                                     const FullyShardOptions& options)
    : group_(std::move(group)), device_(device), options_(options) {}

void FullyShardedState::begin(nn::Module& module) {
  if (role_ != Role::unknown) return;
  std::vector<std::shared_ptr<FullyShardedState>> states;
  nn::walk_modules(module, [&](nn::Module& each, const std::string& prefix) {
    const std::shared_ptr<FullyShardedState> state = find_sharded_state(each);
    if (!state) return;
    if (state.get() != this && state->role_ != Role::unknown) {
      throw std::invalid_argument(
          fmt::format("[fully_shard] {} ran before the module around it, which fully_shard was "
                      "called on, too: run the outermost module first",
                      prefix.substr(0, prefix.size() - 1)));
    }
    states.push_back(state);
  });
  role_ = Role::outermost;
  // Its parameters would be let go and gathered at once.
  if (group_ && (!options_.reshard_after_forward || !follows_later_rules())) {
    group_->keep_whole_after_forward();
  }
  if (device_.is_cuda()) take_streams(*run_->traffic, device_);
  for (const auto& state : states) {
    if (state.get() != this) state->role_ = Role::inner;
    state->run_ = run_;
    run_->states.push_back(state);
  }
  for (const auto& state : states) {
    if (state->group_) state->group_->begin(run_->traffic);
  }
}

void FullyShardedState::cast_inputs(const Places& inputs) const {
  const MixedPrecisionPolicy& policy = options_.mp_policy;
  if (policy.cast_forward_inputs && policy.param_dtype) cast_floating(inputs, *policy.param_dtype);
}

void FullyShardedState::cast_outputs(const Places& outputs) const {
  if (options_.mp_policy.output_dtype) cast_floating(outputs, *options_.mp_policy.output_dtype);
}

void FullyShardedState::before(nn::Module& module, const Places& inputs) {
  // A checkpoint runs the module again in backward, which has gathered its parameters.
  if (phase_ == ShardingPhase::before_backward) {
    if (!follows_later_rules()) return;
    if (group_ && !group_->is_whole()) {
      group_->unshard();
      group_->wait_for_unshard();
    }
    return cast_inputs(inputs);
  }
  phase_ = ShardingPhase::forward;
  begin(module);
  if (run_->running == nullptr) {
    run_->running = this;
    for (Tensor* input : inputs) {
      if (input->device() != device_) *input = ops::to_device(*input, device_);
    }
  }
  cast_inputs(inputs);
  if (!group_) return;
  group_->before_forward();
  watch_inputs(inputs);
}

void FullyShardedState::after(nn::Module& /*module*/, const Places& outputs) {
  if (phase_ == ShardingPhase::before_backward) {
    if (follows_later_rules()) cast_outputs(outputs);
    return;
  }
  if (group_) group_->after_forward();
  watch_outputs(outputs);
  phase_ = ShardingPhase::idle;
  if (run_->running == this) {
    run_->traffic->gathered = Tensor();
    run_->running = nullptr;
  }
  cast_outputs(outputs);
}

// When the gradients of the inputs are there, so are those of the parameters.
void FullyShardedState::watch_inputs(const Places& inputs) {
  std::vector<Tensor> watched;
  std::vector<Tensor*> places;
  for (Tensor* input : inputs) {
    if (!Context::current().state.grad_enabled || !input->requires_grad()) continue;
    watched.push_back(*input);
    places.push_back(input);
  }
  if (watched.empty()) return;
  Recorder record("RegisterPostBackwardFunctionBackward", watched);
  std::vector<Tensor> passed;
  for (const Tensor& input : watched) passed.push_back(detached_alias(input));
  record.attach_python(passed, [group = group_](BackwardCall& call) {
    group->after_backward();
    TensorList grads;
    for (std::size_t i = 0; i < call.grad_count(); ++i) grads.push_back(call.grad(i));
    return grads;
  });
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = passed[i];
}

void FullyShardedState::watch_outputs(const Places& outputs) {
  if (!Context::current().state.grad_enabled) return;
  for (Tensor* output : outputs) {
    if (!output->requires_grad()) continue;
    register_gradient_hook(*output, [state = shared_from_this()](const Tensor& /*grad*/) {
      state->before_backward();
      return Tensor();
    });
  }
}

void FullyShardedState::before_backward() {
  phase_ = ShardingPhase::before_backward;
  end_backward_later();
  if (group_) group_->before_backward(true);
}

void FullyShardedState::unshard() {
  if (!group_) return;
  group_->begin();
  group_->unshard();
  group_->wait_for_unshard();
}

void FullyShardedState::reshard() {
  if (group_) group_->reshard();
}

void FullyShardedState::give_up() {
  if (role_ == Role::inner) {
    throw std::invalid_argument(
        "[reset_iter_state] a module around this one ran: call it on the outermost module");
  }
  FullyShardedTraffic& traffic = *run_->traffic;
  traffic.gathered = Tensor();
  traffic.reduced = Tensor();
  traffic.passes.clear();
  for (const auto& each : run_->states) {
    const std::shared_ptr<FullyShardedState> state = each.lock();
    if (!state) continue;
    state->phase_ = ShardingPhase::idle;
    if (state->group_) state->group_->give_up();
  }
  run_->running = nullptr;
  run_->ends_with_backward = false;
}

// ---- the end of backward ------------------------------------------------------------------------

void FullyShardedState::end_backward_later() {
  if (std::exchange(run_->ends_with_backward, true)) return;
  queue_after_backward([run = run_] { end_backward(*run); });
}

void FullyShardedState::end_backward(FullyShardedRun& run) {
  const bool is_later = follows_later_rules();
  if (is_later) run.running = nullptr;
  std::vector<std::shared_ptr<FullyShardedState>> states;
  for (const auto& each : run.states) {
    if (auto state = each.lock()) states.push_back(std::move(state));
  }
  for (const auto& state : states) {
    FullyShardedGroup* group = state->group();
    if (group != nullptr) {
      // Those whose inputs have no gradients did not hear of the end of theirs.
      const bool is_open =
          is_later ? group->phase() != ShardingPhase::after_backward : group->is_whole();
      if (is_open) group->after_backward();
      group->set_phase(ShardingPhase::idle);
    }
    state->phase_ = ShardingPhase::idle;
    if (group != nullptr && !is_later) group->finish_backward();
  }
  for (const auto& state : states) {
    if (state->group() != nullptr && is_later) state->group()->finish_backward();
  }
  if (is_later) run.traffic->gathered = Tensor();
  run.traffic->passes.clear();
  run.traffic->reduced = Tensor();
  run.ends_with_backward = false;
}

std::shared_ptr<FullyShardedState> find_sharded_state(const nn::Module& module) {
  return std::dynamic_pointer_cast<FullyShardedState>(module.envelope());
}

// ---- sharding -----------------------------------------------------------------------------------

namespace {

RankGroup& group_to_shard_over() {
  RankGroup* group = RankGroup::current();
  if (group == nullptr) {
    throw std::invalid_argument(
        "[fully_shard] there is no process group: call it inside distributed.spawn");
  }
  return *group;
}

void require_shardable(const nn::Module& module) {
  if (module.envelope()) {
    throw std::invalid_argument("[fully_shard] it was called on this module before");
  }
  if (module.type_name() == "ModuleList" || module.type_name() == "ModuleDict") {
    throw std::invalid_argument(
        fmt::format("[fully_shard] a {} is never called itself: shard the modules in it, and the "
                    "one around it",
                    module.type_name()));
  }
}

// What one call takes over: modules from the leaves upwards, without those that a call before took.
struct Managed {
  std::vector<nn::NamedTensor> parameters;
  std::vector<Tensor> buffers;
  std::unordered_map<const TensorImpl*, std::vector<ParameterPlace>> places;
};

// What is below a module that fully_shard was called on before is that one's.
Managed managed_by(nn::Module& first) {
  Managed managed;
  std::unordered_set<const TensorImpl*> seen_buffers;
  int taken_levels = 0;
  const auto is_taken = [&first](const nn::Module& module) {
    return &module != &first && find_sharded_state(module) != nullptr;
  };
  const auto enter = [&](const nn::Module& module, const std::string& /*prefix*/) {
    if (is_taken(module)) ++taken_levels;
  };
  const auto leave = [&](nn::Module& module) {
    if (is_taken(module)) --taken_levels;
    if (taken_levels > 0 || is_taken(module)) return;
    for (const nn::NamedTensor& entry : module.own_parameters()) {
      if (!entry.tensor.defined()) continue;
      std::vector<ParameterPlace>& places = managed.places[entry.tensor.impl()];
      if (places.empty()) managed.parameters.push_back(entry);
      places.push_back({module.weak_from_this(), entry.name});
    }
    for (const nn::NamedTensor& entry : module.own_buffers()) {
      if (entry.tensor.defined() && seen_buffers.insert(entry.tensor.impl()).second) {
        managed.buffers.push_back(entry.tensor);
      }
    }
  };
  nn::walk_modules(first, enter, leave);
  return managed;
}

void require_parameter(const nn::NamedTensor& entry) {
  if (entry.tensor.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[fully_shard] parameter '{}' has no dimension to cut: make it one of one "
                    "element",
                    entry.name));
  }
  if (!entry.tensor.is_contiguous()) {
    throw std::invalid_argument(
        fmt::format("[fully_shard] parameter '{}' has to be contiguous", entry.name));
  }
}

}  // namespace

void fully_shard(const nn::ModulePtr& module, const FullyShardOptions& options) {
  RankGroup& ranks = group_to_shard_over();
  require_shardable(*module);
  Context& context = Context::current();
  const Device device = context.gpus.empty() ? Device::cpu() : context.state.current_gpu;
  // The whole parameters go last, in this order.
  std::vector<nn::NamedTensor> whole = module->named_parameters();
  FullyShardedParameters parameters;
  {
    const Managed managed = managed_by(*module);
    for (const nn::NamedTensor& entry : managed.parameters) require_parameter(entry);
    for (const nn::NamedTensor& entry : managed.parameters) nn::move_data(entry.tensor, device);
    for (const Tensor& buffer : managed.buffers) nn::move_data(buffer, device);
    for (const nn::NamedTensor& entry : managed.parameters) {
      parameters.push_back(std::make_unique<FullyShardedParameter>(
          entry.tensor, managed.places.at(entry.tensor.impl()), ranks));
    }
    for (const auto& parameter : parameters) parameter->begin();
  }
  std::shared_ptr<FullyShardedGroup> group;
  if (!parameters.empty()) {
    group = std::make_shared<FullyShardedGroup>(std::move(parameters), ranks, options.mp_policy,
                                                options.reshard_after_forward.value_or(true));
  }
  module->set_envelope(std::make_shared<FullyShardedState>(std::move(group), device, options));
  for (nn::NamedTensor& entry : whole) entry.tensor = Tensor();
}

}  // namespace ohm::parallel

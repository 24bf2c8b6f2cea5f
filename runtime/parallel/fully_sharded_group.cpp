#include "runtime/parallel/fully_sharded_group.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
FullyShardedGroup::FullyShardedGroup(FullyShardedParameters parameters, const RankGroup& ranks,
                                     const MixedPrecisionPolicy& policy,
                                     bool reshards_after_forward)
    : parameters_(std::move(parameters)),
      world_size_(ranks.world_size()),
      rank_(ranks.rank()),
      policy_(policy),
      reshards_after_forward_(reshards_after_forward) {}

void FullyShardedGroup::begin(std::shared_ptr<FullyShardedTraffic> traffic) {
  traffic_ = std::move(traffic);
  const DType dtype = parameters_[0]->original_dtype();
  for (const auto& parameter : parameters_) {
    if (parameter->original_dtype() == dtype) continue;
    throw std::invalid_argument(
        fmt::format("[fully_shard] the parameters of one module must have one dtype, not {} and {}",
                    name_of(dtype), name_of(parameter->original_dtype())));
  }
  for (const auto& parameter : parameters_) {
    if (!is_whole_ && !is_refreshed_) parameter->refresh(!follows_later_rules());
    parameter->decide_dtypes(policy_);
  }
  is_refreshed_ = true;
}

// With 2.15 a rank alone gathers nothing.
bool FullyShardedGroup::is_alone() const { return follows_later_rules() && world_size_ == 1; }

RankGroup& FullyShardedGroup::ranks() const {
  RankGroup* const ranks = RankGroup::current();
  if (ranks != nullptr && ranks->world_size() == world_size_ && ranks->rank() == rank_) {
    return *ranks;
  }
  throw std::invalid_argument(
      "[fully_shard] the ranks that the module is shared out to have ended: run it inside the "
      "distributed.spawn that sharded it");
}

void FullyShardedGroup::unshard() {
  if (is_gathering_ || is_whole_) return;
  for (const auto& parameter : parameters_) parameter->refresh(false);
  if (!is_alone()) {
    const bool is_ahead =
        phase_ == ShardingPhase::forward || phase_ == ShardingPhase::before_backward;
    const Device device = parameters_[0]->shard().device();
    gathering_ = gather_shards(parameters_, ranks(),
                               is_ahead && traffic_->has_streams
                                   ? traffic_->gather_stream
                                   : Context::current().state.streams.of(device));
  }
  is_gathering_ = true;
}

void FullyShardedGroup::wait_for_unshard() {
  if (!is_gathering_) return;
  // The buffer of the group before goes when this one was copied; later versions do not wait.
  Tensor before;
  if (phase_ == ShardingPhase::forward) {
    before = std::exchange(traffic_->gathered, Tensor());
    if (follows_later_rules()) before = Tensor();
  }
  if (is_alone()) {
    copy_own_shards(parameters_);
  } else {
    copy_gathered(parameters_, gathering_, ranks());
  }
  show_whole();
  if (phase_ == ShardingPhase::forward) traffic_->gathered = gathering_;
  gathering_ = Tensor();
  is_gathering_ = false;
}

void FullyShardedGroup::reshard() {
  if (phase_ == ShardingPhase::forward && !reshards_after_forward_) return;
  show_shards();
}

void FullyShardedGroup::show_whole() {
  if (std::exchange(is_whole_, true)) return;
  for (const auto& parameter : parameters_) parameter->show_whole();
}

void FullyShardedGroup::show_shards() {
  if (!std::exchange(is_whole_, false)) return;
  for (const auto& parameter : parameters_) parameter->show_shard();
}

void FullyShardedGroup::before_forward() {
  phase_ = ShardingPhase::forward;
  unshard();
  wait_for_unshard();
  for (const auto& parameter : parameters_) {
    parameter->choose_gradient_dtype(policy_, reduces_gradients);
  }
}

void FullyShardedGroup::after_forward() {
  // With 2.15 what a checkpoint runs in backward is whole until its own backward.
  if (!follows_later_rules() || Context::current().state.backward_pass == 0) {
    reshard();
    passes_.push_back(traffic_->passes.size());
    traffic_->passes.push_back(weak_from_this());
  }
  phase_ = ShardingPhase::idle;
}

void FullyShardedGroup::before_backward(bool prefetches) {
  if (phase_ == ShardingPhase::before_backward) return;
  phase_ = ShardingPhase::before_backward;
  unshard();
  wait_for_unshard();
  if (prefetches) prefetch();
}

// The group that ran before this one is the next to be needed.
void FullyShardedGroup::prefetch() {
  if (passes_.empty()) return;
  const std::size_t pass = passes_.back();
  passes_.pop_back();
  if (pass == 0 || pass > traffic_->passes.size()) return;
  const std::shared_ptr<FullyShardedGroup> next = traffic_->passes[pass - 1].lock();
  if (!next) return;
  const ShardingPhase phase = std::exchange(next->phase_, ShardingPhase::before_backward);
  try {
    next->unshard();
  } catch (...) {
    next->phase_ = phase;
    throw;
  }
  next->phase_ = phase;
}

// Before 2.15 gradients that are not reduced yet are added up in the dtype of the reduction, beside
// the leaf.
void FullyShardedGroup::add_to_accumulated() {
  for (const auto& parameter : parameters_) {
    if (!parameter->accumulated.defined() || !parameter->whole().grad().defined()) continue;
    accumulate_into(parameter->accumulated, parameter->whole().grad());
    parameter->whole().set_grad(Tensor());
  }
}

void FullyShardedGroup::accumulate_apart() {
  const NoGradGuard no_grad;
  const CategoryGuard category(Category::gradient);
  for (const auto& parameter : parameters_) {
    if (!policy_.reduce_dtype || !parameter->whole().defined()) continue;
    const Tensor gradient = parameter->whole().grad();
    if (!gradient.defined() || gradient.dtype() == *policy_.reduce_dtype) continue;
    parameter->whole().set_grad(Tensor());
    parameter->accumulated = cast(gradient, *policy_.reduce_dtype);
  }
}

// With 2.15 the leaf has them in that dtype: those that were to be reduced at once do not yet.
void FullyShardedGroup::widen_gradients() {
  const NoGradGuard no_grad;
  const CategoryGuard category(Category::gradient);
  Tensor gradient;
  for (const auto& parameter : parameters_) {
    const DType dtype = parameter->accumulated_dtype(policy_);
    if (!parameter->whole().defined() ||
        item_bytes(dtype) <= item_bytes(parameter->computed_dtype())) {
      continue;
    }
    gradient = parameter->whole().grad();
    if (!gradient.defined() || gradient.dtype() == dtype) continue;
    parameter->whole().set_grad(cast(gradient, dtype));
  }
}

std::vector<WholeGradient> FullyShardedGroup::take_gradients() {
  std::vector<WholeGradient> gradients;
  for (const auto& parameter : parameters_) {
    if (parameter->accumulated.defined()) {
      gradients.push_back({parameter.get(), std::exchange(parameter->accumulated, Tensor())});
      continue;
    }
    if (!parameter->whole().defined() || !parameter->whole().grad().defined()) continue;
    gradients.push_back({parameter.get(), parameter->whole().grad()});
    parameter->whole().set_grad(Tensor());
  }
  return gradients;
}

DType FullyShardedGroup::reduce_dtype(const WholeGradient& first) const {
  if (policy_.reduce_dtype) return *policy_.reduce_dtype;
  return follows_later_rules() ? first.parameter->original_dtype() : first.gradient.dtype();
}

void FullyShardedGroup::after_backward() {
  phase_ = ShardingPhase::after_backward;
  if (!follows_later_rules()) add_to_accumulated();
  if (!reduces_gradients) {
    if (follows_later_rules()) widen_gradients();
    if (reshards_after_backward) reshard();
    if (!follows_later_rules()) accumulate_apart();
    return;
  }
  std::vector<WholeGradient> gradients = take_gradients();
  if (reshards_after_backward) reshard();
  if (follows_later_rules()) traffic_->reduced = Tensor();
  if (gradients.empty()) return;
  traffic_->reduced = Tensor();
  const DType dtype = reduce_dtype(gradients[0]);
  traffic_->reduced =
      reduce_gradients(std::move(gradients), dtype, ranks(), traffic_->reduce_stream);
}

void FullyShardedGroup::give_up() {
  gathering_ = Tensor();
  is_gathering_ = false;
  for (const auto& parameter : parameters_) {
    parameter->shard().set_grad(Tensor());
    if (parameter->whole().defined()) parameter->whole().set_grad(Tensor());
    parameter->accumulated = Tensor();
  }
  passes_.clear();
  phase_ = ShardingPhase::idle;
  show_shards();
}

void FullyShardedGroup::finish_backward() {
  gathering_ = Tensor();
  is_gathering_ = false;
  passes_.clear();
}

}  // namespace ohm::parallel

#include "runtime/parallel/sync_batch_norm.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/parallel/sync_batch_norm_function.h"

namespace ohm::parallel {

Tensor SyncBatchNorm::normalize(const Tensor& input) {
  RankGroup* const group = group_ ? group_.get() : RankGroup::current();
  const bool has_ranks = group != nullptr && RankGroup::current() != nullptr;
  if (!is_training() || !has_ranks || group->rank() == RankGroup::kNoMember ||
      group->world_size() < 2) {
    return BatchNorm::normalize(input);
  }
  if (input.device().is_cpu()) {
    throw std::invalid_argument(
        fmt::format("[SyncBatchNorm] expected an input on a GPU, but got {}", describe(input)));
  }
  const bool tracks = options().tracks_running_stats;
  return sync_batch_norm(
      {input, own_parameter(0), own_parameter(1), tracks ? own_buffer(0) : Tensor(),
       tracks ? own_buffer(1) : Tensor(), options().momentum, options().eps},
      group->shared_from_this());
}

nn::ModulePtr convert_sync_batchnorm(const nn::ModulePtr& module, const GroupPtr& group) {
  const auto* const norm = dynamic_cast<const nn::BatchNorm*>(module.get());
  if (norm != nullptr) return std::make_shared<SyncBatchNorm>(*norm, group);
  for (std::size_t i = 0; i < module->children().size(); ++i) {
    const nn::ModulePtr child = module->children()[i].module;
    if (!child) continue;
    const nn::ModulePtr converted = convert_sync_batchnorm(child, group);
    if (converted != child) module->set_child(i, converted);
  }
  return module;
}

}  // namespace ohm::parallel

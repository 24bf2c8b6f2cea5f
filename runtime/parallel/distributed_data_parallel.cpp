#include "runtime/parallel/distributed_data_parallel.h"

#include <algorithm>
#include <stdexcept>

#include "runtime/autograd/grad_mode.h"
#include "runtime/parallel/coalesced.h"
#include "runtime/parallel/gradient_reducer.h"
#include "runtime/tensor/arithmetic.h"

namespace ohm::parallel {
namespace {

constexpr std::size_t kSyncBytes = std::size_t{250} << 20U;

RankGroup& required_group() {
  RankGroup* group = RankGroup::current();
  if (group == nullptr) {
    throw std::invalid_argument(
        "[DistributedDataParallel] there is no process group: run inside distributed.spawn");
  }
  return *group;
}

// Rank 0's values on every rank, through flat temporaries.
void sync_from_first_rank(RankGroup& group, const std::vector<Tensor>& tensors) {
  const NoGradGuard no_grad;
  const CategoryGuard category(Category::other);
  for (const auto& chunk : chunks_of(tensors, kSyncBytes, ChunkRule::may_exceed)) {
    std::vector<Tensor> members;
    members.reserve(chunk.size());
    for (const std::size_t index : chunk) members.push_back(tensors[index]);
    const Tensor flat = flatten(members);
    group.broadcast(flat, 0);
    const std::vector<Tensor> pieces = unflatten(flat, members);
    for (std::size_t i = 0; i < members.size(); ++i) copy_into(members[i], pieces[i]);
  }
}

}  // namespace

DistributedDataParallel::DistributedDataParallel(nn::ModulePtr module,
                                                 const DistributedOptions& options) {
  RankGroup& group = required_group();
  std::vector<Tensor> trained = module->parameters();
  std::vector<Tensor> state = trained;
  for (const nn::NamedTensor& entry : module->named_buffers()) state.push_back(entry.tensor);
  trained.erase(std::remove_if(trained.begin(), trained.end(),
                               [](const Tensor& tensor) { return !tensor.requires_grad(); }),
                trained.end());
  if (trained.empty()) {
    throw std::invalid_argument(
        "[DistributedDataParallel] is not needed when no parameter of the module requires a "
        "gradient");
  }
  sync_from_first_rank(group, state);
  reducer_ = std::make_unique<GradientReducer>(group, std::move(trained), options);
  add_child("module", std::move(module));
}

DistributedDataParallel::~DistributedDataParallel() = default;

nn::Value DistributedDataParallel::forward(const std::vector<nn::Value>& inputs) {
  if (Context::current().state.grad_enabled && is_training()) reducer_->prepare();
  return children()[0].module->forward(inputs);
}

nn::ModulePtr DistributedDataParallel::shallow_copy() const {
  throw std::invalid_argument("[DistributedDataParallel] cannot be replicated by DataParallel");
}

}  // namespace ohm::parallel

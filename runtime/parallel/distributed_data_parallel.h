// DistributedDataParallel: one rank for each GPU, each with the whole module and a part of the
// batch. Gradients are averaged over the ranks in buckets, so every rank takes the same step.
#pragma once

#include <memory>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/parallel/gradient_reducer.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {

class DistributedDataParallel final : public nn::Module {
 public:
  /// Copies rank 0's parameters and buffers to all ranks and allocates the buckets: parameter
  /// bytes in the gradients' dtype. Throws std::invalid_argument outside a rank group, and for a
  /// module without trainable parameters.
  DistributedDataParallel(nn::ModulePtr module, const DistributedOptions& options);
  ~DistributedDataParallel() override;

  std::string_view type_name() const override { return "DistributedDataParallel"; }

  using Module::forward;
  nn::Value forward(const std::vector<nn::Value>& inputs) override;

  /// Throws std::invalid_argument: a rank's hooks belong to one module.
  nn::ModulePtr shallow_copy() const override;

  /// Whether backward passes of the forward passes from now on end with gradients averaged over
  /// the ranks; returns what was so far. Without it, they are accumulated on each rank alone.
  bool exchange_gradient_sync(bool is_on);

 private:
  std::vector<nn::Value> moved(const std::vector<nn::Value>& inputs) const;

  RankGroup& group_;
  DistributedOptions options_;
  std::vector<Tensor> buffers_;
  std::shared_ptr<GradientReducer> reducer_;
  bool syncs_gradients_ = true;
  bool syncs_buffers_ = true;  ///< not behind a forward pass without averaged gradients
};

}  // namespace ohm::parallel

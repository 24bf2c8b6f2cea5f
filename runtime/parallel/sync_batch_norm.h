// SyncBatchNorm: batch normalisation with the statistics of all ranks' inputs.
#pragma once

#include "runtime/nn/normalization.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {

/// [N, C, …] -> the same. When training inside of ranks, mean and variance are those of the inputs
/// of all ranks of the group, where PyTorch's torch.nn.SyncBatchNorm gathers them; else it is
/// BatchNorm. Its backward pass reduces two sums of C elements over the ranks.
class SyncBatchNorm final : public nn::BatchNorm {
 public:
  static constexpr Kind kKind{"SyncBatchNorm", 2, 64};

  /// `group`: null for all ranks.
  SyncBatchNorm(std::int64_t features, const nn::BatchNormOptions& options,
                const nn::ParameterOptions& parameters, GroupPtr group)
      : BatchNorm(kKind, features, options, parameters), group_(std::move(group)) {}
  /// With the parameters and buffers of `norm`.
  SyncBatchNorm(const BatchNorm& norm, GroupPtr group) : BatchNorm(norm), group_(std::move(group)) {
    set_kind(kKind);
  }

  nn::ModulePtr shallow_copy() const override { return std::make_shared<SyncBatchNorm>(*this); }

 protected:
  Tensor normalize(const Tensor& input) override;

 private:
  GroupPtr group_;
};

/// Every BatchNorm in `module` becomes a SyncBatchNorm with its parameters and buffers. Returns the
/// module, or what it became itself.
nn::ModulePtr convert_sync_batchnorm(const nn::ModulePtr& module, const GroupPtr& group);

}  // namespace ohm::parallel

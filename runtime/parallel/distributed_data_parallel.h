// DistributedDataParallel: one rank for each GPU, each with the whole module and a part of the
// batch. Gradients are averaged over the ranks in buckets, so every rank takes the same step.
#pragma once

#include <memory>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {

struct DistributedOptions {
  std::size_t bucket_cap_bytes = std::size_t{25} << 20U;
  /// Gradients are views of the buckets: the parameters' bytes once instead of twice.
  bool gradient_as_bucket_view = false;
};

/// Where gradients meet: flat buffers, and the hooks that fill them.
class GradientReducer;

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

 private:
  std::unique_ptr<GradientReducer> reducer_;
};

}  // namespace ohm::parallel

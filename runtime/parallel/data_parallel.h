// DataParallel: one process, one batch, all GPUs.
//
// Each forward pass scatters the batch, replicates the module onto every GPU, runs the replicas
// and gathers their outputs on one GPU, which therefore holds the whole batch's outputs, the loss
// made of them and all gradients: the imbalance that it is known for.
#pragma once

#include <optional>
#include <vector>

#include "runtime/nn/module.h"

namespace ohm::parallel {

class DataParallel final : public nn::CopyableModule<DataParallel> {
 public:
  /// What becomes of the replicas' outputs.
  enum class Outputs : std::uint8_t {
    gathered,  ///< on the output device: one tensor, or a list where replicas give lists
    left,      ///< a list, each where it was made: for a loss computed in parallel
  };

  /// devices: all GPUs when empty; output_device: the first when not given. Throws
  /// std::invalid_argument for devices that do not exist.
  DataParallel(nn::ModulePtr module, std::vector<Device> devices,
               std::optional<Device> output_device, Outputs outputs = Outputs::gathered);

  std::string_view type_name() const override { return "DataParallel"; }

  /// Throws std::invalid_argument when a parameter or buffer is not on devices[0].
  using Module::forward;
  nn::Value forward(const std::vector<nn::Value>& inputs) override;

 private:
  nn::Module& module() const { return *children()[0].module; }
  void require_module_on_first_device() const;

  std::vector<Device> devices_;
  Device output_device_;
  Outputs outputs_;
};

/// A loss over outputs that were left on their GPUs: the targets are scattered, the loss is
/// computed on each GPU, and only the scalars are gathered. Their mean is the loss.
class DataParallelCriterion final : public nn::CopyableModule<DataParallelCriterion> {
 public:
  DataParallelCriterion(nn::ModulePtr criterion, std::vector<Device> devices);

  std::string_view type_name() const override { return "DataParallelCriterion"; }

  /// inputs: the list of outputs, then the targets.
  using Module::forward;
  nn::Value forward(const std::vector<nn::Value>& inputs) override;

 private:
  std::vector<Device> devices_;
};

}  // namespace ohm::parallel

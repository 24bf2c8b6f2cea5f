// Copies of modules and tensors, as Python's deepcopy() makes them.
#pragma once

#include <unordered_map>

#include "runtime/nn/module.h"

namespace ohm::nn {

/// The copies of one call: what stands in several places is copied once.
class DeepCopies {
 public:
  /// Its elements alone.
  Tensor parameter(const Tensor& tensor);
  /// With all of the storage that it may be a part of, and with its gradient. Throws
  /// std::invalid_argument for a tensor that was computed in a graph.
  Tensor tensor(const Tensor& tensor);

 private:
  Tensor copy_with_storage(const Tensor& tensor);

  std::unordered_map<const TensorImpl*, Tensor> tensors_;
  std::unordered_map<const Storage*, Tensor> storages_;  ///< each whole
};

/// The same module with tensors and children of its own, of equal values. A tensor that stands in
/// several places does so in the copy too.
ModulePtr deep_copy(const Module& module);

}  // namespace ohm::nn

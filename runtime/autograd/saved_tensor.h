// A tensor that a node keeps for backward.
#pragma once

#include <cstdint>

#include "runtime/tensor/tensor.h"

namespace ohm {

class Node;

/// Saving an input keeps the caller's tensor alive: no new bytes. Saving the node's own output
/// keeps an alias of its storage without its grad_fn, so that no cycle arises.
class SavedTensor {
 public:
  enum class Kind : std::uint8_t { input, output };

  SavedTensor() = default;
  SavedTensor(const Tensor& tensor, Kind kind);

  /// The tensor as it was saved; `owner` is the node that saved it. Undefined when an undefined
  /// tensor was saved. Throws std::invalid_argument when its values were overwritten since, or
  /// when the node has released it already.
  Tensor unpack(const Node& owner) const;

  void release();

  /// The tensor itself, for reports; undefined once released.
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
  std::uint32_t version_ = 0;
};

}  // namespace ohm

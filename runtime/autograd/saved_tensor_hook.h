// A hook that decides what nodes keep of the tensors that they save.
#pragma once

#include <cstdint>

#include "runtime/autograd/node.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// A tensor's place in the graph.
struct GraphPlace {
  IntrusivePtr<Node> grad_fn;      ///< null for leaves, and for outputs of the node that saves
  IntrusivePtr<Node> accumulator;  ///< of a leaf
  std::uint32_t output_number = 0;
  bool requires_grad = false;
};

/// What a node keeps in place of a tensor that it saved.
class PackedTensor : public RefCounted {
 public:
  PackedTensor();
  PackedTensor(const PackedTensor&) = delete;
  PackedTensor& operator=(const PackedTensor&) = delete;

  /// The tensor, or one that equals it. Its place in the graph is put back by the caller.
  virtual Tensor unpack() = 0;

  GraphPlace place;  ///< of the tensor

  static void destroy(PackedTensor* packed) { delete packed; }

 protected:
  virtual ~PackedTensor();
};

/// While one is installed, it decides what nodes keep of the tensors they save.
class SavedTensorHook {
 public:
  virtual IntrusivePtr<PackedTensor> pack(const Tensor& tensor) = 0;

 protected:
  ~SavedTensorHook() = default;
};

}  // namespace ohm

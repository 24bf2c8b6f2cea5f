// Functions that see the gradient of a tensor in a backward pass, before it goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "runtime/autograd/node.h"
#include "runtime/autograd/weak_tensor.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// Given the gradient of a tensor; returns another one for it, or an undefined tensor.
using GradientHook = std::function<Tensor(const Tensor& grad)>;

/// Those of the outputs of one node, or of one leaf.
class GradientHooks {
 public:
  /// Of output `output` of the forward op. Returns a number, for remove().
  std::uint64_t add(std::uint32_t output, GradientHook hook);
  void remove(std::uint64_t number);

  /// The gradient of this output is to be kept as the tensor's `.grad`.
  void keep_gradient_of(const Tensor& tensor, std::uint32_t output);
  /// It is that of an output of another node from now on: the tensor was written over.
  void move_kept_gradient(const Tensor& tensor, Node& node, std::uint32_t output);

  /// Hooks in order of registration, then what is kept. Throws std::invalid_argument where a hook
  /// returned a gradient of another shape, dtype or device.
  void run(TensorList& grads) const;

 private:
  struct Hook {
    std::uint32_t output;
    GradientHook call;
  };
  struct Kept {
    std::uint32_t output;
    WeakTensor tensor;
  };

  std::map<std::uint64_t, Hook> hooks_;  ///< by their numbers
  std::vector<Kept> kept_;
  std::uint64_t next_number_ = 1;
};

/// The hooks where the gradient of `tensor` comes by, made at the first use. Pre-condition: it
/// requires a gradient.
std::shared_ptr<GradientHooks> gradient_hooks_of(const Tensor& tensor);

/// Adds a hook to `tensor`. Returns what takes it away again. Throws std::invalid_argument when it
/// does not require a gradient.
std::function<void()> register_gradient_hook(const Tensor& tensor, GradientHook hook);

/// A tensor that is no leaf keeps its gradient, too; a leaf does in any case. Throws
/// std::invalid_argument when it does not require a gradient.
void retain_gradient(const Tensor& tensor);
bool retains_gradient(const Tensor& tensor);

}  // namespace ohm

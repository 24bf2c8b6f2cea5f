// A tensor that a node keeps for backward.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/saved_tensor_hook.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// Installs a hook while the guard lives, in place of the one before.
class SavedTensorHookGuard {
 public:
  explicit SavedTensorHookGuard(SavedTensorHook& hook)
      : previous_(std::exchange(autograd_state().saved_tensor_hook, &hook)) {}
  ~SavedTensorHookGuard() { autograd_state().saved_tensor_hook = previous_; }
  SavedTensorHookGuard(const SavedTensorHookGuard&) = delete;
  SavedTensorHookGuard& operator=(const SavedTensorHookGuard&) = delete;

 private:
  SavedTensorHook* previous_;
};

/// Throws std::invalid_argument: `owner`, which is to run, was released by an earlier pass.
[[noreturn]] void throw_released(const Node& owner);

/// Saving an input keeps the caller's tensor alive: no new bytes. Saving the node's own output
/// keeps an alias of its storage without its grad_fn, so that no cycle arises. Under a hook, only
/// what it gives in their place is kept.
class SavedTensor {
 public:
  enum class Kind : std::uint8_t { input, output };

  SavedTensor() = default;
  /// `output_number`: which output of its owner, where it is one.
  SavedTensor(const Tensor& tensor, Kind kind, std::uint8_t output_number = 0);

  /// The tensor as it was saved; `owner` is the node that saved it. Undefined when an undefined
  /// tensor was saved. Throws std::invalid_argument when its values were overwritten since, or
  /// when the node has released it already. What was packed is unpacked, whatever was written to
  /// since.
  Tensor unpack(const Node& owner) const;

  /// The same with its place in the graph: an output of `owner` is seen as one again. For formulas
  /// that are recorded themselves.
  Tensor unpack_recorded(Node& owner) const;

  void release();

  /// Where the gradient of a leaf goes, which was packed; null otherwise.
  IntrusivePtr<Node> accumulator() const;

  bool is_packed() const { return static_cast<bool>(packed_); }

 private:
  void remember_place(const Tensor& tensor);
  Tensor unpacked() const;

  Tensor tensor_;
  IntrusivePtr<PackedTensor> packed_;
  std::uint32_t version_ = 0;
  Kind kind_ = Kind::input;
  std::uint8_t output_number_ = 0;
};

}  // namespace ohm

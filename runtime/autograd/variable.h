// Autograd's part of a tensor: its gradient, the node that made it, its accumulator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/autograd/node.h"
#include "runtime/autograd/view_of.h"
#include "runtime/base/pooled.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// The end of the graph: the gradient that reaches it is added to its leaf's `.grad`, by the engine
/// (accumulate_grad.h). Holds its leaf strongly: as long as a graph leads to a leaf, the leaf
/// lives.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);

  const Tensor* leaf() const override { return &leaf_; }
  /// Does not run.
  TensorList apply(TensorList& grads) override;
  const std::shared_ptr<GradientHooks>& hooks() const override;

 private:
  ~AccumulateGrad() override;

  Tensor leaf_;
};

struct AutogradMeta final : AutogradMetaBase, Pooled<AutogradMeta> {
  Tensor grad;
  /// Null for leaves. That of a view may be older than a write to its base: gradient_edge() and
  /// Tensor::grad_fn() make it anew (refresh_history).
  IntrusivePtr<Node> grad_fn;
  std::uint32_t output_number = 0;
  bool requires_grad = false;     ///< meaningful for leaves only
  bool retains_grad = false;      ///< its gradient is kept, though it is no leaf
  bool is_inference = false;      ///< made under inference_mode
  std::optional<ViewOf> view_of;  ///< none for what is no differentiable view
  /// The leaf's accumulator while a graph uses it. It holds the leaf, so the leaf must not hold it.
  AccumulateGrad* accumulator = nullptr;
  /// Called after each accumulation into `grad`, in order of registration.
  std::vector<std::function<void(const Tensor& leaf)>> accumulation_hooks;
  /// Of a leaf (gradient_hooks.h); those of other tensors are with their nodes.
  std::shared_ptr<GradientHooks> gradient_hooks;
  std::shared_ptr<TensorImpl* const> self;  ///< goes with the tensor: what a WeakTensor looks at
};

/// nullptr when autograd has attached nothing.
AutogradMeta* autograd_meta(const Tensor& tensor);
/// Attaches an empty one when there is none.
AutogradMeta& ensure_autograd_meta(const Tensor& tensor);

/// Where the gradient of `tensor` goes: the node that made it, or a leaf's accumulator (made at
/// the first use). No node when the tensor does not require a gradient, or was made in no_grad as a
/// view of one that does.
Edge gradient_edge(const Tensor& tensor);

/// For a leaf whose dtype or device was changed: what graphs record from now on accumulates what
/// the leaf is now. Those that were recorded keep theirs.
void forget_accumulator(const Tensor& leaf);

/// `node` made `tensor`, by its output `output_number`, whatever it is a view of.
void set_history(const Tensor& tensor, const IntrusivePtr<Node>& node, std::uint32_t output_number);

/// Makes the node of a view anew where its base was written to since. Throws std::invalid_argument
/// where that was no plain view in the graph.
void refresh_history(const Tensor& tensor);

/// The same values on the same storage, outside the graph: shares memory, holds no graph alive.
Tensor detach(const Tensor& tensor);

/// Throws std::invalid_argument when several elements of `tensor`, which is to be written to, are
/// one in memory (an expanded tensor). Counts the write. What it means to the graph is the
/// recorder's to say (Recorder::overwriting).
void begin_inplace_write(const Tensor& tensor, std::string_view op);

/// Throws std::invalid_argument when some elements of the two, but not all in the same order, are
/// one in memory: what an element-wise op reads would depend on what it wrote before. As PyTorch
/// does, looks at dense tensors alone.
void require_no_partial_overlap(const Tensor& written, const Tensor& read, std::string_view op);

}  // namespace ohm

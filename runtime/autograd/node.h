// A node of the backward graph: one backward step, and where its gradients go.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "runtime/base/inline_vector.h"
#include "runtime/base/intrusive_ptr.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

class GradientHooks;
class Node;

/// Where a gradient goes: input `input` of `node`. No node: it is not wanted.
struct Edge {
  IntrusivePtr<Node> node;
  std::uint32_t input = 0;
};

/// What a gradient must look like: a tensor of the forward pass.
struct TensorMeta {
  Shape shape;
  DType dtype = DType::float32;
  Device device;
  StreamId stream = kDefaultStream;  ///< that was the device's current one
};

using TensorList = InlineVector<Tensor, 3>;
using EdgeList = InlineVector<Edge, 3>;

/// Input i of a node is the gradient of the forward op's output i; its output j, which goes along
/// edge j, is the gradient of the forward op's input j.
class Node : public RefCounted {
 public:
  /// Leaves accumulate as soon as their gradient is there: they come before everything.
  static constexpr std::uint64_t kBeforeAll = UINT64_MAX;

  Node(std::string_view name, std::uint64_t sequence_number);
  /// The number for the next node that the running thread makes.
  static std::uint64_t next_sequence_number();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// One gradient for each edge; undefined where there is none. `grads` stays alive until the
  /// results were validated.
  virtual TensorList apply(TensorList& grads) = 0;

  /// Drops what was saved; a second backward through this node is an error from then on.
  virtual void release_saved() { is_released_ = true; }
  /// The same where a graph is let go from this node on: the order may be another one.
  virtual void abandon_saved() { release_saved(); }

  /// The leaf to whose `.grad` the engine adds the gradient; nullptr where apply() is to run.
  virtual const Tensor* leaf() const { return nullptr; }

  /// The node that this one runs as a part of itself, which no edge leads to; nullptr: none.
  virtual const Node* function() const { return nullptr; }

  /// What is to see the gradients of the forward op's outputs first; nullptr: nothing.
  virtual const std::shared_ptr<GradientHooks>& hooks() const { return hooks_; }
  /// Those of an output that is no leaf (gradient_hooks.h).
  std::shared_ptr<GradientHooks>& own_hooks() { return hooks_; }

  std::string_view name() const { return name_; }
  /// Later forward ops have larger numbers and run earlier in backward.
  std::uint64_t sequence_number() const { return sequence_number_; }
  SiteId site() const { return site_; }  ///< of the forward op
  const EdgeList& edges() const { return edges_; }
  const InlineVector<TensorMeta, 1>& inputs() const { return inputs_; }
  bool is_released() const { return is_released_; }

  bool needs(std::size_t edge) const {
    return edge < edges_.size() && static_cast<bool>(edges_[edge].node);
  }

  /// Whether apply() records what it does when grad mode is on: then its results can be
  /// differentiated again.
  bool is_differentiable() const { return is_differentiable_; }
  void set_differentiable() { is_differentiable_ = true; }

  /// Whether its gradient is what it was given, zeros without memory, too (zero_gradient.h).
  bool passes_on_zeros() const { return passes_on_zeros_; }
  void set_passes_on_zeros() { passes_on_zeros_ = true; }

  /// Whether PyTorch has apply() in Python: its gradients are the elements of a tuple.
  bool is_python() const { return is_python_; }
  void set_python() { is_python_ = true; }

  /// Whether it is one that PyTorch made without its deleter of graphs, in some versions: when it
  /// goes, so do its edges, from the first on, each with all that it kept.
  bool goes_edge_by_edge() const { return goes_edge_by_edge_; }
  void set_goes_edge_by_edge() { goes_edge_by_edge_ = true; }

  void set_edges(EdgeList edges) { edges_ = std::move(edges); }
  /// Registers an output of the forward op; returns its number.
  std::uint32_t add_input(const Tensor& output);

  /// Deletes a node and what only it kept alive, without recursion: a graph can be a million nodes
  /// deep.
  static void destroy(Node* node);

 protected:
  virtual ~Node() = default;

 private:
  std::string_view name_;
  std::uint64_t sequence_number_;
  SiteId site_;
  EdgeList edges_;
  InlineVector<TensorMeta, 1> inputs_;
  std::shared_ptr<GradientHooks> hooks_;
  bool is_released_ = false;
  bool is_differentiable_ = false;
  bool passes_on_zeros_ = false;
  bool is_python_ = false;
  bool goes_edge_by_edge_ = false;
};

}  // namespace ohm

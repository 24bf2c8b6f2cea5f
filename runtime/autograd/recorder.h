// The recorder of an op's backward step.
//
//   Recorder record("MulBackward", {&x, &y});
//   record.save(x);                               // inputs, before anything is allocated
//   record.save(y);
//   Tensor out = …;                               // the forward pass
//   record.attach(out, [](BackwardCall& call) -> TensorList {
//     return {product(call.grad(), call.saved(1)), product(call.grad(), call.saved(0))};
//   });
//
// A formula that is made of recorded ops alone is attached with attach_differentiable(): under
// create_graph, backward runs with grad mode on and its results can be differentiated again.
//
// An op that writes over an input is recorded by Recorder::overwriting(), and attached to that
// input; what makes a view calls track_view() after attaching (view_history.h).
//
// Where no graph is recorded, saving and attaching do nothing. The closure may hold plain values
// (numbers, shapes); tensors go through save(), so that what a graph keeps alive can be seen and
// released. Inputs are saved before the forward pass because a recomputation ends with the last
// tensor that is saved (checkpoint.h): where that is an input, the op does not run at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/saving_node.h"
#include "runtime/autograd/variable.h"
#include "runtime/tensor/context.h"

namespace ohm {

/// What a backward closure sees.
class BackwardCall {
 public:
  BackwardCall(SavingNode& node, const TensorList& grads) : node_(node), grads_(grads) {
    if (node.keeps_packed()) unpack_all();
  }
  BackwardCall(const BackwardCall&) = delete;
  BackwardCall& operator=(const BackwardCall&) = delete;
  ~BackwardCall() {
    while (!unpacked_.empty()) unpacked_.pop_back();
  }

  /// The gradient of output `i`; may be undefined for ops with several outputs.
  const Tensor& grad(std::size_t i = 0) const { return grads_[i]; }
  std::size_t grad_count() const { return grads_.size(); }
  /// The i-th saved tensor. Throws when it was overwritten or released.
  Tensor saved(std::size_t i) const {
    if (!unpacked_.empty()) return unpacked_[i];
    return is_recorded_ ? node_.saved()[i].unpack_recorded(node_) : node_.saved()[i].unpack(node_);
  }
  /// Whether the gradient of input `i` in this backward pass.
  bool needs(std::size_t i) const {
    return node_.needs(i) && (selection_ == nullptr || is_selected(i));
  }
  /// Whether the formula has to record what it does (create_graph).
  bool is_recorded() const { return is_recorded_; }
  /// The shape, dtype and device of output `i`.
  const TensorMeta& output(std::size_t i = 0) const { return node_.inputs()[i]; }

 private:
  void unpack_all();
  bool is_selected(std::size_t i) const;

  SavingNode& node_;
  const TensorList& grads_;
  const GradientSelection* selection_ = running_selection();
  bool is_recorded_ = Context::current().state.grad_enabled;
  /// What was packed lives from the beginning of the node's run to its end; the last one goes
  /// first. Empty where nothing was packed.
  std::vector<Tensor> unpacked_;
};

template <class F>
class ClosureNode final : public SavingNode {
 public:
  ClosureNode(std::string_view name, std::uint64_t sequence_number, F backward)
      : SavingNode(name, sequence_number), backward_(std::move(backward)) {}

  TensorList apply(TensorList& grads) override {
    BackwardCall call(*this, grads);
    return backward_(call);
  }

 private:
  ~ClosureNode() override = default;

  F backward_;
};

class Recorder {
 public:
  /// `inputs`: the differentiable inputs, in the order of the gradients that backward returns.
  Recorder(std::string_view name, std::initializer_list<const Tensor*> inputs);
  Recorder(std::string_view name, const std::vector<Tensor>& inputs);
  /// Of an op that writes over the first of `inputs`, to be made before it does. Throws
  /// std::invalid_argument where the write would damage the graph: require_overwritable_history()
  /// (view_tracking.h).
  static Recorder overwriting(std::string_view op, std::string_view name,
                              std::initializer_list<const Tensor*> inputs);

  /// False when grad mode is off or no input requires a gradient: record nothing, save nothing.
  bool is_needed() const { return is_needed_; }
  /// Whether input `i` will want a gradient: what only its formula needs need not be saved else.
  bool needs(std::size_t i) const { return is_needed_ && static_cast<bool>(edges_[i].node); }

  void save(const Tensor& input) {
    if (is_needed_) saved_.emplace_back(input, SavedTensor::Kind::input);
  }
  /// All that the node saves, as a list.
  void save_list(const std::vector<Tensor>& inputs) {
    for (const Tensor& input : inputs) save(input);
    saves_list_ = true;
  }
  /// `number`: its place among what is attached.
  void save_output(const Tensor& output, std::uint8_t number = 0) {
    if (is_needed_) saved_.emplace_back(output, SavedTensor::Kind::output, number);
  }

  /// To be called where what is saved is made by ops with nodes of their own: this one is numbered
  /// before them.
  void take_number() {
    if (is_needed_) number_ = Node::next_sequence_number();
  }

  template <class F>
  void attach(const Tensor& output, F backward) {
    if (is_needed_) bind(output, make_node(std::move(backward)));
  }
  template <class F>
  void attach_differentiable(const Tensor& output, F backward) {
    if (!is_needed_) return;
    const IntrusivePtr<Node> node = make_node(std::move(backward));
    node->set_differentiable();
    bind(output, node);
  }
  /// Of a copy, whose gradient is the one that it is given.
  void attach_copy(const Tensor& output) {
    if (!is_needed_) return;
    const IntrusivePtr<Node> node =
        make_node([](BackwardCall& call) { return TensorList{call.grad()}; });
    node->set_differentiable();
    node->set_passes_on_zeros();
    bind(output, node);
  }
  template <class F>
  void attach(const std::vector<Tensor>& outputs, F backward) {
    if (is_needed_) bind(outputs, make_node(std::move(backward)));
  }
  template <class F>
  void attach_differentiable(const std::vector<Tensor>& outputs, F backward) {
    if (!is_needed_) return;
    const IntrusivePtr<Node> node = make_node(std::move(backward));
    node->set_differentiable();
    bind(outputs, node);
  }

  /// Of an op whose node PyTorch writes by hand: see Node::goes_edge_by_edge(). Its formula is
  /// recorded.
  template <class F>
  void attach_edge_by_edge(const Tensor& output, F backward) {
    if (!is_needed_) return;
    const IntrusivePtr<Node> node = make_node(std::move(backward));
    node->set_goes_edge_by_edge();
    node->set_differentiable();
    bind(output, node);
  }
  /// Of a function that PyTorch has in Python.
  template <class F>
  void attach_python(const std::vector<Tensor>& outputs, F backward) {
    if (!is_needed_) return;
    const IntrusivePtr<Node> node = make_node(std::move(backward));
    node->set_python();
    bind(outputs, node);
  }

 private:
  template <class F>
  IntrusivePtr<Node> make_node(F backward) {
    const std::uint64_t number = number_ ? *number_ : Node::next_sequence_number();
    auto* const node = new ClosureNode<F>(name_, number, std::move(backward));
    IntrusivePtr<Node> owner(node);
    node->set_edges(std::move(edges_));
    node->set_saved(std::move(saved_));
    if (saves_list_) node->set_saves_list();
    return owner;
  }
  void add_edge(const Tensor& input);
  /// What is a tracked view already was written over.
  static void bind(const Tensor& output, const IntrusivePtr<Node>& node);
  static void bind(const std::vector<Tensor>& outputs, const IntrusivePtr<Node>& node) {
    for (const Tensor& output : outputs) bind(output, node);
  }

  std::string_view name_;
  bool is_needed_ = false;
  bool saves_list_ = false;
  std::optional<std::uint64_t> number_;  ///< of the node, where another one is made before it
  EdgeList edges_;
  SavedList saved_;
};

}  // namespace ohm

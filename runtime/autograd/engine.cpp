#include "runtime/autograd/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory_resource>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/accumulate_grad.h"
#include "runtime/autograd/autocast_guard.h"
#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/gradient_hooks.h"
#include "runtime/autograd/node.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/autograd/variable.h"
#include "runtime/autograd/zero_gradient.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/tensor/context.h"

namespace ohm {
namespace {

// Where a node runs: on the stream that the first output of its forward op was made on.
struct Place {
  Device device;
  StreamId stream = kDefaultStream;
};

Place place_of(const Node& node) {
  const TensorMeta& first = node.inputs()[0];
  return {first.device, first.stream};
}

// One backward pass: what waits for gradients, and what is ready to run.
class BackwardPass {
 public:
  BackwardPass(GraphRetention retention, GradientGraph graph)
      : retention_(retention), graph_(graph) {}
  /// After a failure the gradients that wait go, in the order in which their nodes were found.
  ~BackwardPass();
  BackwardPass(const BackwardPass&) = delete;
  BackwardPass& operator=(const BackwardPass&) = delete;

  void add_root(const Edge& edge, const Tensor& grad);
  void run();

  /// The gradients that go along these edges are kept, and only what leads to them runs. To be
  /// called when all roots are there.
  void capture(std::vector<Edge> edges);
  GraphRetention retention() const { return retention_; }
  GradientSelection* selection() { return selection_ ? &*selection_ : nullptr; }
  std::vector<Tensor> take_captured() { return std::move(captured_); }

 private:
  struct Waiting {
    TensorList grads;
    std::size_t missing = 0;  ///< edges from nodes that have not run yet
    std::size_t number = 0;   ///< in the order in which the nodes were found
  };

  void count_dependencies();
  void push_ready(const IntrusivePtr<Node>& node);
  IntrusivePtr<Node> pop_ready();
  void run_node(Node& node, const Place& place, TensorList grads);
  void deliver(const Place& producer, const Edge& edge, Tensor& grad);
  Waiting& waiting(Node* node);
  void keep_captured(const Node& node, const TensorList& grads);
  bool is_of_use(const Node& node) const { return !selection_ || selection_->includes(node); }

  GraphRetention retention_;
  GradientGraph graph_;
  /// The pass was started under autocast, which asks sums of half precision for float32 results.
  bool sums_in_float32_ = autocast_settings().is_enabled;
  std::optional<GradientSelection> selection_;
  std::vector<Edge> captures_;
  std::vector<Tensor> captured_;
  std::vector<Edge> roots_;
  std::vector<IntrusivePtr<Node>> ready_;  ///< a heap: the latest forward op on top
  /// As many nodes as the graph has come at once, and go with the pass.
  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::unordered_map<Node*, Waiting> waiting_{&memory_};
};

// Whether the caller is its only owner. A view keeps the tensor that it views, so that is never
// true of one.
bool is_sole_owner(const Tensor& tensor) {
  return tensor.use_count() == 1 && !tensor.impl()->is_view && tensor.storage().use_count() == 1;
}

// The first gradient is moved; one that is added to it stays with the caller.
void add_gradient(Tensor& sum, Tensor& grad) {
  if (!sum.defined()) {
    sum = std::move(grad);
    return;
  }
  const bool is_free =
      !Context::current().state.grad_enabled && is_sole_owner(sum) && sum.is_dense();
  if (is_zero_gradient(sum) || is_zero_gradient(grad)) {
    sum = sum_with_zero_gradient(sum, grad, is_free);
  } else if (is_free) {
    accumulate_into(sum, grad);
  } else {
    sum = recorded_sum(sum, grad);
  }
}

// A gradient is added up where it is consumed. Its memory must not be used again before the
// consumer's stream is done with it.
void add_gradient_from(const Place& producer, const Place& consumer, Tensor& sum, Tensor& grad) {
  const Device device = grad.device();
  const bool is_local = device == consumer.device && device == producer.device;
  if (is_local && device.is_cuda() && producer.stream != consumer.stream) {
    grad.storage().record_stream(consumer.stream);
  }
  const StreamGuard stream(device, device == consumer.device ? consumer.stream : kDefaultStream);
  add_gradient(sum, grad);
}

// Backward formulas may be lazy about broadcasting and dtypes; here their results are made to fit
// the tensor that they are the gradient of.
Tensor validated(Tensor grad, const TensorMeta& meta, const Node& node, bool sums_in_float32) {
  if (!grad.defined()) return grad;
  if (!(grad.shape() == meta.shape)) {
    const int missing = grad.dims() - meta.shape.dims();
    bool is_expandable = missing >= 0;
    for (int dim = 0; is_expandable && dim < meta.shape.dims(); ++dim) {
      is_expandable = meta.shape[dim] == 1 || meta.shape[dim] == grad.shape()[missing + dim];
    }
    if (!is_expandable) {
      throw std::invalid_argument(fmt::format(
          "[backward] Function {} returned an invalid gradient: got {} but expected shape "
          "compatible with {}",
          node.name(), grad.shape().str(), meta.shape.str()));
    }
    const bool is_half = grad.device().is_cuda() && item_bytes(grad.dtype()) == 2;
    const DType sums = sums_in_float32 && is_half ? DType::float32 : grad.dtype();
    grad = recorded_sum_to(grad, meta.shape, sums);
  }
  return recorded_cast(grad, meta.dtype);
}

void require_differentiable(const Node& node) {
  if (node.is_differentiable()) return;
  throw std::invalid_argument(fmt::format(
      "[backward] create_graph: the gradient of {} has no graph, because its formula is a kernel "
      "that is not recorded. Take this gradient without create_graph, or write the function with "
      "sums, products, powers, matrix products, views and reductions",
      node.name()));
}

// The gradients that a node was given.
void let_go(const Node& node, TensorList& grads) {
  if (node.is_python() && Context::current().rules.python_owns_its_nodes) {
    for (std::size_t i = grads.size(); i > 0; --i) grads[i - 1] = Tensor();
  }
  grads.clear();
}

// Hooks see gradients with memory.
bool passes_on_zeros(const Node& node) { return node.passes_on_zeros() && !node.hooks(); }

void run_hooks(const Node& node, TensorList& grads) {
  if (node.hooks()) node.hooks()->run(grads);
}

// After an error: the thread of a pass goes on with what is ready, and only drops it; the others go
// with the pass, where PyTorch has a table of addresses.
BackwardPass::~BackwardPass() {
  while (!ready_.empty()) waiting_.find(pop_ready().get())->second.grads.clear();
  std::vector<std::pair<std::size_t, TensorList*>> left;
  for (auto& [node, entry] : waiting_) left.emplace_back(entry.number, &entry.grads);
  std::sort(left.begin(), left.end());
  for (const auto& [number, grads] : left) grads->clear();
}

BackwardPass::Waiting& BackwardPass::waiting(Node* node) {
  const auto [place, is_new] = waiting_.try_emplace(node);
  Waiting& entry = place->second;
  if (is_new) entry.number = waiting_.size();
  if (entry.grads.empty()) {
    for (std::size_t i = 0; i < node->inputs().size(); ++i) entry.grads.emplace_back();
  }
  return entry;
}

void BackwardPass::add_root(const Edge& edge, const Tensor& grad) {
  roots_.push_back(edge);
  const Device device = grad.device();
  const Place caller{device, Context::current().state.streams.of(device)};
  Tensor first = grad;
  add_gradient_from(caller, place_of(*edge.node), waiting(edge.node.get()).grads[edge.input],
                    first);
}

// Graphs are larger than the processor's cache: each node is looked at once, and its place in
// `waiting_` says that it was. The roots have theirs already.
void BackwardPass::count_dependencies() {
  std::vector<Node*> stack;
  stack.reserve(waiting_.size());
  for (const Edge& root : roots_) {
    const bool is_known = std::find(stack.begin(), stack.end(), root.node.get()) != stack.end();
    if (!is_known) stack.push_back(root.node.get());
  }
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->edges()) {
      if (!edge.node) continue;
      const auto [place, is_new] = waiting_.try_emplace(edge.node.get());
      ++place->second.missing;
      if (!is_new) continue;
      place->second.number = waiting_.size();
      stack.push_back(edge.node.get());
    }
  }
}

bool runs_later(const IntrusivePtr<Node>& a, const IntrusivePtr<Node>& b) {
  return a->sequence_number() < b->sequence_number();
}

void BackwardPass::push_ready(const IntrusivePtr<Node>& node) {
  ready_.push_back(node);
  std::push_heap(ready_.begin(), ready_.end(), runs_later);
}

IntrusivePtr<Node> BackwardPass::pop_ready() {
  std::pop_heap(ready_.begin(), ready_.end(), runs_later);
  IntrusivePtr<Node> node = std::move(ready_.back());
  ready_.pop_back();
  return node;
}

void BackwardPass::capture(std::vector<Edge> edges) {
  selection_.emplace(roots_, edges);
  captured_.resize(edges.size());
  captures_ = std::move(edges);
}

void BackwardPass::keep_captured(const Node& node, const TensorList& grads) {
  for (std::size_t i = 0; i < captures_.size(); ++i) {
    if (captures_[i].node.get() == &node) captured_[i] = with_memory(grads[captures_[i].input]);
  }
}

void BackwardPass::run() {
  count_dependencies();
  std::unordered_set<Node*> queued;
  for (const Edge& root : roots_) {
    const bool is_free = waiting(root.node.get()).missing == 0 && is_of_use(*root.node);
    if (is_free && queued.insert(root.node.get()).second) push_ready(root.node);
  }
  while (!ready_.empty()) {
    const IntrusivePtr<Node> node = pop_ready();
    const auto entry = waiting_.find(node.get());
    TensorList grads = std::move(entry->second.grads);
    waiting_.erase(entry);
    const Place place = place_of(*node);
    const StreamGuard stream(place.device, place.stream);
    for (Tensor& grad : grads) {
      if (is_zero_gradient(grad) && !passes_on_zeros(*node)) grad = with_memory(grad);
    }
    if (selection_ && !selection_->runs(*node)) {
      run_hooks(*node, grads);
      keep_captured(*node, grads);
    } else {
      keep_captured(*node, grads);
      run_hooks(*node, grads);
      run_node(*node, place, std::move(grads));
    }
  }
}

void BackwardPass::run_node(Node& node, const Place& place, TensorList grads) {
  const bool has_gradient =
      std::any_of(grads.begin(), grads.end(), [](const Tensor& grad) { return grad.defined(); });
  TensorList results;
  if (has_gradient) {
    if (graph_ == GradientGraph::record) require_differentiable(node);
    const OpGuard op(node.name());
    if (const Tensor* leaf = node.leaf()) {
      accumulate_grad(*leaf, grads[0]);
    } else {
      results = node.apply(grads);
    }
    for (std::size_t i = 0; i < results.size() && i < node.edges().size(); ++i) {
      const Edge& edge = node.edges()[i];
      if (!edge.node) {
        // What a function of the program's own gives for nothing lasts as long as the others.
        if (!node.is_python()) results[i] = Tensor();
        continue;
      }
      results[i] =
          validated(std::move(results[i]), edge.node->inputs()[edge.input], node, sums_in_float32_);
    }
    let_go(node, grads);
    if (retention_ == GraphRetention::release) node.release_saved();
  }
  // What was added to gradients that waited already goes when all have been delivered.
  for (std::size_t i = 0; i < node.edges().size(); ++i) {
    Tensor nothing;
    deliver(place, node.edges()[i], i < results.size() ? results[i] : nothing);
  }
  for (Tensor& result : results) result = Tensor();
}

void BackwardPass::deliver(const Place& producer, const Edge& edge, Tensor& grad) {
  if (!edge.node || !is_of_use(*edge.node)) return;
  Waiting& target = waiting(edge.node.get());
  if (grad.defined()) {
    add_gradient_from(producer, place_of(*edge.node), target.grads[edge.input], grad);
  }
  if (--target.missing == 0) push_ready(edge.node);
}

Tensor root_gradient(const Tensor& root, const Tensor& given) {
  if (given.defined()) {
    if (!(given.shape() == root.shape())) {
      throw std::invalid_argument(fmt::format("[backward] the gradient has shape {}, its tensor {}",
                                              given.shape().str(), root.shape().str()));
    }
    return given;
  }
  if (root.numel() != 1) {
    throw std::invalid_argument(
        fmt::format("[backward] grad can be implicitly created only for scalar outputs, not for "
                    "shape {}: pass a gradient, or reduce the output first",
                    root.shape().str()));
  }
  return ones_like(root);
}

// Backward runs on the engine's thread, which knows nothing of the caller's autocast and streams. A
// pass may run inside a node of another one.
class EngineScope {
 public:
  EngineScope(GradientSelection* selection, GraphRetention retention)
      : context_(Context::current()),
        thread_(std::exchange(context_.state.thread, ExecutionThread::engine)),
        pass_(std::exchange(context_.state.backward_pass, context_.state.next_backward_pass++)),
        selection_(std::exchange(autograd_state().gradient_selection, selection)),
        retains_(
            std::exchange(autograd_state().retains_graph, retention == GraphRetention::retain)),
        autocast_(std::exchange(autograd_state().autocast, nullptr)),
        streams_(std::exchange(context_.state.streams, {})),
        callbacks_(std::exchange(context_.state.after_backward, {})) {}
  ~EngineScope() {
    context_.state.thread = thread_;
    context_.state.backward_pass = pass_;
    autograd_state().gradient_selection = selection_;
    autograd_state().retains_graph = retains_;
    autograd_state().autocast = std::move(autocast_);
    context_.state.streams = std::move(streams_);
    context_.state.after_backward = std::move(callbacks_);
  }
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;

 private:
  Context& context_;
  ExecutionThread thread_;
  std::uint64_t pass_;
  GradientSelection* selection_;
  bool retains_;
  std::shared_ptr<AutocastState> autocast_;
  CurrentStreams streams_;
  std::vector<std::function<void()>> callbacks_;
};

// The caller's frame holds the root gradients until the whole pass is done.
void add_roots(BackwardPass& pass, const std::vector<Tensor>& roots,
               std::vector<Tensor>& root_grads) {
  root_grads.resize(roots.size());
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const Edge edge = gradient_edge(roots[i]);
    if (!edge.node) {
      throw std::invalid_argument(
          "[backward] the tensor does not require grad and does not have a grad_fn");
    }
    root_grads[i] = root_gradient(roots[i], root_grads[i]);
    pass.add_root(edge, root_grads[i]);
  }
}

void run_on_engine(BackwardPass& pass) {
  const EngineScope scope(pass.selection(), pass.retention());
  pass.run();
  const auto callbacks = std::exchange(Context::current().state.after_backward, {});
  for (const auto& callback : callbacks) callback();
}

}  // namespace

void backward(const std::vector<Tensor>& roots, std::vector<Tensor> root_grads,
              GraphRetention retention, GradientGraph graph) try {
  const GradModeGuard mode(graph == GradientGraph::record);
  const CategoryGuard category(Category::gradient);
  BackwardPass pass(retention, graph);
  add_roots(pass, roots, root_grads);
  run_on_engine(pass);
} catch (...) {
  hold_variables(roots);
  hold_variables(root_grads);
  throw;
}

std::vector<Tensor> gradients(const std::vector<Tensor>& roots, std::vector<Tensor>&& root_grads,
                              const std::vector<Tensor>& inputs,
                              const GradientRequest& request) try {
  const GradModeGuard mode(request.graph == GradientGraph::record);
  const CategoryGuard category(Category::gradient);
  BackwardPass pass(request.retention, request.graph);
  add_roots(pass, roots, root_grads);
  std::vector<Edge> edges;
  for (const Tensor& input : inputs) {
    if (!input.requires_grad()) {
      throw std::invalid_argument("[grad] One of the differentiated Tensors does not require grad");
    }
    edges.push_back(gradient_edge(input));
  }
  pass.capture(std::move(edges));
  run_on_engine(pass);
  std::vector<Tensor> found = pass.take_captured();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].defined() || request.allows_unused) continue;
    throw std::invalid_argument(fmt::format(
        "[grad] One of the differentiated Tensors (number {}) appears to not have been used in the "
        "graph. Set allow_unused = true if this is the desired behavior",
        i + 1));
  }
  return found;
} catch (...) {
  hold_variables(roots);
  hold_variables(inputs);
  hold_variables(root_grads);
  throw;
}

void queue_after_backward(std::function<void()> callback) {
  Context::current().state.after_backward.push_back(std::move(callback));
}

void backward(const Tensor& root, GraphRetention retention) {
  backward(std::vector<Tensor>{root}, {}, retention);
}

}  // namespace ohm

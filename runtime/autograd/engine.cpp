#include "runtime/autograd/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/node.h"
#include "runtime/autograd/variable.h"
#include "runtime/tensor/arithmetic.h"
#include "runtime/tensor/factories.h"

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
  explicit BackwardPass(GraphRetention retention) : retention_(retention) {}

  void add_root(const Edge& edge, const Tensor& grad);
  void run();

 private:
  struct Waiting {
    TensorList grads;
    std::size_t missing = 0;  ///< edges from nodes that have not run yet
  };

  void count_dependencies();
  void push_ready(const IntrusivePtr<Node>& node);
  IntrusivePtr<Node> pop_ready();
  void run_node(Node& node, TensorList grads);
  void deliver(const Place& producer, const Edge& edge, Tensor grad);
  Waiting& waiting(Node* node);

  GraphRetention retention_;
  std::vector<Edge> roots_;
  std::vector<IntrusivePtr<Node>> ready_;  ///< a heap: the latest forward op on top
  std::unordered_map<Node*, Waiting> waiting_;
};

// Whether nobody else can see it. A view keeps the tensor that it views, so that is never true of
// one.
bool is_sole_owner(const Tensor& tensor) {
  return tensor.use_count() == 1 && !tensor.impl()->is_view && tensor.storage().use_count() == 1;
}

void add_gradient(Tensor& sum, Tensor grad) {
  if (!sum.defined()) {
    sum = std::move(grad);
  } else if (is_sole_owner(sum) && sum.is_dense()) {
    accumulate_into(sum, grad);
  } else {
    sum = sum_of(sum, grad);
  }
}

// A gradient is added up where it is consumed. Its memory must not be used again before the
// consumer's stream is done with it.
void add_gradient_from(const Place& producer, const Place& consumer, Tensor& sum, Tensor grad) {
  const Device device = grad.device();
  const bool is_local = device == consumer.device && device == producer.device;
  if (is_local && device.is_cuda() && producer.stream != consumer.stream) {
    grad.storage().record_stream(consumer.stream);
  }
  const StreamGuard stream(device, device == consumer.device ? consumer.stream : kDefaultStream);
  add_gradient(sum, std::move(grad));
}

// Backward formulas may be lazy about broadcasting and dtypes; here their results are made to fit
// the tensor that they are the gradient of.
Tensor validated(Tensor grad, const TensorMeta& meta, const Node& node) {
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
    grad = sum_to_shape(grad, meta.shape);
  }
  return cast(grad, meta.dtype);
}

BackwardPass::Waiting& BackwardPass::waiting(Node* node) {
  Waiting& entry = waiting_[node];
  if (entry.grads.empty()) {
    for (std::size_t i = 0; i < node->inputs().size(); ++i) entry.grads.emplace_back();
  }
  return entry;
}

void BackwardPass::add_root(const Edge& edge, const Tensor& grad) {
  roots_.push_back(edge);
  const Device device = grad.device();
  const Place caller{device, Context::current().state.streams.of(device)};
  add_gradient_from(caller, place_of(*edge.node), waiting(edge.node.get()).grads[edge.input], grad);
}

// Graphs are larger than the processor's cache: each node is looked at once, and its place in
// `waiting_` says that it was. The roots have theirs already.
void BackwardPass::count_dependencies() {
  std::vector<Node*> stack;
  stack.reserve(waiting_.size());
  for (const auto& [root, entry] : waiting_) stack.push_back(root);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->edges()) {
      if (!edge.node) continue;
      const auto [place, is_new] = waiting_.try_emplace(edge.node.get());
      ++place->second.missing;
      if (is_new) stack.push_back(edge.node.get());
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

void BackwardPass::run() {
  count_dependencies();
  std::unordered_set<Node*> queued;
  for (const Edge& root : roots_) {
    const bool is_free = waiting(root.node.get()).missing == 0;
    if (is_free && queued.insert(root.node.get()).second) push_ready(root.node);
  }
  while (!ready_.empty()) {
    const IntrusivePtr<Node> node = pop_ready();
    const auto entry = waiting_.find(node.get());
    TensorList grads = std::move(entry->second.grads);
    waiting_.erase(entry);
    run_node(*node, std::move(grads));
  }
}

void BackwardPass::run_node(Node& node, TensorList grads) {
  const bool has_gradient =
      std::any_of(grads.begin(), grads.end(), [](const Tensor& grad) { return grad.defined(); });
  const Place place = place_of(node);
  const StreamGuard stream(place.device, place.stream);
  TensorList results;
  if (has_gradient) {
    const OpGuard op(node.name());
    results = node.apply(grads);
    for (std::size_t i = 0; i < results.size() && i < node.edges().size(); ++i) {
      const Edge& edge = node.edges()[i];
      if (!edge.node) {
        results[i] = Tensor();
        continue;
      }
      results[i] = validated(std::move(results[i]), edge.node->inputs()[edge.input], node);
    }
    grads.clear();
    if (retention_ == GraphRetention::release) node.release_saved();
  }
  for (std::size_t i = 0; i < node.edges().size(); ++i) {
    deliver(place, node.edges()[i], i < results.size() ? std::move(results[i]) : Tensor());
  }
}

void BackwardPass::deliver(const Place& producer, const Edge& edge, Tensor grad) {
  if (!edge.node) return;
  Waiting& target = waiting(edge.node.get());
  if (grad.defined()) {
    add_gradient_from(producer, place_of(*edge.node), target.grads[edge.input], std::move(grad));
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
  EngineScope()
      : context_(Context::current()),
        thread_(std::exchange(context_.state.thread, ExecutionThread::engine)),
        pass_(std::exchange(context_.state.backward_pass, context_.state.next_backward_pass++)),
        autocast_(std::exchange(context_.state.autocast, nullptr)),
        streams_(std::exchange(context_.state.streams, {})),
        callbacks_(std::exchange(context_.state.after_backward, {})) {}
  ~EngineScope() {
    context_.state.thread = thread_;
    context_.state.backward_pass = pass_;
    context_.state.autocast = std::move(autocast_);
    context_.state.streams = std::move(streams_);
    context_.state.after_backward = std::move(callbacks_);
  }
  EngineScope(const EngineScope&) = delete;
  EngineScope& operator=(const EngineScope&) = delete;

 private:
  Context& context_;
  ExecutionThread thread_;
  std::uint64_t pass_;
  std::shared_ptr<AutocastState> autocast_;
  CurrentStreams streams_;
  std::vector<std::function<void()>> callbacks_;
};

}  // namespace

void backward(const std::vector<Tensor>& roots, std::vector<Tensor> root_grads,
              GraphRetention retention) {
  const NoGradGuard no_grad;
  const CategoryGuard category(Category::gradient);
  BackwardPass pass(retention);
  root_grads.resize(roots.size());
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (!roots[i].requires_grad()) {
      throw std::invalid_argument(
          "[backward] the tensor does not require grad and does not have a grad_fn");
    }
    // The caller's frame holds the root gradients until the whole pass is done.
    root_grads[i] = root_gradient(roots[i], root_grads[i]);
    pass.add_root(gradient_edge(roots[i]), root_grads[i]);
  }
  const EngineScope scope;
  pass.run();
  const auto callbacks = std::exchange(Context::current().state.after_backward, {});
  for (const auto& callback : callbacks) callback();
}

void queue_after_backward(std::function<void()> callback) {
  Context::current().state.after_backward.push_back(std::move(callback));
}

void backward(const Tensor& root, GraphRetention retention) {
  backward(std::vector<Tensor>{root}, {}, retention);
}

}  // namespace ohm

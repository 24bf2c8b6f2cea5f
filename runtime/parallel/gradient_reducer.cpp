#include "runtime/parallel/gradient_reducer.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_set>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/variable.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/parallel/coalesced.h"
#include "runtime/parallel/collective_guard.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

constexpr std::size_t kFirstBucketBytes = std::size_t{1} << 20U;
constexpr std::size_t kBucketBytes = std::size_t{25} << 20U;

// target = source / divisor.
void write_share(const Tensor& target, const Tensor& source, double divisor) {
  target.bump_version();
  map_floating(target, target.dtype(), functors::Divided{divisor}, source);
}

// Every node that the outputs' gradients come to.
std::unordered_set<const Node*> nodes_below(const nn::Value& outputs) {
  std::vector<const Node*> stack;
  std::unordered_set<const Node*> seen;
  const auto visit = [&](const Node* node) {
    if (node != nullptr && seen.insert(node).second) stack.push_back(node);
  };
  const auto visit_output = [&](const Tensor& output) {
    if (output.requires_grad()) visit(gradient_edge(output).node.get());
  };
  if (const Tensor* output = std::get_if<Tensor>(&outputs)) visit_output(*output);
  if (const auto* list = std::get_if<std::vector<Tensor>>(&outputs)) {
    for (const Tensor& output : *list) visit_output(output);
  }
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->edges()) visit(edge.node.get());
  }
  return seen;
}

}  // namespace

GradientReducer::GradientReducer(RankGroup& group, std::vector<Tensor> parameters,
                                 const DistributedOptions& options)
    : group_(group),
      parameters_(std::move(parameters)),
      options_(options),
      uses_(parameters_.size(), 0) {
  constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
  Buckets assignment =
      assign_buckets(parameters_, finds_unused() ? bucket_limits() : std::vector{kNoLimit});
  // The last parameters' gradients are there first.
  std::reverse(assignment.begin(), assignment.end());
  make_buckets(assignment);
  if (options_.static_graph || options_.find_unused_parameters) {
    const CategoryGuard category(Category::other);
    used_map_ = empty({static_cast<std::int64_t>(parameters_.size())},
                      {DType::int32, parameters_[0].device()});
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    ensure_autograd_meta(parameters_[i]).accumulation_hooks.emplace_back([this, i](const Tensor&) {
      gradient_is_ready(i);
    });
  }
}

// The buckets go first, as they do where a reducer is collected before the parameters.
GradientReducer::~GradientReducer() {
  for (const Tensor& parameter : parameters_) autograd_meta(parameter)->accumulation_hooks.clear();
  piece_of_.clear();
  for (Bucket& bucket : buckets_) bucket = Bucket();
}

std::vector<std::size_t> GradientReducer::bucket_limits() const {
  if (options_.bucket_cap_bytes) return {*options_.bucket_cap_bytes};
  return {kFirstBucketBytes, kBucketBytes};
}

void GradientReducer::make_buckets(const Buckets& assignment) {
  const CollectiveGuard collective("bucket");
  const CategoryGuard category(Category::gradient);
  piece_of_.assign(parameters_.size(), Tensor());
  buckets_.clear();
  for (const std::vector<std::size_t>& members : assignment) {
    Bucket bucket;
    bucket.parameters = members;
    std::vector<Tensor> shapes;
    std::int64_t elements = 0;
    for (const std::size_t index : members) {
      shapes.push_back(parameters_[index]);
      elements += parameters_[index].numel();
    }
    bucket.flat = empty({elements}, options_of(shapes[0]));
    fill_values(bucket.flat, 0.0);
    bucket.pieces = unflatten(bucket.flat, shapes);
    for (std::size_t i = 0; i < members.size(); ++i) piece_of_[members[i]] = bucket.pieces[i];
    buckets_.push_back(std::move(bucket));
  }
}

// Rank 0's order and sizes of buckets are everybody's; without values each rank keeps its own.
Buckets GradientReducer::agreed(const Buckets& assignment) {
  const CategoryGuard category(Category::other);
  std::vector<double> order;
  std::vector<double> sizes;
  for (const auto& members : assignment) {
    order.insert(order.end(), members.begin(), members.end());
    sizes.push_back(static_cast<double>(members.size()));
  }
  order.push_back(static_cast<double>(assignment.size()));
  const Tensor all = broadcast_integers(order);
  const Tensor all_sizes = broadcast_integers(sizes);
  if (!all.has_values()) return assignment;
  Buckets result;
  const auto* next = all.data<const std::int32_t>();
  for (std::int64_t i = 0; i < all_sizes.numel(); ++i) {
    const auto size = static_cast<std::size_t>(all_sizes.data<const std::int32_t>()[i]);
    result.emplace_back(next, next + size);
    next += size;
  }
  return result;
}

// What rank 0 has of these is on every rank afterwards.
Tensor GradientReducer::broadcast_integers(const std::vector<double>& numbers) {
  const Tensor tensor = from_values(numbers, {static_cast<std::int64_t>(numbers.size())},
                                    {DType::int32, parameters_[0].device()});
  group_.broadcast(tensor, 0);
  return tensor;
}

void GradientReducer::rebuild_buckets_once() {
  if (is_started_) {
    throw std::invalid_argument(
        "[DistributedDataParallel] the backward pass before gave no gradient for some parameter "
        "that was waited for: not every parameter was used in producing the loss "
        "(find_unused_parameters = true allows that)");
  }
  if (is_rebuilt_ || ready_order_.size() != parameters_.size()) return;
  const Buckets assignment = assign_buckets_in_order(parameters_, ready_order_, bucket_limits());
  make_buckets(agreed(assignment));
  is_rebuilt_ = true;
}

void GradientReducer::expect_backward(const nn::Value& outputs) {
  expects_gradients_ = true;
  ready_count_ = 0;
  is_ready_.assign(parameters_.size(), false);
  is_used_.assign(parameters_.size(), false);
  if (!is_rebuilt_) ready_order_.clear();
  missing_uses_ = uses_;
  unused_.clear();
  if (options_.static_graph) {
    for (std::size_t i = 0; !is_counting() && i < uses_.size(); ++i) {
      if (uses_[i] == 0) unused_.push_back(i);
    }
    return;
  }
  if (!finds_unused()) return;
  const std::unordered_set<const Node*> reached = nodes_below(outputs);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (reached.count(autograd_meta(parameters_[i])->accumulator) == 0) unused_.push_back(i);
  }
}

void GradientReducer::backward_begins() {
  if (!expects_gradients_ || !is_counting()) return;
  if (!std::exchange(is_started_, true)) queue_after_backward([this] { reduce_all(); });
}

void GradientReducer::gradient_is_ready(std::size_t parameter) {
  if (!expects_gradients_) return;
  is_used_[parameter] = true;
  if (is_counting()) {
    ++uses_[parameter];
    return;
  }
  if (options_.static_graph && missing_uses_[parameter] > 1) {
    --missing_uses_[parameter];
    return;
  }
  if (!std::exchange(is_started_, true)) {
    for (const std::size_t unused : unused_) mark_ready(unused);
  }
  mark_ready(parameter);
}

// The rank's share goes into the bucket; the sum over ranks is then the mean.
void GradientReducer::mark_ready(std::size_t parameter) {
  if (is_ready_[parameter]) {
    throw std::invalid_argument(
        "[DistributedDataParallel] a parameter's gradient was ready twice in one backward pass: it "
        "is used in more than one reentrant pass (static_graph = true allows that)");
  }
  is_ready_[parameter] = true;
  if (!is_rebuilt_ && !finds_unused() && !is_counting()) ready_order_.push_back(parameter);
  const Tensor& piece = piece_of_[parameter];
  const Tensor grad = parameters_[parameter].grad();
  if (is_used_[parameter] && grad.defined()) {
    write_share(piece, grad, group_.world_size());
    if (options_.gradient_as_bucket_view) {
      parameters_[parameter].set_grad(detached_alias(piece));
    }
  } else {
    fill_values(piece, 0.0);
  }
  // A checkpoint's pass inside the pass may be the one with the last gradient.
  if (++ready_count_ == parameters_.size() && !is_counting()) {
    queue_after_backward([this] { reduce_all(); });
  }
}

void GradientReducer::reduce_all() {
  if (used_map_.defined() && (finds_unused() || is_counting())) group_.all_reduce(used_map_);
  if (is_counting()) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) mark_ready(i);
  }
  const std::vector<bool> is_used =
      used_map_.defined() ? group_.any(is_used_) : std::vector<bool>(parameters_.size(), true);
  for (const Bucket& bucket : buckets_) {
    group_.all_reduce(bucket.flat);
    finish_bucket(bucket, is_used);
  }
  ++reductions_;
  is_started_ = false;
  expects_gradients_ = false;
}

void GradientReducer::finish_bucket(const Bucket& bucket, const std::vector<bool>& is_used) {
  for (std::size_t i = 0; i < bucket.parameters.size(); ++i) {
    const std::size_t index = bucket.parameters[i];
    const Tensor& parameter = parameters_[index];
    // It was not used: its gradient stays what it was.
    if (!is_used[index]) continue;
    if (options_.gradient_as_bucket_view) {
      if (!parameter.grad().defined()) parameter.set_grad(detached_alias(bucket.pieces[i]));
      continue;
    }
    if (!parameter.grad().defined()) parameter.set_grad(empty_like(bucket.pieces[i]));
    copy_into(parameter.grad(), bucket.pieces[i]);
  }
}

}  // namespace ohm::parallel

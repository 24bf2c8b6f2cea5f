#include "runtime/parallel/gradient_reducer.h"

#include <numeric>
#include <stdexcept>

#include "runtime/autograd/engine.h"
#include "runtime/autograd/variable.h"
#include "runtime/parallel/coalesced.h"
#include "runtime/tensor/arithmetic.h"
#include "runtime/tensor/elementwise.h"
#include "runtime/tensor/factories.h"

namespace ohm::parallel {
namespace {

constexpr std::size_t kFirstBucketBytes = std::size_t{1} << 20U;

// target = source / divisor.
void write_share(const Tensor& target, const Tensor& source, double divisor) {
  target.storage().bump_version();
  visit_floating(target.dtype(), [&]<class T>(TypeTag<T>) {
    map_unary<T, T>(target, source,
                    [divisor](auto x) { return x / static_cast<decltype(x)>(divisor); });
  });
}

// Runs of `order` that stay below a first, small limit and then below the cap.
std::vector<std::vector<std::size_t>> buckets_in_order(const std::vector<Tensor>& parameters,
                                                       const std::vector<std::size_t>& order,
                                                       std::size_t cap_bytes) {
  std::vector<std::vector<std::size_t>> groups(1);
  std::size_t bytes = 0;
  std::size_t limit = kFirstBucketBytes;
  for (const std::size_t index : order) {
    groups.back().push_back(index);
    bytes += parameters[index].nbytes();
    if (bytes >= limit) {
      groups.emplace_back();
      bytes = 0;
      limit = cap_bytes;
    }
  }
  if (groups.back().empty()) groups.pop_back();
  return groups;
}

}  // namespace

GradientReducer::GradientReducer(RankGroup& group, std::vector<Tensor> parameters,
                                 const DistributedOptions& options)
    : group_(group), parameters_(std::move(parameters)), options_(options) {
  std::vector<std::size_t> all(parameters_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  make_buckets({all});
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    ensure_autograd_meta(parameters_[i]).accumulation_hooks.emplace_back([this, i](const Tensor&) {
      gradient_is_ready(i);
    });
  }
}

GradientReducer::~GradientReducer() {
  for (const Tensor& parameter : parameters_) autograd_meta(parameter)->accumulation_hooks.clear();
}

void GradientReducer::make_buckets(const std::vector<std::vector<std::size_t>>& groups) {
  const CategoryGuard category(Category::gradient);
  buckets_.clear();
  piece_of_.assign(parameters_.size(), Tensor());
  for (const std::vector<std::size_t>& group : groups) {
    Bucket bucket;
    bucket.parameters = group;
    std::vector<Tensor> members;
    std::int64_t elements = 0;
    for (const std::size_t index : group) {
      members.push_back(parameters_[index]);
      elements += parameters_[index].numel();
    }
    bucket.flat = empty({elements}, options_of(members[0]));
    fill_values(bucket.flat, 0.0);
    bucket.pieces = unflatten(bucket.flat, members);
    for (std::size_t i = 0; i < group.size(); ++i) piece_of_[group[i]] = bucket.pieces[i];
    buckets_.push_back(std::move(bucket));
  }
}

void GradientReducer::prepare() {
  if (!is_rebuilt_ && ready_order_.size() == parameters_.size()) rebuild_buckets();
  ready_order_.clear();
}

void GradientReducer::rebuild_buckets() {
  make_buckets(buckets_in_order(parameters_, ready_order_, options_.bucket_cap_bytes));
  is_rebuilt_ = true;
}

// The rank's share goes into the bucket; the sum over ranks is then the mean.
void GradientReducer::gradient_is_ready(std::size_t parameter) {
  if (ready_order_.empty()) queue_after_backward([this] { reduce_all(); });
  ready_order_.push_back(parameter);
  const Tensor& piece = piece_of_[parameter];
  write_share(piece, parameters_[parameter].grad(), group_.world_size());
  if (options_.gradient_as_bucket_view) parameters_[parameter].set_grad(detached_alias(piece));
}

void GradientReducer::reduce_all() {
  if (ready_order_.size() != parameters_.size()) {
    throw std::invalid_argument(
        "[DistributedDataParallel] a parameter was not used in producing the loss, or used twice: "
        "every rank must produce one gradient for every parameter");
  }
  for (const Bucket& bucket : buckets_) {
    group_.all_reduce(bucket.flat);
    if (options_.gradient_as_bucket_view) continue;
    for (std::size_t i = 0; i < bucket.parameters.size(); ++i) {
      copy_into(parameters_[bucket.parameters[i]].grad(), bucket.pieces[i]);
    }
  }
}

}  // namespace ohm::parallel

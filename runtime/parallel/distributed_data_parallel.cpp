#include "runtime/parallel/distributed_data_parallel.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/parallel/buckets.h"
#include "runtime/parallel/gradient_reducer.h"
#include "runtime/parallel/scatter_gather.h"
#include "runtime/tensor/context.h"

namespace ohm::parallel {
namespace {

constexpr std::size_t kSyncBytes = std::size_t{250} << 20U;

RankGroup& required_group() {
  RankGroup* group = RankGroup::current();
  if (group == nullptr) {
    throw std::invalid_argument(
        "[DistributedDataParallel] there is no process group: run inside distributed.spawn");
  }
  return *group;
}

std::vector<Tensor> trained_parameters(const nn::Module& module) {
  std::vector<Tensor> trained = module.parameters();
  trained.erase(std::remove_if(trained.begin(), trained.end(),
                               [](const Tensor& tensor) { return !tensor.requires_grad(); }),
                trained.end());
  if (trained.empty()) {
    throw std::invalid_argument(
        "[DistributedDataParallel] is not needed when no parameter of the module requires a "
        "gradient");
  }
  return trained;
}

// Sizes and strides, one parameter after the other.
std::vector<double> layouts_of(const std::vector<Tensor>& parameters) {
  std::vector<double> numbers;
  for (const Tensor& parameter : parameters) {
    for (const Shape& each : {parameter.shape(), parameter.strides()}) {
      for (int dim = 0; dim < each.dims(); ++dim) {
        numbers.push_back(static_cast<double>(each[dim]));
      }
    }
  }
  return numbers;
}

// Every rank compares its own with rank 0's; without values there is nothing to compare.
void compare_layouts(RankGroup& group, const std::vector<Tensor>& parameters) {
  const std::vector<double> mine = layouts_of(parameters);
  const Tensor first = from_values(mine, {static_cast<std::int64_t>(mine.size())},
                                   {DType::int64, parameters[0].device()});
  group.broadcast(first, 0);
  std::size_t number = 0;
  for (std::size_t i = 0; first.has_values() && i < parameters.size(); ++i) {
    for (int dim = 0; dim < 2 * parameters[i].dims(); ++dim, ++number) {
      if (first.data<const std::int64_t>()[number] == static_cast<std::int64_t>(mine[number]))
        continue;
      throw std::invalid_argument(
          fmt::format("[DistributedDataParallel] parameter {} of rank {}, of sizes {}, does not "
                      "match the sizes of the same parameter of rank 0",
                      i, group.rank(), parameters[i].shape().str()));
    }
  }
}

// The ranks tell each other how many parameters they have, and rank 0 their shapes and strides.
void compare_parameters(RankGroup& group, const std::vector<Tensor>& parameters) {
  const TensorOptions integers{DType::int64, parameters[0].device()};
  const Tensor count = full({1}, static_cast<double>(parameters.size()), integers);
  std::vector<Tensor> counts;
  for (int rank = 0; rank < group.world_size(); ++rank) counts.push_back(empty_like(count));
  group.all_gather(counts, count);
  for (std::size_t rank = 0; count.has_values() && rank < counts.size(); ++rank) {
    if (counts[rank].item() == count.item()) continue;
    throw std::invalid_argument(
        fmt::format("[DistributedDataParallel] every rank needs the same model, but rank {} has {} "
                    "parameters and rank {} has {}",
                    group.rank(), count.item(), rank, counts[rank].item()));
  }
  compare_layouts(group, parameters);
}

// Lets the gradients pass, apart from the outputs that the program gets: what it does to them in
// place does not matter to the reducer.
Tensor passed_through(const Tensor& output, const std::shared_ptr<GradientReducer>& reducer) {
  const Tensor copy = copy_of(output);
  if (!output.requires_grad()) return output;  // the copy was made for nothing, as in PyTorch
  Recorder record("DDPSinkBackward", {&output});
  record.attach(copy, [weak = std::weak_ptr(reducer)](BackwardCall& call) {
    if (const auto alive = weak.lock()) alive->backward_begins();
    return TensorList{call.grad()};
  });
  return copy;
}

nn::Value passed_through(const nn::Value& outputs,
                         const std::shared_ptr<GradientReducer>& reducer) {
  if (const Tensor* output = std::get_if<Tensor>(&outputs)) return passed_through(*output, reducer);
  const auto* list = std::get_if<std::vector<Tensor>>(&outputs);
  if (list == nullptr) return outputs;
  std::vector<Tensor> copies;
  for (const Tensor& output : *list) copies.push_back(passed_through(output, reducer));
  return copies;
}

}  // namespace

DistributedDataParallel::DistributedDataParallel(nn::ModulePtr module,
                                                 const DistributedOptions& options)
    : group_(required_group()), options_(options) {
  const std::vector<Tensor> trained = trained_parameters(*module);
  for (const nn::NamedTensor& entry : module->named_buffers()) buffers_.push_back(entry.tensor);
  if (options.init_sync) {
    const NoGradGuard no_grad;
    const CategoryGuard category(Category::other);
    compare_parameters(group_, trained);
    std::vector<Tensor> state = module->parameters();
    if (options.broadcast_buffers) state.insert(state.end(), buffers_.begin(), buffers_.end());
    broadcast_in_buckets(group_, state, kSyncBytes);
  }
  reducer_ = std::make_shared<GradientReducer>(group_, trained, options);
  add_child("module", std::move(module));
}

DistributedDataParallel::~DistributedDataParallel() = default;

nn::Value DistributedDataParallel::forward(const std::vector<nn::Value>& inputs) {
  const bool is_recorded = Context::current().state.grad_enabled;
  if (is_recorded) reducer_->rebuild_buckets_once();
  if (options_.broadcast_buffers && syncs_buffers_) {
    const NoGradGuard no_grad;
    const CategoryGuard category(Category::other);
    broadcast_in_buckets(group_, buffers_, kSyncBytes);
  }
  nn::Value outputs = children()[0].module->call(moved(inputs));
  syncs_buffers_ = is_recorded && syncs_gradients_;
  if (syncs_buffers_) reducer_->expect_backward(outputs);
  const bool is_passed_on = options_.static_graph ? reducer_->is_before_first_reduction()
                                                  : options_.find_unused_parameters;
  return is_passed_on ? passed_through(outputs, reducer_) : outputs;
}

std::vector<nn::Value> DistributedDataParallel::moved(const std::vector<nn::Value>& inputs) const {
  std::vector<nn::Value> result = inputs;
  if (!options_.device) return result;
  for (nn::Value& input : result) {
    Tensor* tensor = std::get_if<Tensor>(&input);
    if (tensor == nullptr || tensor->device() == *options_.device) continue;
    *tensor = tensor->device().is_cpu() ? copied_from_host(*tensor, *options_.device)
                                        : transfer(*tensor, *options_.device);
  }
  return result;
}

nn::ModulePtr DistributedDataParallel::shallow_copy() const {
  throw std::invalid_argument("[DistributedDataParallel] cannot be replicated by DataParallel");
}

bool DistributedDataParallel::exchange_gradient_sync(bool is_on) {
  return std::exchange(syncs_gradients_, is_on);
}

}  // namespace ohm::parallel

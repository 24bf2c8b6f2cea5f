#include "runtime/parallel/sync_batch_norm_function.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/memory_format.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/indexing/nonzero.h"
#include "runtime/ops/normalization/batch_norm.h"
#include "runtime/ops/normalization/host/batch_norm.h"
#include "runtime/parallel/shared_statistics.h"

namespace ohm::parallel {
namespace {

constexpr std::string_view kSyncBatchNormName = "SyncBatchNorm";

void check(const SyncBatchNormOperands& operands) {
  const Shape& shape = operands.input.shape();
  if (!is_floating(operands.input.dtype()) || operands.input.numel() == 0) {
    throw std::invalid_argument(
        fmt::format("[SyncBatchNorm] expected an input of floating elements, at least one, but got "
                    "{}",
                    describe(operands.input)));
  }
  for (const Tensor* tensor :
       {&operands.weight, &operands.bias, &operands.running_mean, &operands.running_var}) {
    if (!tensor->defined() || tensor->shape() == Shape{shape[1]}) continue;
    throw std::invalid_argument(
        fmt::format("[SyncBatchNorm] expected an input of {} channels, but got {}",
                    tensor->shape()[0], describe(operands.input)));
  }
}

TensorOptions statistics_options(const Tensor& input) {
  const bool is_double = input.dtype() == DType::float64;
  return {is_double ? DType::float64 : DType::float32, input.device()};
}

// As PyTorch's function has it: channels last stay.
Tensor laid_out(const Tensor& tensor) {
  const bool is_last = lies_in(tensor, MemoryFormat::channels_last) ||
                       lies_in(tensor, MemoryFormat::channels_last_3d);
  return is_last ? tensor : row_major(tensor);
}

Tensor columns_of(const Tensor& rows, std::int64_t first, std::int64_t count) {
  return make_view(rows, {rows.shape()[0], count}, {rows.shape()[1], 1},
                   rows.impl()->offset + first);
}

Tensor elements_of(const Tensor& flat, std::int64_t first, std::int64_t count) {
  return make_view(flat, {count}, {1}, flat.impl()->offset + first);
}

/// What a rank gets to know of all inputs, in the order in which it goes, the last one first.
struct Shared {
  Tensor gathered;      ///< [ranks, 2C + 1]: means, deviations and a count
  Tensor added_counts;  ///< in the dtype of running statistics, to which they are added
  Tensor mask;
  Tensor counts;
  Tensor invstds;
  Tensor means;
  Tensor count;  ///< of the own input
};

// mean, deviation and count of the own input, one behind the other, become those of all ranks.
void gather_statistics(Shared& shared, const Tensor& mean, const Tensor& invstd, RankGroup& group) {
  const std::int64_t channels = mean.numel();
  const std::int64_t length = 2 * channels + 1;
  const Tensor own = empty({length}, options_of(mean));
  copy_into(elements_of(own, 0, channels), mean);
  copy_into(elements_of(own, channels, channels), invstd);
  copy_into(elements_of(own, 2 * channels, 1), shared.count);
  shared.gathered = empty({group.world_size(), length}, options_of(mean));
  group.all_gather_into(shared.gathered, own);
}

// The rows of ranks that have an input: those of all.
Tensor chosen_rows(const Tensor& rows, const Tensor& mask) {
  const Tensor places = ops::places_of_all(mask);
  Tensor chosen = empty(rows.shape(), options_of(rows));
  copy_into(chosen, rows);
  return chosen;
}

void choose_ranks_with_inputs(Shared& shared, std::int64_t channels) {
  const std::int64_t ranks = shared.gathered.shape()[0];
  shared.mask = full({ranks}, 1, {DType::boolean, shared.gathered.device()});
  shared.counts = chosen_rows(columns_of(shared.gathered, 2 * channels, 1), shared.mask);
  shared.means = chosen_rows(columns_of(shared.gathered, 0, channels), shared.mask);
  shared.invstds = chosen_rows(columns_of(shared.gathered, channels, channels), shared.mask);
}

/// Mean and deviation of all inputs, and their counts.
struct Statistics {
  Tensor mean;
  Tensor invstd;
  Tensor counts;  ///< int32
};

Statistics statistics_of_own(const SyncBatchNormOperands& operands) {
  const Tensor& input = operands.input;
  const TensorOptions options = statistics_options(input);
  Statistics own{empty({input.shape()[1]}, options), empty({input.shape()[1]}, options), {}};
  ops::take_statistics_scratch(input);
  ops::compute_statistics(input, {own.mean, own.invstd, Tensor(), operands.eps}, {});
  return own;
}

Statistics merged(Shared& shared, const SyncBatchNormOperands& operands) {
  const TensorOptions options = options_of(shared.means);
  shared.added_counts = operands.running_mean.defined()
                            ? cast(shared.counts, operands.running_mean.dtype())
                            : shared.counts;
  const std::int64_t channels = operands.input.shape()[1];
  Statistics all{empty({channels}, options), empty({channels}, options), {}};
  merge_statistics({shared.means, shared.invstds, shared.counts}, operands.eps, all.mean,
                   all.invstd, {operands.running_mean, operands.running_var, operands.momentum});
  return all;
}

Tensor normalized(const SyncBatchNormOperands& operands, const Statistics& statistics) {
  Tensor out = empty_like(operands.input);
  ops::batch_norm_apply(operands.input,
                        {statistics.mean, statistics.invstd, Tensor(), operands.eps},
                        operands.weight, operands.bias, out);
  return out;
}

// ---- backward -----------------------------------------------------------------------------------

enum Saved : std::size_t { kInput, kWeight, kMean, kInvstd, kCounts };

class SyncBatchNormBackward {
 public:
  SyncBatchNormBackward(const BackwardCall& call, RankGroup& group)
      : call_(call),
        group_(group),
        pass_{laid_out(call.grad()), call.saved(kInput), call.saved(kWeight), call.saved(kMean),
              call.saved(kInvstd)} {}

  TensorList run() {
    sum();
    Tensor input;
    if (call_.needs(0)) input = input_gradient();
    pass_.grad = Tensor();
    const bool has_weight = pass_.weight.defined();
    return {input, has_weight && call_.needs(1) ? sums_.weight : Tensor(),
            has_weight && call_.needs(2) ? sums_.bias : Tensor()};
  }

 private:
  Tensor empty_channels(const TensorOptions& options) const {
    return empty({pass_.mean.numel()}, options);
  }

  bool are_channels_last() const {
    return ops::has_channels_last_kernels(pass_.input) &&
           ops::has_channels_last_kernels(pass_.grad);
  }

  void sum() {
    const bool are_last =
        ops::has_channels_last_kernels(pass_.input) && ops::has_channels_last_kernels(pass_.grad);
    const bool has_weight = pass_.weight.defined();
    if (are_last || call_.needs(0)) {
      sums_.of_grad = empty_channels(options_of(pass_.mean));
      sums_.of_products = empty_channels(options_of(pass_.mean));
    }
    if (has_weight && (are_last || call_.needs(1))) {
      sums_.weight = empty_channels(options_of(pass_.weight));
    }
    if (has_weight && (are_last || call_.needs(2))) {
      sums_.bias = empty_channels(options_of(pass_.weight));
    }
    if (are_last) ops::take_gradient_sums_scratch(pass_.input);
    sum_gradients(pass_, sums_);
  }

  // The sums of all ranks, one behind the other, then the gradient.
  Tensor input_gradient() {
    const std::int64_t channels = pass_.mean.numel();
    combined_ = empty({2 * channels}, options_of(pass_.mean));
    copy_into(elements_of(combined_, 0, channels), sums_.of_grad);
    copy_into(elements_of(combined_, channels, channels), sums_.of_products);
    group_.all_reduce(combined_);
    sums_.of_grad = Tensor();
    sums_.of_products = Tensor();
    if (pass_.weight.defined()) pass_.weight = cast(pass_.weight, pass_.mean.dtype());
    Tensor out = are_channels_last() ? empty_like(pass_.input)
                                     : empty(pass_.input.shape(), options_of(pass_.input));
    fill_input_gradient(pass_, elements_of(combined_, 0, channels),
                        elements_of(combined_, channels, channels), call_.saved(kCounts), out);
    return out;
  }

  const BackwardCall& call_;
  RankGroup& group_;
  Tensor combined_;
  GradientSums sums_;
  NormPass pass_;
};

void record(const SyncBatchNormOperands& operands, const Statistics& statistics,
            const GroupPtr& group, Recorder& recorder, const Tensor& out) {
  if (!recorder.is_needed()) return;
  for (const Tensor& tensor :
       {operands.input, operands.weight, statistics.mean, statistics.invstd, statistics.counts}) {
    recorder.save(tensor);
  }
  recorder.attach_python(
      {out}, [group](BackwardCall& call) { return SyncBatchNormBackward(call, *group).run(); });
}

}  // namespace

Tensor sync_batch_norm(const SyncBatchNormOperands& given, const GroupPtr& group) {
  check(given);
  const OpGuard op(kSyncBatchNormName);
  Recorder recorder(kSyncBatchNormName, {&given.input, &given.weight, &given.bias});
  const NoGradGuard no_grad;
  SyncBatchNormOperands operands = given;
  operands.input = laid_out(given.input);
  if (given.weight.defined()) operands.weight = row_major(given.weight);
  const std::int64_t channels = operands.input.shape()[1];
  Shared shared;
  Statistics statistics = statistics_of_own(operands);
  const std::int64_t count = operands.input.numel() / channels;
  shared.count = full({1}, static_cast<double>(count), options_of(statistics.mean));
  gather_statistics(shared, statistics.mean, statistics.invstd, *group);
  choose_ranks_with_inputs(shared, channels);
  {
    const Statistics all = merged(shared, operands);
    statistics.mean = all.mean;
    statistics.invstd = all.invstd;
  }
  statistics.counts = cast(shared.counts, DType::int32);
  Tensor out = normalized(operands, statistics);
  record(operands, statistics, group, recorder, out);
  return out;
}

}  // namespace ohm::parallel

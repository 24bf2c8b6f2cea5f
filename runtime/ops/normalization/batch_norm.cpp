#include "runtime/ops/normalization/batch_norm.h"

#include <algorithm>
#include <bit>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/base/ceil_div.h"
#include "runtime/base/dim_mask.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/normalization/batch_norm_twice.h"
#include "runtime/ops/normalization/cuda/batch_norm.h"
#include "runtime/ops/normalization/host/batch_norm.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kBatchNorm{"batch_norm"};

constexpr double kCudnnSmallestEps = 1e-5;
constexpr std::int64_t kCudnnTrainingBatch = 880'801;
constexpr std::int64_t kCudnnEvaluationBatch = 65'535;

struct BatchNormCall {
  bool is_training;  ///< the statistics are the input's
  bool is_cudnn;
  double eps;
};

struct Operands {
  Tensor input;
  Tensor running_mean;
  Tensor running_var;
  Tensor weight;
  Tensor bias;
};

DType accumulation_dtype(DType dtype) {
  return dtype == DType::float64 ? DType::float64 : DType::float32;
}

void check(const Operands& operands, const BatchNormCall& call) {
  const Shape& shape = operands.input.shape();
  require_floating(operands.input, kBatchNorm);
  if (shape.dims() < 2) {
    throw std::invalid_argument(fmt::format(
        "[batch_norm] expected an input of at least 2 dimensions, but got {}", shape.str()));
  }
  for (const Tensor* tensor :
       {&operands.running_mean, &operands.running_var, &operands.weight, &operands.bias}) {
    if (!tensor->defined()) continue;
    require_same_device(operands.input, *tensor, kBatchNorm);
    require_floating(*tensor, kBatchNorm);
    if (tensor->shape() == Shape{shape[1]}) continue;
    throw std::invalid_argument(
        fmt::format("[batch_norm] statistics, weight and bias must have {} elements, one for each "
                    "channel of {}, but got {}",
                    shape[1], shape.str(), tensor->shape().str()));
  }
  if (operands.running_mean.defined() != operands.running_var.defined()) {
    throw std::invalid_argument("[batch_norm] running mean and variance come together");
  }
  if (!call.is_training && !operands.running_mean.defined()) {
    throw std::invalid_argument(
        "[batch_norm] expected running_mean and running_var to be defined when training=False");
  }
  if (call.is_training && operands.input.numel() == shape[1]) {
    throw std::invalid_argument(
        fmt::format("[batch_norm] Expected more than 1 value per channel when training, got input "
                    "size {}",
                    shape.str()));
  }
}

bool goes_to_cudnn(const Operands& operands, bool is_training, double eps) {
  const Tensor& input = operands.input;
  const Tensor& weight = operands.weight;
  if (!input.device().is_cuda() || !Context::current().cudnn_enabled) return false;
  if (!weight.defined() || !operands.bias.defined() || input.dims() < 3) return false;
  if (input.dtype() == DType::bfloat16 || weight.dtype() == DType::bfloat16) return false;
  if (input.dtype() == DType::float16 && weight.dtype() != DType::float32) return false;
  if (!operands.running_mean.defined() && !is_training) return false;
  const std::int64_t largest = is_training ? kCudnnTrainingBatch : kCudnnEvaluationBatch;
  return input.shape()[0] <= largest && eps >= kCudnnSmallestEps;
}

// ---- PyTorch's kernel for inputs whose channels lie next to each other
// ---------------------------

bool is_channels_last(const Tensor& input) {
  if (input.device().is_cpu()) return false;
  return lies_in(input, MemoryFormat::channels_last) ||
         (input.is_contiguous() && input.strides()[1] == 1);
}

// The kernel that sums gradients takes volumes, too, which the others do not.
bool is_channels_last_for_sums(const Tensor& input) {
  return is_channels_last(input) ||
         (input.device().is_cuda() && lies_in(input, MemoryFormat::channels_last_3d));
}

// Neither row-major nor that: PyTorch's general kernels.
bool is_in_neither_order(const Tensor& input) {
  return input.device().is_cuda() && !input.is_contiguous() && !is_channels_last(input);
}

std::int64_t last_power_of_2(std::int64_t n) {
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}

// Many rows are reduced by several blocks, which meet in staging memory: `values_per_channel`
// accumulation elements for each channel and block, and a semaphore for each column of blocks.
class Staging {
 public:
  Staging(const Tensor& input, std::int64_t values_per_channel) {
    constexpr std::int64_t kBlockSize = 512;
    constexpr std::int64_t kTileWidth = 32;
    constexpr std::int64_t kElementsPerThread = 16;
    constexpr std::int64_t kMostBlocks = 128;
    constexpr std::int64_t kFewestBlocksWorthIt = 8;
    const std::int64_t channels = input.shape()[1];
    const std::int64_t rows = input.numel() / std::max<std::int64_t>(channels, 1);
    std::int64_t width = std::min(last_power_of_2(channels), kTileWidth);
    const std::int64_t height =
        std::min(last_power_of_2(ceil_div(rows, kElementsPerThread)), kBlockSize / width);
    if (width * height != kBlockSize) {
      width = std::min(last_power_of_2(channels), kBlockSize / height);
    }
    const std::int64_t blocks = std::min(ceil_div(rows, height * kElementsPerThread), kMostBlocks);
    if (blocks < kFewestBlocksWorthIt) return;
    const WorkspaceGuard guard;
    values_ = empty({values_per_channel * channels * blocks},
                    {accumulation_dtype(input.dtype()), input.device()});
    semaphores_ = empty({ceil_div(channels, width)}, {DType::int32, input.device()});
  }

 private:
  Tensor values_;
  Tensor semaphores_;
};

Tensor merged_pixels(const Tensor& images) {
  const std::int64_t channels = images.shape()[0] * images.shape()[1];
  const std::int64_t pixels = channels == 0 ? 0 : images.numel() / channels;
  return unrecorded_reshape(images, {images.shape()[0], images.shape()[1], pixels});
}

// PyTorch's general kernels: one reads a number where there is no weight or bias, the one for the
// statistics knows float32 of float16, but not of bfloat16.
void take_missing_factors(const Operands& operands, const TensorOptions& statistics) {
  if (!is_in_neither_order(operands.input)) return;
  const Tensor weight = operands.weight.defined() ? Tensor() : empty({}, statistics);
  const Tensor bias = operands.bias.defined() ? Tensor() : empty({}, statistics);
}

// A partial result is a mean, a sum of squares and two counts.
ReductionKernel kernel_of_moments(DType dtype) {
  return {dtype == DType::float64 ? std::size_t{32} : std::size_t{16}, false};
}

void take_temporaries_of_statistics(const Tensor& input) {
  const WorkspaceGuard guard;
  constexpr std::int64_t kMeanVarianceCountAndFlag = 4;
  if (is_channels_last(input)) {
    const Staging staging(input, kMeanVarianceCountAndFlag);
  } else if (is_in_neither_order(input)) {
    const Tensor widened = input.dtype() == DType::bfloat16 ? cast(input, DType::float32) : input;
    const ReductionScratch scratch(widened, all_dims(input.dims()) & ~with(0, 1),
                                   kernel_of_moments(widened.dtype()));
  }
}

// ---- forward ------------------------------------------------------------------------------------

// Where they are not kept, the mean goes before invstd.
struct Results {
  Tensor invstd;
  Tensor mean;  ///< undefined where forward makes none
  Tensor out;
};

CudaResult forward_on_cuda(const Operands& operands, const BatchNormCall& call, double momentum,
                           const Results& results) {
  const CudaBatchNorm norm{operands.input,        operands.weight,      operands.bias,
                           operands.running_mean, operands.running_var, call.eps};
  if (!call.is_training) return apply_batch_norm_on_cuda(norm, results.out);
  return train_batch_norm_on_cuda(norm, momentum, results.out, results.mean, results.invstd);
}

Results forward(const Operands& operands, const BatchNormCall& call, double momentum) {
  const Tensor& input = operands.input;
  Results results;
  results.out = call.is_cudnn ? empty(input.shape(), options_of(input), memory_format_of(input))
                              : empty_like(input);
  if (call.is_training || !call.is_cudnn) {
    const TensorOptions options{accumulation_dtype(input.dtype()), input.device()};
    results.mean = empty({input.shape()[1]}, options);
    results.invstd = empty({input.shape()[1]}, options);
  }
  if (call.is_cudnn && forward_on_cuda(operands, call, momentum, results) == CudaResult::done) {
    return results;
  }
  const RunningStatistics running{operands.running_mean, operands.running_var, momentum};
  ChannelStatistics statistics{results.mean, results.invstd, Tensor(), call.eps};
  if (call.is_training) {
    if (!call.is_cudnn) take_temporaries_of_statistics(input);
    compute_statistics(input, statistics, running);
  } else if (results.mean.defined()) {
    convert_statistics(running, statistics);
  } else {
    statistics = {running.mean, Tensor(), running.variance, call.eps};
  }
  if (!call.is_cudnn) take_missing_factors(operands, options_of(results.mean));
  batch_norm_apply(input, statistics, operands.weight, operands.bias, results.out);
  return results;
}

// ---- backward -----------------------------------------------------------------------------------

// Positions of what a node keeps.
enum Saved : std::size_t { kInput, kRunningMean, kRunningVar, kWeight, kSavedMean, kInvstd };

class BatchNormBackward {
 public:
  BatchNormBackward(const BatchNormCall& call, const BackwardCall& backward)
      : call_(call),
        backward_(backward),
        input_(backward.saved(kInput)),
        weight_(backward.saved(kWeight)),
        mean_(backward.saved(kSavedMean)),
        invstd_(backward.saved(kInvstd)) {}

  TensorList run() {
    LayerGradients grads;
    if (call_.is_cudnn && call_.is_training) {
      const Tensor grad = contiguous(backward_.grad(), memory_format_of(input_));
      grads = run_cudnn(grad);
      record_second(BatchNormNode::cudnn, grad, grads);
    } else {
      const bool is_fused =
          needs_sums() && backward_.needs(0) && !is_channels_last_for_sums(input_);
      grads = is_fused ? run_fused() : run_in_two_kernels();
      record_second(BatchNormNode::native, backward_.grad(), grads);
    }
    return {grads.input, grads.weight, grads.bias};
  }

 private:
  // Under create_graph.
  void record_second(BatchNormNode node, const Tensor& grad, const LayerGradients& out) const {
    if (!backward_.is_recorded()) return;
    const BatchNormPass pass{grad,
                             input_,
                             weight_,
                             mean_,
                             invstd_,
                             backward_.saved(kRunningMean),
                             backward_.saved(kRunningVar),
                             call_.is_training,
                             call_.eps};
    record_batch_norm_gradients(pass, node, out);
  }

  bool needs_sums() const { return call_.is_training || backward_.needs(1) || backward_.needs(2); }
  Tensor empty_input(MemoryFormat format = MemoryFormat::row_major) const {
    return empty(input_.shape(), options_of(input_), format);
  }
  Tensor empty_channels() const {
    return empty({input_.shape()[1]}, options_of(weight_.defined() ? weight_ : input_));
  }

  // cuDNN makes all three, wanted or not.
  LayerGradients run_cudnn(const Tensor& grad) {
    LayerGradients grads{empty_input(memory_format_of(input_)), {}, {}};
    grads.weight = empty_channels();
    grads.bias = empty_channels();
    const CudaBatchNorm norm{input_, weight_, {}, {}, {}, call_.eps};
    if (batch_norm_gradients_on_cuda(norm, grad, mean_, invstd_, grads) == CudaResult::no) {
      compute(grad, grads);
    }
    return grads;
  }

  // The kernel reads both as [N, C, rest].
  LayerGradients run_fused() {
    const Tensor input = merged_pixels(input_);
    const Tensor grad = merged_pixels(backward_.grad());
    LayerGradients grads{empty_input(), {}, {}};
    if (backward_.needs(1)) grads.weight = empty_channels();
    if (backward_.needs(2)) grads.bias = empty_channels();
    compute(backward_.grad(), grads);
    return grads;
  }

  // The sums over each channel first, each in a tensor, then the input's gradient.
  LayerGradients run_in_two_kernels() {
    LayerGradients grads;
    const Tensor invstd = invstd_.defined() ? Tensor() : empty_statistic();
    const bool are_last =
        is_channels_last_for_sums(input_) && is_channels_last_for_sums(backward_.grad());
    Tensor sum_of_grad;
    Tensor sum_of_products;
    if (needs_sums()) {
      // Copies where pixels cannot be merged.
      const Tensor input = are_last ? Tensor() : merged_pixels(input_);
      const Tensor grad = are_last ? Tensor() : merged_pixels(backward_.grad());
      if (are_last || backward_.needs(0)) {
        sum_of_grad = empty_statistic();
        sum_of_products = empty_statistic();
      }
      if (are_last) {
        take_sums_of_channels_last(grads);
      } else {
        if (backward_.needs(1)) grads.weight = empty_channels();
        if (backward_.needs(2)) grads.bias = empty_channels();
      }
    }
    if (backward_.needs(0)) grads.input = empty_input_gradient();
    compute(backward_.grad(), grads);
    return grads;
  }

  void take_sums_of_channels_last(LayerGradients& grads) const {
    if (weight_.defined()) {
      grads.weight = empty_channels();
      grads.bias = empty_channels();
    }
    take_gradient_sums_scratch(input_);
  }

  // The kernel for two layouts reads a number where there is no weight.
  Tensor empty_input_gradient() const {
    const bool are_last = is_channels_last(input_) && is_channels_last(backward_.grad());
    const bool is_general = call_.is_training && !are_last && input_.device().is_cuda();
    const Tensor number =
        is_general && !weight_.defined() ? empty({}, options_of(mean_)) : Tensor();
    return empty_input(call_.is_training ? memory_format_of(input_) : MemoryFormat::row_major);
  }

  Tensor empty_statistic() const {
    return empty({input_.shape()[1]}, {accumulation_dtype(input_.dtype()), input_.device()});
  }

  void compute(const Tensor& grad, const LayerGradients& grads) const {
    ChannelStatistics statistics{mean_, invstd_, Tensor(), call_.eps};
    if (!mean_.defined()) {
      statistics.mean = backward_.saved(kRunningMean);
      statistics.variance = backward_.saved(kRunningVar);
    }
    batch_norm_gradients(grad, input_, statistics,
                         call_.is_training ? StatisticsOf::the_input : StatisticsOf::constants,
                         weight_, grads);
  }

  const BatchNormCall& call_;
  const BackwardCall& backward_;
  Tensor input_;
  Tensor weight_;
  Tensor mean_;
  Tensor invstd_;
};

}  // namespace

Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& running_mean,
                  const std::optional<Tensor>& running_var, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, bool training, double momentum, double eps) {
  const OpFront front(kBatchNorm);
  Operands operands{input, running_mean.value_or(Tensor()), running_var.value_or(Tensor()),
                    weight.value_or(Tensor()), bias.value_or(Tensor())};
  BatchNormCall call{training, false, eps};
  check(operands, call);
  call.is_cudnn = goes_to_cudnn(operands, training, eps);
  if (call.is_cudnn) {
    Context::current().slot(input.device()).assumptions.add(Assumption::cudnn_batch_norm);
    operands.input = contiguous(input, memory_format_of(input));
  }
  Recorder record("BatchNormBackward", {&operands.input, &operands.weight, &operands.bias});
  record.save(operands.input);
  record.save(operands.running_mean);
  record.save(operands.running_var);
  record.save(operands.weight);
  Results results = forward(operands, call, momentum);
  record.save(results.mean);
  record.save(results.invstd);
  record.attach_differentiable(results.out, [call](BackwardCall& backward) {
    return BatchNormBackward(call, backward).run();
  });
  return results.out;
}

void take_statistics_scratch(const Tensor& input) { take_temporaries_of_statistics(input); }

void take_gradient_sums_scratch(const Tensor& input) {
  constexpr std::int64_t kTwoSums = 2;
  const Staging staging(input, kTwoSums);
}

bool has_channels_last_kernels(const Tensor& input) { return is_channels_last(input); }

std::vector<OpDef> batch_norm_ops() {
  return {define(kBatchNorm, kFunctional, &batch_norm,
                 {"input",
                  ParamName::constant("running_mean"),
                  ParamName::constant("running_var"),
                  "weight",
                  "bias",
                  {"training", false},
                  {"momentum", 0.1},
                  {"eps", 1e-5}})};
}

}  // namespace ohm::ops

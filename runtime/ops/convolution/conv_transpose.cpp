#include "runtime/ops/convolution/conv_transpose.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/autograd/recorder.h"
#include "runtime/ops/convolution/conv_plan.h"
#include "runtime/ops/convolution/conv_sizes.h"
#include "runtime/ops/convolution/conv_transpose_passes.h"
#include "runtime/ops/convolution/conv_twice.h"
#include "runtime/ops/convolution/cuda/convolution.h"
#include "runtime/ops/matmul/cublas_workspace.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kConvTranspose2d{"conv_transpose2d", CastPolicy::low_precision};
constexpr OpInfo kConvTranspose3d{"conv_transpose3d", CastPolicy::low_precision};

/// What is convolved.
struct TransposeKind {
  const OpInfo& info;
  int dims;  ///< of one image
  bool is_of_lines = false;
};
constexpr TransposeKind kTransposedLines{kConvTranspose2d, 2, true};
constexpr TransposeKind kTransposedImages{kConvTranspose2d, 2};
constexpr TransposeKind kTransposedVolumes{kConvTranspose3d, 3};

// The sizes of the arguments of a transposed convolution.
struct TransposeWindows {
  const Shape& stride;
  const Shape& padding;
  const Shape& output_padding;
  const Shape& dilation;
};

std::int64_t out_size(const OpInfo& info, std::int64_t in, std::int64_t kernel,
                      const TransposeWindows& windows, int position) {
  const std::int64_t extra = size_at(windows.output_padding, position);
  const std::int64_t stride = size_at(windows.stride, position);
  const std::int64_t dilation = size_at(windows.dilation, position);
  if (extra >= stride && extra >= dilation) {
    throw std::invalid_argument(fmt::format(
        "[{}] output padding must be smaller than either stride or dilation, but got "
        "output_padding {}, stride {} and dilation {}",
        info.name, windows.output_padding.str(), windows.stride.str(), windows.dilation.str()));
  }
  const std::int64_t size = (in - 1) * stride - 2 * size_at(windows.padding, position) +
                            dilation * (kernel - 1) + extra + 1;
  if (size > 0) return size;
  throw std::invalid_argument(
      fmt::format("[{}] an input of {} elements gives an output of {}", info.name, in, size));
}

// PyTorch leaves convolutions to cuDNN unless their results are padded by a stride or more.
bool is_beyond_cudnn(const Shape& output_padding, const Shape& stride, int dims) {
  for (int i = 0; i < dims; ++i) {
    if (size_at(output_padding, i) >= size_at(stride, i)) return true;
  }
  return false;
}

TransposePlan plan_for(const TransposeKind& kind, const Tensor& input, const Tensor& weight,
                       const TransposeWindows& windows, std::int64_t groups) {
  require_sizes(kind.info, kind.dims, windows.output_padding, 0, "output_padding");
  TransposePlan plan;
  plan.is_of_lines = kind.is_of_lines;
  ConvGeometry& g = plan.geometry;
  set_windows(kind.info, g, weight, {windows.stride, windows.padding, windows.dilation});
  g.batch = input.shape()[0];
  g.groups = groups;
  g.in_channels = weight.shape()[1];
  g.out_channels = weight.shape()[0] / groups;
  if (g.is_of_volumes) {
    g.out_depth = input.shape()[2];
    g.in_depth = out_size(kind.info, g.out_depth, g.kernel_depth, windows, 0);
  }
  g.out_height = input.size(-2);
  g.out_width = input.size(-1);
  g.in_height = out_size(kind.info, g.out_height, g.kernel_height, windows, kind.dims - 2);
  g.in_width = out_size(kind.info, g.out_width, g.kernel_width, windows, kind.dims - 1);
  Context& context = Context::current();
  const bool is_done_by_cudnn =
      context.cudnn_enabled && !is_beyond_cudnn(windows.output_padding, windows.stride, kind.dims);
  plan.unfolds = input.device().is_cuda() && !is_done_by_cudnn;
  if (input.device().is_cuda() && is_done_by_cudnn) {
    assume_no_workspace(context.slot(input.device()));
  }
  return plan;
}

TensorList backward(const TransposePlan& plan, const BackwardCall& call) {
  const WantedGradients wanted{call.needs(0), call.needs(1), call.needs(2)};
  if (!plan.is_of_lines) {
    return transposed_convolution_gradients(plan, wanted,
                                            {call.grad(), call.saved(0), call.saved(1)});
  }
  TensorList grads = transposed_convolution_gradients(
      plan, wanted, {with_row(call.grad()), with_row(call.saved(0)), with_row(call.saved(1))});
  for (std::size_t i = 0; i < 2; ++i) {
    if (grads[i].defined()) grads[i] = without_row(grads[i]);
  }
  return grads;
}

void check_transpose_operands(const TransposeKind& kind, const Tensor& input, const Tensor& weight,
                              const Tensor& bias, std::int64_t groups) {
  require_images(kind.info, kind.dims, input, weight, bias, groups);
  if (input.shape()[1] != weight.shape()[0]) {
    throw std::invalid_argument(fmt::format(
        "[{}] Given weight of size {}, expected input{} to have {} channels, but got {} channels "
        "instead",
        kind.info.name, weight.shape().str(), input.shape().str(), weight.shape()[0],
        input.shape()[1]));
  }
  require_bias(kind.info, weight, bias, weight.shape()[1] * groups);
}

class WithoutCudnn {
 public:
  explicit WithoutCudnn(bool is_off) {
    if (is_off) Context::current().cudnn_enabled = false;
  }
  WithoutCudnn(const WithoutCudnn&) = delete;
  WithoutCudnn& operator=(const WithoutCudnn&) = delete;
  ~WithoutCudnn() { Context::current().cudnn_enabled = was_enabled_; }

 private:
  bool was_enabled_ = Context::current().cudnn_enabled;
};

Tensor transposed_convolution(const TransposeKind& kind, const Tensor& given,
                              const Tensor& given_weight, const std::optional<Tensor>& given_bias,
                              const TransposeWindows& windows, std::int64_t groups) {
  if (given.dims() == kind.dims + (kind.is_of_lines ? 0 : 1)) {
    return squeeze(transposed_convolution(kind, unsqueeze(given, 0), given_weight, given_bias,
                                          windows, groups),
                   0);
  }
  const OpFront front(kind.info);
  const Tensor bias = given_bias ? front.input(*given_bias) : Tensor();
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  const Tensor images = kind.is_of_lines ? with_row(input) : input;
  const Tensor filters = kind.is_of_lines ? with_row(weight) : weight;
  check_transpose_operands(kind, images, filters, bias, groups);
  const TransposePlan plan = plan_for(kind, images, filters, windows, groups);
  Recorder record("ConvolutionBackward", {&input, &weight, &bias});
  record.save(input);
  record.save(weight);
  Tensor out = transpose_convolved(plan, images, filters, bias);
  if (kind.is_of_lines) out = without_row(out);
  const ConvolutionShape shape{for_each_dim(windows.stride, kind.dims),
                               for_each_dim(windows.padding, kind.dims),
                               for_each_dim(windows.dilation, kind.dims), groups, kind.is_of_lines};
  record.attach_differentiable(
      out, [plan, shape, output_padding = windows.output_padding](BackwardCall& call) {
        if (!call.is_recorded()) return backward(plan, call);
        return recorded_convolution_backward(
            call, [&] { return backward(plan, call); },
            [shape, output_padding](const LayerGradients& incoming,
                                    const ConvolutionOperands& operands) {
              return transposed_second_gradients(shape, output_padding, incoming, operands);
            });
      });
  return out;
}

}  // namespace

Tensor transposed_again(const Tensor& input, const Tensor& weight, const ConvolutionShape& shape,
                        const Shape& output_padding) {
  const TransposeKind& of_images = shape.is_of_lines ? kTransposedLines : kTransposedImages;
  const TransposeKind& kind = shape.stride.dims() == 3 ? kTransposedVolumes : of_images;
  return transposed_convolution(kind, input, weight, std::nullopt,
                                {shape.stride, shape.padding, output_padding, shape.dilation},
                                shape.groups);
}

Tensor convolved_for_transposed(const Tensor& input, const Tensor& weight,
                                const ConvolutionShape& shape, const Shape& output_padding) {
  const WithoutCudnn guard(is_beyond_cudnn(output_padding, shape.stride, shape.stride.dims()));
  return convolved_again(input, weight, shape);
}

Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, const Shape& stride,
                        const Shape& padding, const Shape& output_padding, std::int64_t groups,
                        const Shape& dilation) {
  return transposed_convolution(kTransposedImages, input, weight, bias,
                                {stride, padding, output_padding, dilation}, groups);
}

Tensor conv_transpose2d_of_lines(const Tensor& input, const Tensor& weight,
                                 const std::optional<Tensor>& bias, const Shape& stride,
                                 const Shape& padding, const Shape& output_padding,
                                 std::int64_t groups, const Shape& dilation) {
  return transposed_convolution(kTransposedLines, input, weight, bias,
                                {stride, padding, output_padding, dilation}, groups);
}

Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, const Shape& stride,
                        const Shape& padding, const Shape& output_padding, std::int64_t groups,
                        const Shape& dilation) {
  return transposed_convolution(kTransposedVolumes, input, weight, bias,
                                {stride, padding, output_padding, dilation}, groups);
}

std::vector<OpDef> conv_transpose_ops() {
  const std::vector<ParamName> params = {"input",
                                         "weight",
                                         "bias",
                                         {"stride", Shape{1}},
                                         {"padding", Shape{0}},
                                         {"output_padding", Shape{0}},
                                         {"groups", std::int64_t{1}},
                                         {"dilation", Shape{1}}};
  return {
      define(kConvTranspose2d, kFunction | kCppFunctional, &conv_transpose2d, params),
      define(kConvTranspose3d, kFunction | kCppFunctional, &conv_transpose3d, params),
  };
}

}  // namespace ohm::ops

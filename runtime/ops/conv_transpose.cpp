#include "runtime/ops/conv_transpose.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/conv_groups.h"
#include "runtime/ops/conv_plan.h"
#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/conv_twice.h"
#include "runtime/ops/cublas_workspace.h"
#include "runtime/ops/cuda/convolution.h"
#include "runtime/ops/host/convolution.h"
#include "runtime/ops/view.h"
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

struct TransposePlan {
  ConvGeometry geometry;     ///< of the convolution that this is the gradient of
  bool unfolds = false;      ///< PyTorch's own kernel, with a buffer of columns
  bool is_of_lines = false;  ///< the images have one row, and are row-major for the library
};

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

// The buffers of PyTorch's own kernel in one call.
class Buffers {
 public:
  Buffers(const TransposePlan& plan, const Tensor& like)
      : plan_(plan), options_(options_of(like)) {}

  void add_columns() {
    const ConvGeometry& g = plan_.geometry;
    if (plan_.unfolds) columns_ = buffer({g.column_rows(), g.out_pixels()});
  }
  void add_ones() {
    const ConvGeometry& g = plan_.geometry;
    if (plan_.unfolds) ones_ = buffer({g.in_pixels()});
  }
  void use_matrix_products(std::int64_t of_each_image) const {
    if (!plan_.unfolds) return;
    use_cublas_workspace(options_.device, plan_.geometry.batch * of_each_image);
  }

 private:
  Tensor buffer(const Shape& shape) const {
    const WorkspaceGuard guard;
    return empty(shape, options_);
  }

  const TransposePlan& plan_;
  TensorOptions options_;
  Tensor columns_;
  Tensor ones_;
};

void add_bias(const Tensor& out, const Tensor& bias) {
  Shape sizes(out.dims() - 1, 1);
  Shape strides(out.dims() - 1, 1);
  sizes[0] = bias.shape()[0];
  strides[0] = bias.strides()[0];
  accumulate_into(out, make_view(bias, sizes, strides, bias.impl()->offset));
}

// PyTorch's own kernel knows no groups.
bool is_split_in_groups(const TransposePlan& plan) {
  return plan.unfolds && plan.geometry.groups > 1;
}

TransposePlan plan_of_one_group(TransposePlan plan) {
  plan.geometry.groups = 1;
  return plan;
}

Tensor transpose_by_library(const ConvGeometry& g, const Tensor& given, const Tensor& weight,
                            const Tensor& bias) {
  const MemoryFormat format = library_format(given, weight);
  const Tensor input = laid_out(given, format);
  Tensor out = empty(shape_of_input(g), options_of(input), format);
  {
    const Tensor filters = laid_out(weight, format);
    if (convolve_grad_input_on_cuda(g, input, filters, out) == CudaResult::no) {
      conv_grad_input(g, input, filters, out);
    }
  }
  if (bias.defined()) add_bias(out, bias);
  return out;
}

// The result of PyTorch's own kernel: that for volumes has a tensor like its input resized, which
// keeps its memory where that is enough.
Tensor new_result(const ConvGeometry& g, const Tensor& input) {
  const Shape shape = shape_of_input(g);
  if (!g.is_of_volumes) return empty(shape, options_of(input));
  const Tensor first = empty(input.shape(), options_of(input));
  if (shape.numel() > first.numel()) return empty(shape, options_of(input));
  Tensor same = make_view(first, shape, contiguous_strides(shape), 0);
  same.impl()->is_view = false;
  return same;
}

// That for volumes needs no columns where the pixels are its columns already.
bool has_columns_in_backward(const TransposePlan& plan) {
  const ConvGeometry& g = plan.geometry;
  const bool is_dilated = g.dilation_depth > 1 || g.dilation_height > 1 || g.dilation_width > 1;
  return !g.is_of_volumes || is_dilated || !g.is_pointwise();
}

Tensor forward(const TransposePlan& plan, const Tensor& given, const Tensor& weight,
               const Tensor& bias) {
  const ConvGeometry& g = plan.geometry;
  if (!plan.unfolds) {
    const Tensor images = plan.is_of_lines ? row_major(given) : given;
    return transpose_by_library(g, images, weight, bias);
  }
  const Tensor input = row_major(given);
  const Tensor filters = row_major(weight);
  if (is_split_in_groups(plan)) {
    return convolve_by_group(
        g.groups, input, filters, bias,
        [one = plan_of_one_group(plan)](const Tensor& channels, const Tensor& part,
                                        const Tensor& offsets) {
          return forward(one, channels, part, offsets);
        });
  }
  Tensor out = new_result(g, input);
  Buffers buffers(plan, input);
  buffers.add_columns();
  if (bias.defined()) buffers.add_ones();
  buffers.use_matrix_products(bias.defined() ? 2 : 1);
  conv_grad_input(g, input, filters, out);
  if (bias.defined()) add_bias(out, bias);
  return out;
}

// The three gradients by PyTorch's own kernels, which copy a gradient that is not row-major twice.
class TransposeBackward {
 public:
  TransposeBackward(const TransposePlan& plan, const WantedGradients& wanted, const Tensor& grad,
                    const Tensor& input, const Tensor& weight)
      : plan_(plan), wanted_(wanted), grad_(grad), input_(input), weight_(weight) {}

  TensorList run() {
    run_input();
    run_parameters();
    return std::move(grads_);
  }

 private:
  const ConvGeometry& geometry() const { return plan_.geometry; }

  void run_input() {
    if (!wanted_.input) return;
    const Tensor grad = row_major(grad_);
    grads_[0] = empty(input_.shape(), options_of(grad));
    Buffers buffers(plan_, grad);
    if (has_columns_in_backward(plan_)) buffers.add_columns();
    buffers.use_matrix_products(1);
    conv_forward(geometry(), grad, weight_, Tensor(), grads_[0]);
  }

  void run_parameters() {
    if (wanted_.weight) grads_[1] = empty(weight_.shape(), options_of(grad_));
    if (wanted_.bias) grads_[2] = empty({grad_.shape()[1]}, options_of(grad_));
    if (!wanted_.weight && !wanted_.bias) return;
    const Tensor grad = row_major(grad_);
    Buffers buffers(plan_, grad);
    if (has_columns_in_backward(plan_)) buffers.add_columns();
    if (wanted_.weight) {
      buffers.use_matrix_products(1);
      conv_grad_weight(geometry(), input_, grad, grads_[1]);
    }
    if (wanted_.bias) reduce_sum_into(grads_[2], grad, all_but_channels(grad.dims()), 1.0);
  }

  const TransposePlan& plan_;
  const WantedGradients& wanted_;
  const Tensor& grad_;
  const Tensor& input_;
  const Tensor& weight_;
  TensorList grads_ = TensorList(3);
};

Tensor library_input_gradient(const ConvGeometry& g, const Tensor& given, const Tensor& weight) {
  const MemoryFormat format = library_format(given, weight);
  Tensor out = empty(shape_of_output(g), options_of(given), format);
  const Tensor filters = laid_out(weight, format);
  const Tensor grad = laid_out(given, format);
  if (convolve_on_cuda(g, grad, filters, Tensor(), out) == CudaResult::no) {
    conv_forward(g, grad, filters, Tensor(), out);
  }
  return out;
}

Tensor library_weight_gradient(const ConvGeometry& g, const Tensor& given, const Tensor& images,
                               const Shape& shape) {
  const MemoryFormat format = library_format(given, images);
  const Tensor input = laid_out(images, format);
  const Tensor grad = laid_out(given, format);
  Tensor out = empty(shape, options_of(grad), format);
  if (convolve_grad_weight_on_cuda(g, input, grad, out) == CudaResult::no) {
    conv_grad_weight(g, input, grad, out);
  }
  return out;
}

// The bias is no work of the library's: its copies are gone before, but for that of lines.
TensorList transpose_gradients_by_library(const TransposePlan& plan, const WantedGradients& wanted,
                                          const ConvolutionOperands& operands) {
  const ConvGeometry& g = plan.geometry;
  TensorList grads(3);
  const Tensor saved = plan.is_of_lines ? row_major(operands.input) : operands.input;
  {
    const Tensor& weight = operands.weight;
    const Tensor input = wanted.weight ? laid_out(saved, library_format(saved, weight)) : saved;
    const Tensor grad = laid_out(operands.grad, memory_format_of(input));
    if (wanted.input) grads[0] = library_input_gradient(g, grad, weight);
    if (wanted.weight) grads[1] = library_weight_gradient(g, grad, input, weight.shape());
  }
  if (wanted.bias) {
    grads[2] = reduce_sum(operands.grad, all_but_channels(operands.grad.dims()), false,
                          operands.grad.dtype());
  }
  return grads;
}

TensorList gradients_of_images(const TransposePlan& plan, const WantedGradients& wanted,
                               const ConvolutionOperands& operands) {
  if (!plan.unfolds) return transpose_gradients_by_library(plan, wanted, operands);
  const Tensor input = row_major(operands.input);
  const Tensor weight = row_major(operands.weight);
  if (!is_split_in_groups(plan)) {
    return TransposeBackward(plan, wanted, operands.grad, input, weight).run();
  }
  return convolution_gradients_by_group(
      plan.geometry.groups, operands.grad, input, weight,
      [&wanted, one = plan_of_one_group(plan)](const Tensor& grad, const Tensor& channels,
                                               const Tensor& filters) {
        return TransposeBackward(one, wanted, grad, channels, filters).run();
      });
}

TensorList backward(const TransposePlan& plan, const BackwardCall& call) {
  const WantedGradients wanted{call.needs(0), call.needs(1), call.needs(2)};
  if (!plan.is_of_lines) {
    return gradients_of_images(plan, wanted, {call.grad(), call.saved(0), call.saved(1)});
  }
  TensorList grads = gradients_of_images(
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

std::vector<Sample> transposed_convolutions() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return randn(shape, options); };
  const auto groups = [](std::int64_t count) { return Value(count); };
  return {
      {tensor({2, 3, 4, 3}), tensor({3, 2, 3, 2}), tensor({2}), Shape{1}, Shape{0}, Shape{0},
       groups(1), Shape{1}},
      {tensor({1, 4, 3, 4}), tensor({4, 3, 3, 3}), tensor({6}), Shape{2, 3}, Shape{1, 2},
       Shape{1, 2}, groups(2), Shape{1}},
      {tensor({2, 3, 4}), tensor({2, 2, 2, 2}), Value(), Shape{2}, Shape{1}, Shape{0}, groups(1),
       Shape{2, 1}},
  };
}

std::vector<Sample> transposed_volumes() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return randn(shape, options); };
  const auto groups = [](std::int64_t count) { return Value(count); };
  return {
      {tensor({2, 2, 2, 3, 2}), tensor({2, 2, 2, 1, 3}), tensor({2}), Shape{1}, Shape{0}, Shape{0},
       groups(1), Shape{1}},
      {tensor({1, 4, 2, 2, 3}), tensor({4, 1, 3, 2, 2}), tensor({2}), Shape{2, 1, 2},
       Shape{1, 0, 1}, Shape{1, 0, 1}, groups(2), Shape{1, 2, 1}},
      {tensor({2, 2, 2, 2}), tensor({2, 1, 2, 2, 2}), Value(), Shape{2}, Shape{1}, Shape{0},
       groups(1), Shape{1}},
  };
}

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
  Tensor out = forward(plan, images, filters, bias);
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
      define(kConvTranspose2d, kFunction | kFunctional, &conv_transpose2d, params,
             transposed_convolutions),
      define(kConvTranspose3d, kFunction | kFunctional, &conv_transpose3d, params,
             transposed_volumes),
  };
}

}  // namespace ohm::ops

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
#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/cublas_workspace.h"
#include "runtime/ops/cuda/convolution.h"
#include "runtime/ops/host/convolution.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kConvTranspose2d{"conv_transpose2d", CastPolicy::low_precision};

struct TransposePlan {
  ConvGeometry geometry;     ///< of the convolution that this is the gradient of
  bool unfolds = false;      ///< PyTorch's own kernel, with a buffer of columns
  bool is_of_lines = false;  ///< the images have one row, and are row-major for the library
};

std::int64_t out_size(std::int64_t in, std::int64_t kernel, const Shape& stride,
                      const Shape& padding, const Shape& output_padding, const Shape& dilation,
                      int position) {
  const std::int64_t extra = size_at(output_padding, position);
  if (extra >= size_at(stride, position) && extra >= size_at(dilation, position)) {
    throw std::invalid_argument(fmt::format(
        "[conv_transpose2d] output padding must be smaller than either stride or dilation, but got "
        "output_padding {}, stride {} and dilation {}",
        output_padding.str(), stride.str(), dilation.str()));
  }
  const std::int64_t size = (in - 1) * size_at(stride, position) - 2 * size_at(padding, position) +
                            size_at(dilation, position) * (kernel - 1) + extra + 1;
  if (size > 0) return size;
  throw std::invalid_argument(
      fmt::format("[conv_transpose2d] an input of {} elements gives an output of {}", in, size));
}

TransposePlan plan_for(const Tensor& input, const Tensor& weight, const Shape& stride,
                       const Shape& padding, const Shape& output_padding, std::int64_t groups,
                       const Shape& dilation) {
  require_pair(kConvTranspose2d, stride, 1, "stride");
  require_pair(kConvTranspose2d, padding, 0, "padding");
  require_pair(kConvTranspose2d, output_padding, 0, "output_padding");
  require_pair(kConvTranspose2d, dilation, 1, "dilation");
  TransposePlan plan;
  ConvGeometry& g = plan.geometry;
  g.batch = input.shape()[0];
  g.groups = groups;
  g.in_channels = weight.shape()[1];
  g.out_channels = weight.shape()[0] / groups;
  g.out_height = input.shape()[2];
  g.out_width = input.shape()[3];
  g.kernel_height = weight.shape()[2];
  g.kernel_width = weight.shape()[3];
  g.stride_height = size_at(stride, 0);
  g.stride_width = size_at(stride, 1);
  g.padding_height = size_at(padding, 0);
  g.padding_width = size_at(padding, 1);
  g.dilation_height = size_at(dilation, 0);
  g.dilation_width = size_at(dilation, 1);
  g.in_height =
      out_size(g.out_height, g.kernel_height, stride, padding, output_padding, dilation, 0);
  g.in_width = out_size(g.out_width, g.kernel_width, stride, padding, output_padding, dilation, 1);
  Context& context = Context::current();
  plan.unfolds = input.device().is_cuda() && !context.cudnn_enabled;
  if (input.device().is_cuda() && context.cudnn_enabled) {
    assume_no_workspace(context.slot(input.device()));
  }
  return plan;
}

// The buffers of PyTorch's own kernel in one call.
class Buffers {
 public:
  Buffers(const TransposePlan& plan, const Tensor& like) : plan_(plan), options_(options_of(like)) {
    const ConvGeometry& g = plan.geometry;
    if (plan.unfolds) columns_ = buffer({g.column_rows(), g.out_pixels()});
  }

  void add_ones() {
    const ConvGeometry& g = plan_.geometry;
    if (plan_.unfolds) ones_ = buffer({g.in_height, g.in_width});
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
  accumulate_into(out, make_view(bias, {bias.shape()[0], 1, 1}, {bias.strides()[0], 1, 1},
                                 bias.impl()->offset));
}

// PyTorch's own kernel knows no groups.
bool is_split_in_groups(const TransposePlan& plan) {
  return plan.unfolds && plan.geometry.groups > 1;
}

TransposePlan plan_of_one_group(TransposePlan plan) {
  plan.geometry.groups = 1;
  return plan;
}

Shape transposed_shape(const ConvGeometry& g) {
  return {g.batch, g.groups * g.in_channels, g.in_height, g.in_width};
}

Tensor transpose_by_library(const ConvGeometry& g, const Tensor& given, const Tensor& weight,
                            const Tensor& bias) {
  const MemoryFormat format = library_format(given, weight);
  const Tensor input = laid_out(given, format);
  Tensor out = empty(transposed_shape(g), options_of(input), format);
  {
    const Tensor filters = laid_out(weight, format);
    if (convolve_grad_input_on_cuda(g, input, filters, out) == CudaResult::no) {
      conv_grad_input(g, input, filters, out);
    }
  }
  if (bias.defined()) add_bias(out, bias);
  return out;
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
  Tensor out = empty(transposed_shape(g), options_of(input));
  Buffers buffers(plan, input);
  if (bias.defined()) buffers.add_ones();
  buffers.use_matrix_products(bias.defined() ? 2 : 1);
  conv_grad_input(g, input, filters, out);
  if (bias.defined()) add_bias(out, bias);
  return out;
}

// The three gradients by PyTorch's own kernels, which copy a gradient that is not row-major twice.
class TransposeBackward {
 public:
  TransposeBackward(const TransposePlan& plan, const BackwardCall& call, const Tensor& grad,
                    const Tensor& input, const Tensor& weight)
      : plan_(plan), call_(call), grad_(grad), input_(input), weight_(weight) {}

  TensorList run() {
    run_input();
    run_parameters();
    return std::move(grads_);
  }

 private:
  const ConvGeometry& geometry() const { return plan_.geometry; }

  void run_input() {
    if (!call_.needs(0)) return;
    const Tensor grad = row_major(grad_);
    grads_[0] = empty(input_.shape(), options_of(grad));
    const Buffers buffers(plan_, grad);
    buffers.use_matrix_products(1);
    conv_forward(geometry(), grad, weight_, Tensor(), grads_[0]);
  }

  void run_parameters() {
    if (call_.needs(1)) grads_[1] = empty(weight_.shape(), options_of(grad_));
    if (call_.needs(2)) grads_[2] = empty({grad_.shape()[1]}, options_of(grad_));
    if (!call_.needs(1) && !call_.needs(2)) return;
    const Tensor grad = row_major(grad_);
    const Buffers buffers(plan_, grad);
    if (call_.needs(1)) {
      buffers.use_matrix_products(1);
      conv_grad_weight(geometry(), input_, grad, grads_[1]);
    }
    if (call_.needs(2)) reduce_sum_into(grads_[2], grad, kAllButChannels, 1.0);
  }

  const TransposePlan& plan_;
  const BackwardCall& call_;
  const Tensor& grad_;
  const Tensor& input_;
  const Tensor& weight_;
  TensorList grads_ = TensorList(3);
};

Tensor library_input_gradient(const ConvGeometry& g, const Tensor& given, const Tensor& weight) {
  const MemoryFormat format = library_format(given, weight);
  Tensor out = empty({g.batch, g.groups * g.out_channels, g.out_height, g.out_width},
                     options_of(given), format);
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
TensorList transpose_gradients_by_library(const TransposePlan& plan, const BackwardCall& call) {
  const ConvGeometry& g = plan.geometry;
  TensorList grads(3);
  const Tensor saved = plan.is_of_lines ? row_major(call.saved(0)) : call.saved(0);
  {
    const Tensor& weight = call.saved(1);
    const Tensor input = call.needs(1) ? laid_out(saved, library_format(saved, weight)) : saved;
    const Tensor grad = laid_out(call.grad(), memory_format_of(input));
    if (call.needs(0)) grads[0] = library_input_gradient(g, grad, weight);
    if (call.needs(1)) grads[1] = library_weight_gradient(g, grad, input, weight.shape());
  }
  if (call.needs(2)) {
    grads[2] = reduce_sum(call.grad(), kAllButChannels, false, call.grad().dtype());
  }
  return grads;
}

TensorList backward(const TransposePlan& plan, const BackwardCall& call) {
  if (!plan.unfolds) return transpose_gradients_by_library(plan, call);
  const Tensor input = row_major(call.saved(0));
  const Tensor weight = row_major(call.saved(1));
  if (!is_split_in_groups(plan)) {
    return TransposeBackward(plan, call, call.grad(), input, weight).run();
  }
  return convolution_gradients_by_group(
      plan.geometry.groups, call.grad(), input, weight,
      [&call, one = plan_of_one_group(plan)](const Tensor& grad, const Tensor& channels,
                                             const Tensor& filters) {
        return TransposeBackward(one, call, grad, channels, filters).run();
      });
}

void check_transpose_operands(const Tensor& input, const Tensor& weight, const Tensor& bias,
                              std::int64_t groups) {
  require_images(kConvTranspose2d, input, weight, bias, groups);
  if (input.shape()[1] != weight.shape()[0]) {
    throw std::invalid_argument(fmt::format(
        "[conv_transpose2d] Given weight of size {}, expected input{} to have {} channels, but got "
        "{} channels instead",
        weight.shape().str(), input.shape().str(), weight.shape()[0], input.shape()[1]));
  }
  require_bias(kConvTranspose2d, weight, bias, weight.shape()[1] * groups);
}

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

}  // namespace

namespace {

enum class Images : std::uint8_t { of_planes, of_lines };

Tensor transposed_images(Images kind, const Tensor& given, const Tensor& given_weight,
                         const std::optional<Tensor>& given_bias, const Shape& stride,
                         const Shape& padding, const Shape& output_padding, std::int64_t groups,
                         const Shape& dilation) {
  if (given.dims() == 3) {
    return squeeze(transposed_images(kind, unsqueeze(given, 0), given_weight, given_bias, stride,
                                     padding, output_padding, groups, dilation),
                   0);
  }
  const OpFront front(kConvTranspose2d);
  const Tensor bias = given_bias ? front.input(*given_bias) : Tensor();
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  check_transpose_operands(input, weight, bias, groups);
  TransposePlan plan = plan_for(input, weight, stride, padding, output_padding, groups, dilation);
  plan.is_of_lines = kind == Images::of_lines;
  Recorder record("ConvolutionBackward", {&input, &weight, &bias});
  record.save(input);
  record.save(weight);
  Tensor out = forward(plan, input, weight, bias);
  record.attach(out, [plan](BackwardCall& call) { return backward(plan, call); });
  return out;
}

}  // namespace

Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, const Shape& stride,
                        const Shape& padding, const Shape& output_padding, std::int64_t groups,
                        const Shape& dilation) {
  return transposed_images(Images::of_planes, input, weight, bias, stride, padding, output_padding,
                           groups, dilation);
}

Tensor conv_transpose2d_of_lines(const Tensor& input, const Tensor& weight,
                                 const std::optional<Tensor>& bias, const Shape& stride,
                                 const Shape& padding, const Shape& output_padding,
                                 std::int64_t groups, const Shape& dilation) {
  return transposed_images(Images::of_lines, input, weight, bias, stride, padding, output_padding,
                           groups, dilation);
}

std::vector<OpDef> conv_transpose_ops() {
  return {define(kConvTranspose2d, kFunctional, &conv_transpose2d,
                 {"input",
                  "weight",
                  "bias",
                  {"stride", Shape{1}},
                  {"padding", Shape{0}},
                  {"output_padding", Shape{0}},
                  {"groups", std::int64_t{1}},
                  {"dilation", Shape{1}}},
                 transposed_convolutions)};
}

}  // namespace ohm::ops

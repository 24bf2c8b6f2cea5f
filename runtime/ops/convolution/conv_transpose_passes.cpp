#include "runtime/ops/convolution/conv_transpose_passes.h"

#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/ops/convolution/conv_groups.h"
#include "runtime/ops/convolution/conv_plan.h"
#include "runtime/ops/convolution/conv_sizes.h"
#include "runtime/ops/convolution/cuda/convolution.h"
#include "runtime/ops/convolution/host/convolution.h"
#include "runtime/ops/matmul/cublas_workspace.h"
#include "runtime/tensor/allocation.h"

namespace ohm::ops {
namespace {

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

// The bias is not work of the library's: its copies are gone before, but for that of lines.
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

}  // namespace

Tensor transpose_convolved(const TransposePlan& plan, const Tensor& given, const Tensor& weight,
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
          return transpose_convolved(one, channels, part, offsets);
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

TensorList transposed_convolution_gradients(const TransposePlan& plan,
                                            const WantedGradients& wanted,
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

}  // namespace ohm::ops

#include "runtime/ops/convolution/conv_passes.h"

#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/ops/convolution/conv_groups.h"
#include "runtime/ops/convolution/conv_sizes.h"
#include "runtime/ops/convolution/cuda/convolution.h"
#include "runtime/ops/matmul/cublas_workspace.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

// The workspaces of the matrix products of `images`.
void use_matrix_products(const ConvPlan& plan, Device device, std::int64_t images) {
  if (is_unfolded(plan)) use_cublas_workspace(device, images);
}

// The device buffer of the kernels that unfold: made at its first use in a call.
class ColumnBuffer {
 public:
  ColumnBuffer(const ConvPlan& plan, const Tensor& like)
      : plan_(plan), options_(options_of(like)) {}

  void ensure() {
    if (columns_.defined() || !is_unfolded(plan_)) return;
    const WorkspaceGuard guard;
    columns_ = empty({plan_.geometry.column_rows(), plan_.geometry.out_pixels()}, options_);
  }

 private:
  const ConvPlan& plan_;
  TensorOptions options_;
  Tensor columns_;
};

Tensor library_forward(const ConvGeometry& g, const Tensor& given, const Tensor& weight,
                       const Tensor& bias) {
  const MemoryFormat format = library_format(given, weight);
  const Tensor input = laid_out(given, format);
  Tensor out = empty(shape_of_output(g), options_of(input), format);
  const Tensor filters = laid_out(weight, format);
  if (convolve_on_cuda(g, input, filters, bias, out) == CudaResult::no) {
    conv_forward(g, input, filters, bias, out);
  }
  return out;
}

Tensor sum_over_pixels(const Tensor& grad) {
  return reduce_sum(grad, all_but_channels(grad.dims()), false, grad.dtype());
}

bool is_depthwise_of_volumes(const ConvPlan& plan) {
  return plan.path == ConvPath::depthwise && plan.geometry.is_of_volumes;
}

// The three gradients by PyTorch's own kernels; each path makes them in its own order.
class ConvBackward {
 public:
  ConvBackward(const ConvPlan& plan, const WantedGradients& wanted, const Tensor& grad,
               const Tensor& input, const Tensor& weight)
      : plan_(plan),
        wanted_(wanted),
        input_(plan.path == ConvPath::depthwise ? input : row_major(input)),
        weight_(plan.path == ConvPath::depthwise ? weight : row_major(weight)),
        given_grad_(grad),
        grad_(is_depthwise_of_volumes(plan) ? grad : row_major(grad)),
        columns_(plan, grad_) {}

  TensorList run() {
    if (is_depthwise_of_volumes(plan_)) {
      run_depthwise_of_volumes();
    } else if (plan_.path == ConvPath::depthwise) {
      run_weight();
      run_input();
      // The bias gradient is not a kernel of theirs: it sums the gradient that came.
      input_ = weight_ = grad_ = Tensor();
      run_bias();
    } else if (plan_.path == ConvPath::dilated_columns) {
      run_dilated();
    } else {
      run_input();
      run_bias();
      run_weight();
    }
    return std::move(grads_);
  }

 private:
  void run_input() {
    if (!wanted_.input) return;
    const Tensor filters = row_major(weight_);
    allocate_input();
    columns_.ensure();
    use_matrix_products(plan_, grad_.device(), plan_.geometry.batch);
    conv_grad_input(plan_.geometry, grad_, filters, grads_[0]);
  }
  void run_weight() {
    if (!wanted_.weight) return;
    const Tensor input = row_major(input_);
    allocate_weight();
    columns_.ensure();
    use_matrix_products(plan_, grad_.device(), plan_.geometry.batch);
    conv_grad_weight(plan_.geometry, grad_, input, grads_[1]);
  }
  void run_bias() {
    if (wanted_.bias) grads_[2] = sum_over_pixels(grad_.defined() ? grad_ : given_grad_);
  }

  // The copies come after the results, and the gradient's lives until the bias has its own.
  void run_depthwise_of_volumes() {
    if (wanted_.input) allocate_input();
    if (wanted_.weight) allocate_weight();
    grad_ = row_major(given_grad_);
    if (wanted_.input) conv_grad_input(plan_.geometry, grad_, row_major(weight_), grads_[0]);
    if (wanted_.weight) conv_grad_weight(plan_.geometry, grad_, row_major(input_), grads_[1]);
    if (wanted_.bias) grads_[2] = sum_over_pixels(given_grad_);
  }

  void run_dilated() {
    if (wanted_.input) allocate_input();
    if (wanted_.weight) allocate_weight();
    if (wanted_.bias) grads_[2] = empty({grad_.shape()[1]}, options_of(grad_));
    columns_.ensure();
    if (wanted_.input) conv_grad_input(plan_.geometry, grad_, weight_, grads_[0]);
    if (wanted_.weight) conv_grad_weight(plan_.geometry, grad_, input_, grads_[1]);
    if (wanted_.bias) fill_values(grads_[2], 0.0);
    for (std::int64_t image = 0; image < plan_.geometry.batch; ++image) run_dilated_image(image);
  }

  // What the kernels of one image allocate, and its part of the bias's gradient.
  void run_dilated_image(std::int64_t image) {
    if (wanted_.input) use_matrix_products(plan_, grad_.device(), 1);
    if (wanted_.weight) use_matrix_products(plan_, grad_.device(), 1);
    if (wanted_.bias) accumulate_into(grads_[2], sum_over_pixels(narrow(grad_, 0, image, 1)));
  }

  void allocate_input() { grads_[0] = empty(input_.shape(), options_of(grad_)); }
  void allocate_weight() { grads_[1] = empty(weight_.shape(), options_of(grad_)); }

  const ConvPlan& plan_;
  WantedGradients wanted_;
  Tensor input_;
  Tensor weight_;
  Tensor given_grad_;
  Tensor grad_;  ///< row-major
  TensorList grads_ = TensorList(3);
  ColumnBuffer columns_;
};

// What the library is given of a gradient: a copy where its format is not the input's, and else,
// gaps or not, itself. Both of its passes then copy what is not laid out for them.
Tensor in_format_of(const Tensor& input, const Tensor& grad) {
  const MemoryFormat format = memory_format_of(input);
  if (memory_format_of(grad) == format) return grad;
  Tensor copy = empty(grad.shape(), options_of(grad), format);
  copy_into(copy, grad);
  return copy;
}

// The gradients of input and weight by the library.
class LibraryBackward {
 public:
  LibraryBackward(const ConvGeometry& geometry, const WantedGradients& wanted, const Tensor& grad,
                  const Tensor& input, const Tensor& weight)
      : geometry_(geometry),
        wanted_(wanted),
        input_(wanted.weight ? laid_out(input, library_format(input, weight)) : input),
        grad_(in_format_of(input_, grad)),
        weight_(weight) {}

  void run_into(TensorList& grads) const {
    if (wanted_.input) grads[0] = input_gradient();
    if (wanted_.weight) grads[1] = weight_gradient();
  }

 private:
  Tensor input_gradient() const {
    const MemoryFormat format = library_format(grad_, weight_);
    Tensor out = empty(input_.shape(), options_of(grad_), format);
    const Tensor filters = laid_out(weight_, format);
    const Tensor grad = laid_out(grad_, format);
    if (convolve_grad_input_on_cuda(geometry_, grad, filters, out) == CudaResult::no) {
      conv_grad_input(geometry_, grad, filters, out);
    }
    return out;
  }

  Tensor weight_gradient() const {
    const MemoryFormat format = library_format(input_, grad_);
    const Tensor grad = laid_out(grad_, format);
    const Tensor input = laid_out(input_, format);
    Tensor out = empty(weight_.shape(), options_of(grad), format);
    if (convolve_grad_weight_on_cuda(geometry_, grad, input, out) == CudaResult::no) {
      conv_grad_weight(geometry_, grad, input, out);
    }
    return out;
  }

  const ConvGeometry& geometry_;
  WantedGradients wanted_;
  Tensor input_;
  Tensor grad_;
  const Tensor& weight_;
};

// The copies are gone when the bias's gradient is summed.
TensorList library_backward(const ConvPlan& plan, const WantedGradients& wanted, const Tensor& grad,
                            const Tensor& input, const Tensor& weight) {
  TensorList grads(3);
  LibraryBackward(plan.geometry, wanted, grad, input, weight).run_into(grads);
  if (wanted.bias) grads[2] = sum_over_pixels(grad);
  return grads;
}

}  // namespace

Tensor convolved(const ConvPlan& plan, const Tensor& given, const Tensor& weight,
                 const Tensor& bias) {
  const ConvGeometry& g = plan.geometry;
  if (plan.path == ConvPath::library) return library_forward(g, given, weight, bias);
  const Tensor input = row_major(given);
  if (is_depthwise_of_volumes(plan)) {
    Tensor out = empty(shape_of_output(g), options_of(input));
    conv_forward(g, input, row_major(weight), bias, out);
    return out;
  }
  const Tensor filters = row_major(weight);
  if (is_split_in_groups(plan)) {
    return convolve_by_group(
        g.groups, input, filters, bias,
        [one = plan_of_one_group(plan)](const Tensor& channels, const Tensor& part,
                                        const Tensor& offsets) {
          return convolved(one, channels, part, offsets);
        });
  }
  Tensor out = empty(shape_of_output(g), options_of(input));
  ColumnBuffer columns(plan, input);
  // The pixels of a 1 x 1 convolution are its columns already; dilation is another kernel's.
  if (!g.is_pointwise() || plan.path != ConvPath::columns) columns.ensure();
  use_matrix_products(plan, out.device(), g.batch);
  conv_forward(g, input, filters, bias, out);
  return out;
}

TensorList convolution_gradients(const ConvPlan& plan, const WantedGradients& wanted,
                                 const Tensor& grad, const Tensor& given, const Tensor& weight) {
  // The copy of lines lives until all gradients are there.
  const Tensor input = plan.is_of_lines ? row_major(given) : given;
  if (is_split_in_groups(plan)) {
    const Tensor packed = row_major(input);
    const Tensor filters = row_major(weight);
    return convolution_gradients_by_group(
        plan.geometry.groups, grad, packed, filters,
        [&wanted, one = plan_of_one_group(plan)](const Tensor& part, const Tensor& channels,
                                                 const Tensor& part_filters) {
          return ConvBackward(one, wanted, part, channels, part_filters).run();
        });
  }
  if (plan.path == ConvPath::library) return library_backward(plan, wanted, grad, input, weight);
  return ConvBackward(plan, wanted, grad, input, weight).run();
}

}  // namespace ohm::ops

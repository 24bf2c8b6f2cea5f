#include "runtime/ops/conv.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/conv_groups.h"
#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/cublas_workspace.h"
#include "runtime/ops/cuda/convolution.h"
#include "runtime/ops/host/convolution.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kConv2d{"conv2d", CastPolicy::low_precision};

// Which of PyTorch's kernels runs: what it allocates beside the result.
enum class ConvPath : std::uint8_t {
  library,         ///< cuDNN, the host: nothing
  depthwise,       ///< the kernel for one input channel in each group: nothing
  columns,         ///< a buffer of columns
  dilated_columns  ///< the same, and the bias gradient is summed image by image
};

struct ConvPlan {
  ConvGeometry geometry;
  ConvPath path = ConvPath::library;
  bool is_of_lines = false;  ///< the images have one row, and are row-major for the library
};

std::int64_t out_size(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                      std::int64_t padding, std::int64_t dilation) {
  const std::int64_t padded = in + 2 * padding;
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  if (padded < reach) {
    throw std::invalid_argument(
        fmt::format("[conv2d] Kernel size can't be greater than actual input size: the padded "
                    "input has {} elements, the kernel reaches over {}",
                    padded, reach));
  }
  return (padded - reach) / stride + 1;
}

void check_operands(const Tensor& input, const Tensor& weight, const Tensor& bias,
                    std::int64_t groups) {
  require_images(kConv2d, input, weight, bias, groups);
  if (input.shape()[1] != weight.shape()[1] * groups) {
    throw std::invalid_argument(
        fmt::format("[conv2d] Given groups={}, weight of size {}, expected input{} to have {} "
                    "channels, but got "
                    "{} channels instead",
                    groups, weight.shape().str(), input.shape().str(), weight.shape()[1] * groups,
                    input.shape()[1]));
  }
  require_bias(kConv2d, weight, bias, weight.shape()[0]);
}

// PyTorch's own kernel for one channel in each group is preferred to cuDNN's, which it takes where
// channels lie last, and for float16, enough channels, and square strides without dilation alone.
bool is_beyond_cudnn(const Tensor& input, const Tensor& weight, const ConvGeometry& g) {
  if (library_format(input, weight) == MemoryFormat::channels_last) return false;
  constexpr std::int64_t kFewestChannels = 32;
  const bool is_plain = g.dilation_height == 1 && g.dilation_width == 1 &&
                        (g.stride_height == g.stride_width || g.in_height == 1);
  return !(input.dtype() == DType::float16 && g.groups >= kFewestChannels && is_plain);
}

ConvPath path_for(const Tensor& input, const Tensor& weight, const ConvGeometry& g) {
  const bool is_depthwise = g.groups > 1 && g.in_channels == 1;
  if (input.device().is_cpu()) return ConvPath::library;
  Context& context = Context::current();
  if (context.cudnn_enabled && !(is_depthwise && is_beyond_cudnn(input, weight, g))) {
    context.slot(input.device()).assumptions.add(Assumption::cudnn_workspace);
    return ConvPath::library;
  }
  const bool is_dilated = g.dilation_height > 1 || g.dilation_width > 1;
  if (is_depthwise) return ConvPath::depthwise;
  return is_dilated ? ConvPath::dilated_columns : ConvPath::columns;
}

ConvPlan plan_for(const Tensor& input, const Tensor& weight, const Shape& stride,
                  const Shape& padding, const Shape& dilation, std::int64_t groups) {
  require_pair(kConv2d, stride, 1, "stride");
  require_pair(kConv2d, padding, 0, "padding");
  require_pair(kConv2d, dilation, 1, "dilation");
  ConvPlan plan;
  ConvGeometry& g = plan.geometry;
  g.batch = input.shape()[0];
  g.groups = groups;
  g.in_channels = weight.shape()[1];
  g.out_channels = weight.shape()[0] / groups;
  g.in_height = input.shape()[2];
  g.in_width = input.shape()[3];
  g.kernel_height = weight.shape()[2];
  g.kernel_width = weight.shape()[3];
  g.stride_height = size_at(stride, 0);
  g.stride_width = size_at(stride, 1);
  g.padding_height = size_at(padding, 0);
  g.padding_width = size_at(padding, 1);
  g.dilation_height = size_at(dilation, 0);
  g.dilation_width = size_at(dilation, 1);
  g.out_height =
      out_size(g.in_height, g.kernel_height, g.stride_height, g.padding_height, g.dilation_height);
  g.out_width =
      out_size(g.in_width, g.kernel_width, g.stride_width, g.padding_width, g.dilation_width);
  plan.path = path_for(input, weight, g);
  return plan;
}

// Images become columns, and each is a matrix product of its own.
bool is_unfolded(const ConvPlan& plan) {
  return plan.path == ConvPath::columns || plan.path == ConvPath::dilated_columns;
}

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

// PyTorch's own kernels know no groups: each is a convolution of its own.
bool is_split_in_groups(const ConvPlan& plan) {
  return plan.geometry.groups > 1 &&
         (plan.path == ConvPath::columns || plan.path == ConvPath::dilated_columns);
}

ConvPlan plan_of_one_group(ConvPlan plan) {
  plan.geometry.groups = 1;
  return plan;
}

Shape shape_of_result(const ConvGeometry& g) {
  return {g.batch, g.groups * g.out_channels, g.out_height, g.out_width};
}

Tensor library_forward(const ConvGeometry& g, const Tensor& given, const Tensor& weight,
                       const Tensor& bias) {
  const MemoryFormat format = library_format(given, weight);
  const Tensor input = laid_out(given, format);
  Tensor out = empty(shape_of_result(g), options_of(input), format);
  const Tensor filters = laid_out(weight, format);
  if (convolve_on_cuda(g, input, filters, bias, out) == CudaResult::no) {
    conv_forward(g, input, filters, bias, out);
  }
  return out;
}

Tensor forward(const ConvPlan& plan, const Tensor& given, const Tensor& weight,
               const Tensor& bias) {
  const ConvGeometry& g = plan.geometry;
  if (plan.path == ConvPath::library) return library_forward(g, given, weight, bias);
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
  Tensor out = empty(shape_of_result(g), options_of(input));
  ColumnBuffer columns(plan, input);
  // The pixels of a 1 x 1 convolution are its columns already; dilation is another kernel's.
  if (!g.is_pointwise() || plan.path != ConvPath::columns) columns.ensure();
  use_matrix_products(plan, out.device(), g.batch);
  conv_forward(g, input, filters, bias, out);
  return out;
}

Tensor sum_over_pixels(const Tensor& grad) {
  return reduce_sum(grad, kAllButChannels, false, grad.dtype());
}

struct WantedGradients {
  bool input;
  bool weight;
  bool bias;
};

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
        grad_(row_major(grad)),
        columns_(plan, grad_) {}

  TensorList run() {
    if (plan_.path == ConvPath::depthwise) {
      run_weight();
      run_input();
      // The bias gradient is no kernel of theirs: it sums the gradient that came.
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

// The copies are gone when the bias's gradient is summed, but for that of lines.
TensorList library_backward(const ConvPlan& plan, const WantedGradients& wanted, const Tensor& grad,
                            const Tensor& given, const Tensor& weight) {
  TensorList grads(3);
  const Tensor input = plan.is_of_lines ? row_major(given) : given;
  LibraryBackward(plan.geometry, wanted, grad, input, weight).run_into(grads);
  if (wanted.bias) grads[2] = sum_over_pixels(grad);
  return grads;
}

TensorList backward(const ConvPlan& plan, const BackwardCall& call) {
  const WantedGradients wanted{call.needs(0), call.needs(1), call.needs(2)};
  if (is_split_in_groups(plan)) {
    const Tensor input = row_major(call.saved(0));
    const Tensor weight = row_major(call.saved(1));
    return convolution_gradients_by_group(
        plan.geometry.groups, call.grad(), input, weight,
        [&wanted, one = plan_of_one_group(plan)](const Tensor& grad, const Tensor& channels,
                                                 const Tensor& filters) {
          return ConvBackward(one, wanted, grad, channels, filters).run();
        });
  }
  if (plan.path == ConvPath::library) {
    return library_backward(plan, wanted, call.grad(), call.saved(0), call.saved(1));
  }
  return ConvBackward(plan, wanted, call.grad(), call.saved(0), call.saved(1)).run();
}

Tensor conv2d_batched(const Tensor& given, const Tensor& given_weight, const Tensor& given_bias,
                      const Shape& stride, const Shape& padding, const Shape& dilation,
                      std::int64_t groups, bool is_of_lines) {
  const OpFront front(kConv2d);
  const Tensor bias = given_bias.defined() ? front.input(given_bias) : Tensor();
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  check_operands(input, weight, bias, groups);
  ConvPlan plan = plan_for(input, weight, stride, padding, dilation, groups);
  plan.is_of_lines = is_of_lines;
  Recorder record("ConvolutionBackward", {&input, &weight, &bias});
  record.save(input);
  record.save(weight);
  Tensor out = forward(plan, is_of_lines ? row_major(input) : input, weight, bias);
  record.attach(out, [plan](BackwardCall& call) { return backward(plan, call); });
  return out;
}

}  // namespace

Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              const Shape& stride, const Shape& padding, const Shape& dilation,
              std::int64_t groups) {
  const bool is_one_image = input.dims() == 3;
  const Tensor images = is_one_image ? unsqueeze(input, 0) : input;
  Tensor out = conv2d_batched(images, weight, bias.value_or(Tensor()), stride, padding, dilation,
                              groups, false);
  return is_one_image ? squeeze(out, 0) : out;
}

Tensor conv2d_of_lines(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                       const Shape& stride, const Shape& padding, const Shape& dilation,
                       std::int64_t groups) {
  const bool is_one_image = input.dims() == 3;
  const Tensor images = is_one_image ? unsqueeze(input, 0) : input;
  Tensor out = conv2d_batched(images, weight, bias.value_or(Tensor()), stride, padding, dilation,
                              groups, true);
  return is_one_image ? squeeze(out, 0) : out;
}

namespace {

std::vector<Sample> convolutions() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return randn(shape, options); };
  const Value groups = std::int64_t{2};
  return {
      {tensor({2, 3, 5, 4}), tensor({2, 3, 3, 2}), tensor({2})},
      {tensor({1, 2, 6, 7}), tensor({3, 2, 3, 3}), tensor({3}), Shape{2, 3}, Shape{1, 2}},
      {tensor({2, 4, 5, 6}), tensor({6, 2, 2, 3}), Value(), Shape{1}, Shape{1}, Shape{2, 1},
       groups},
      {tensor({2, 3, 3, 4}), tensor({2, 3, 1, 1}), tensor({2})},
      {tensor({2, 5, 5}), tensor({2, 2, 2, 2}), tensor({2}), Shape{2}},
  };
}

}  // namespace

std::vector<OpDef> conv_ops() {
  return {define(kConv2d, kFunctional, &conv2d,
                 {"input",
                  "weight",
                  "bias",
                  {"stride", Shape{1}},
                  {"padding", Shape{0}},
                  {"dilation", Shape{1}},
                  {"groups", std::int64_t{1}}},
                 convolutions)};
}

}  // namespace ohm::ops

#include "runtime/ops/conv.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/autograd/recorder.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/conv_kernel.h"
#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/view.h"
#include "runtime/ops/workspace.h"
#include "runtime/tensor/arithmetic.h"
#include "runtime/tensor/reduce.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kConv2d{"conv2d", CastPolicy::low_precision};

// Which of PyTorch's kernels runs: what it allocates beside the result.
enum class ConvPath : std::uint8_t {
  library,         ///< cuDNN, the depthwise kernel, the host: nothing
  columns,         ///< a buffer of columns
  dilated_columns  ///< the same, and the bias gradient is summed image by image
};

struct ConvPlan {
  ConvGeometry geometry;
  ConvPath path = ConvPath::library;
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

ConvPath path_for(const Tensor& input, const ConvGeometry& g) {
  const bool is_depthwise = g.groups > 1 && g.in_channels == 1;
  if (input.device().is_cpu() || Context::current().cudnn_enabled || is_depthwise) {
    return ConvPath::library;
  }
  const bool is_dilated = g.dilation_height > 1 || g.dilation_width > 1;
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
  plan.path = path_for(input, g);
  return plan;
}

// The device buffer of the kernels that unfold: made at its first use in a call.
class ColumnBuffer {
 public:
  ColumnBuffer(const ConvPlan& plan, const Tensor& like)
      : plan_(plan), options_(options_of(like)) {}

  void ensure() {
    if (plan_.path == ConvPath::library) return;
    if (!columns_.defined()) {
      const CategoryGuard category(Category::workspace);
      columns_ = empty({plan_.geometry.column_rows(), plan_.geometry.out_pixels()}, options_);
    }
    if (plan_.geometry.batch > 0) ensure_cublas_workspace(options_.device);
  }

 private:
  const ConvPlan& plan_;
  TensorOptions options_;
  Tensor columns_;
};

Tensor forward(const ConvPlan& plan, const Tensor& given, const Tensor& weight,
               const Tensor& bias) {
  const ConvGeometry& g = plan.geometry;
  const Tensor input = row_major(given);
  const Tensor filters = row_major(weight);
  Tensor out =
      empty({g.batch, g.groups * g.out_channels, g.out_height, g.out_width}, options_of(input));
  ColumnBuffer columns(plan, input);
  columns.ensure();
  conv_forward(g, input, filters, bias, out);
  return out;
}

Tensor sum_over_pixels(const Tensor& grad) {
  return reduce_sum(grad, kAllButChannels, false, grad.dtype());
}

// The three gradients; each path makes them in its own order.
class ConvBackward {
 public:
  ConvBackward(const ConvPlan& plan, const BackwardCall& call)
      : plan_(plan),
        call_(call),
        grad_(row_major(call.grad())),
        input_(call.saved(0)),
        weight_(row_major(call.saved(1))),
        columns_(plan, grad_) {}

  TensorList run() {
    switch (plan_.path) {
      case ConvPath::columns:
        run_input();
        run_bias();
        run_weight();
        break;
      case ConvPath::dilated_columns:
        run_dilated();
        break;
      case ConvPath::library:
        run_input();
        run_weight();
        run_bias();
        break;
    }
    return std::move(grads_);
  }

 private:
  void run_input() {
    if (!call_.needs(0)) return;
    allocate_input();
    columns_.ensure();
    conv_grad_input(plan_.geometry, grad_, weight_, grads_[0]);
  }
  void run_weight() {
    if (!call_.needs(1)) return;
    const Tensor input = row_major(input_);
    allocate_weight();
    columns_.ensure();
    conv_grad_weight(plan_.geometry, grad_, input, grads_[1]);
  }
  void run_bias() {
    if (call_.needs(2)) grads_[2] = sum_over_pixels(grad_);
  }

  void run_dilated() {
    const Tensor input = row_major(input_);
    if (call_.needs(0)) allocate_input();
    if (call_.needs(1)) allocate_weight();
    if (call_.needs(2)) grads_[2] = empty({grad_.shape()[1]}, options_of(grad_));
    columns_.ensure();
    if (call_.needs(0)) conv_grad_input(plan_.geometry, grad_, weight_, grads_[0]);
    if (call_.needs(1)) conv_grad_weight(plan_.geometry, grad_, input, grads_[1]);
    if (call_.needs(2)) sum_image_by_image(grads_[2]);
  }

  void sum_image_by_image(const Tensor& total) {
    fill_values(total, 0.0);
    for (std::int64_t image = 0; image < plan_.geometry.batch; ++image) {
      accumulate_into(total, sum_over_pixels(narrow(grad_, 0, image, 1)));
    }
  }

  void allocate_input() { grads_[0] = empty(input_.shape(), options_of(grad_)); }
  void allocate_weight() { grads_[1] = empty(weight_.shape(), options_of(grad_)); }

  const ConvPlan& plan_;
  const BackwardCall& call_;
  Tensor grad_;
  Tensor input_;
  Tensor weight_;
  TensorList grads_ = TensorList(3);
  ColumnBuffer columns_;
};

Tensor conv2d_batched(const Tensor& given, const Tensor& given_weight, const Tensor& given_bias,
                      const Shape& stride, const Shape& padding, const Shape& dilation,
                      std::int64_t groups) {
  const OpFront front(kConv2d);
  const Tensor bias = given_bias.defined() ? front.input(given_bias) : Tensor();
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  check_operands(input, weight, bias, groups);
  const ConvPlan plan = plan_for(input, weight, stride, padding, dilation, groups);
  Recorder record("ConvolutionBackward", {&input, &weight, &bias});
  record.save(input);
  record.save(weight);
  Tensor out = forward(plan, input, weight, bias);
  record.attach(out, [plan](BackwardCall& call) { return ConvBackward(plan, call).run(); });
  return out;
}

}  // namespace

Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              const Shape& stride, const Shape& padding, const Shape& dilation,
              std::int64_t groups) {
  const bool is_one_image = input.dims() == 3;
  const Tensor images = is_one_image ? unsqueeze(input, 0) : input;
  Tensor out =
      conv2d_batched(images, weight, bias.value_or(Tensor()), stride, padding, dilation, groups);
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

#include "runtime/cuda/cudnn.h"

#include <utility>

#include "runtime/cuda/library_product.h"

namespace ohm::cuda {

// ---- convolutions -------------------------------------------------------------------------------

const std::vector<ConvolutionAlgorithm>& Cudnn::suggested(ConvolutionPass pass,
                                                          const Convolution& convolution) const {
  const auto known = suggested_.find({pass, convolution});
  if (known != suggested_.end()) return known->second;
  device_->current();
  std::vector<ConvolutionAlgorithm> found = ConvolutionCall(*this, pass, convolution).suggested();
  return suggested_.emplace(Question{pass, convolution}, std::move(found)).first->second;
}

void Cudnn::measure(ConvolutionPass pass, const Convolution& convolution,
                    const ConvolutionOperands& operands, const DeviceRange& workspace) const {
  device_->current();
  measured_.insert_or_assign(
      {pass, convolution}, ConvolutionCall(*this, pass, convolution).measured(operands, workspace));
}

void Cudnn::convolve(ConvolutionPass pass, const Convolution& convolution,
                     const ConvolutionAlgorithm& algorithm, const ConvolutionOperands& operands,
                     const DeviceRange& workspace) const {
  device_->current();
  ConvolutionCall(*this, pass, convolution).run(algorithm, operands, workspace);
}

void Cudnn::add_bias(ElementType type, const ImageSizes& sizes, Pointer bias,
                     Pointer images) const {
  device_->current();
  const Tensor of_bias = tensor(type, {1, sizes[1], 1, 1});
  const Tensor of_images = tensor(type, sizes);
  const Factors factors(type);
  check(functions_.add_tensor(handle_, factors.one(), of_bias.get(), as_pointer(bias),
                              factors.one(), of_images.get(), as_pointer(images)),
        "cudnnAddTensor");
}

// ---- averages -----------------------------------------------------------------------------------

Cudnn::Pooling Cudnn::pooling(const AverageWindows& windows) const {
  CudnnPooling made = nullptr;
  check(functions_.pooling_create(&made), "cudnnCreatePoolingDescriptor");
  Pooling pooling(made, functions_.pooling_destroy);
  check(functions_.pooling_set(
            made, windows.counts_padding ? kCudnnAverageWithPadding : kCudnnAverageWithoutPadding,
            kCudnnPropagateNan, windows.window[0], windows.window[1], windows.padding[0],
            windows.padding[1], windows.stride[0], windows.stride[1]),
        "cudnnSetPooling2dDescriptor");
  return pooling;
}

void Cudnn::average(const AverageWindows& windows, Pointer input, Pointer output) const {
  device_->current();
  const Tensor of_input = tensor(windows.type, windows.input);
  const Tensor of_output = tensor(windows.type, windows.output);
  const Factors factors(windows.type);
  check(functions_.pooling_forward(handle_, pooling(windows).get(), factors.one(), of_input.get(),
                                   as_pointer(input), factors.zero(), of_output.get(),
                                   as_pointer(output)),
        "cudnnPoolingForward");
}

void Cudnn::average_backward(const AverageWindows& windows, Pointer input, Pointer output,
                             Pointer grad, Pointer input_grad) const {
  device_->current();
  const Tensor of_input = tensor(windows.type, windows.input);
  const Tensor of_output = tensor(windows.type, windows.output);
  const Factors factors(windows.type);
  check(functions_.pooling_backward(handle_, pooling(windows).get(), factors.one(), of_output.get(),
                                    as_pointer(output), of_output.get(), as_pointer(grad),
                                    of_input.get(), as_pointer(input), factors.zero(),
                                    of_input.get(), as_pointer(input_grad)),
        "cudnnPoolingBackward");
}

// ---- batch norm ---------------------------------------------------------------------------------

Cudnn::Tensor Cudnn::channels(const BatchNorm& norm) const {
  const ElementType type =
      norm.type == ElementType::float64 ? ElementType::float64 : ElementType::float32;
  return tensor(type, {1, norm.sizes[1], 1, 1});
}

void Cudnn::normalize(const BatchNorm& norm, const BatchNormTraining& operands) const {
  device_->current();
  const Tensor images = tensor(norm.type, norm.sizes);
  const Tensor of_channels = channels(norm);
  const Factors factors(norm.type);
  check(functions_.norm_training(handle_, kCudnnSpatialBatchNorm, factors.one(), factors.zero(),
                                 images.get(), as_pointer(operands.input), images.get(),
                                 as_pointer(operands.output), of_channels.get(),
                                 as_pointer(operands.weight), as_pointer(operands.bias),
                                 operands.momentum, as_pointer(operands.running_mean),
                                 as_pointer(operands.running_variance), norm.eps,
                                 as_pointer(operands.mean), as_pointer(operands.invstd)),
        "cudnnBatchNormalizationForwardTraining");
}

void Cudnn::normalize(const BatchNorm& norm, const BatchNormInference& operands) const {
  device_->current();
  const Tensor images = tensor(norm.type, norm.sizes);
  const Tensor of_channels = channels(norm);
  const Factors factors(norm.type);
  check(functions_.norm_inference(
            handle_, kCudnnSpatialBatchNorm, factors.one(), factors.zero(), images.get(),
            as_pointer(operands.input), images.get(), as_pointer(operands.output),
            of_channels.get(), as_pointer(operands.weight), as_pointer(operands.bias),
            as_pointer(operands.mean), as_pointer(operands.variance), norm.eps),
        "cudnnBatchNormalizationForwardInference");
}

void Cudnn::normalize_backward(const BatchNorm& norm, const BatchNormBackward& operands) const {
  device_->current();
  const Tensor images = tensor(norm.type, norm.sizes);
  const Tensor of_channels = channels(norm);
  const Factors factors(norm.type);
  check(functions_.norm_backward(
            handle_, kCudnnSpatialBatchNorm, factors.one(), factors.zero(), factors.one(),
            factors.zero(), images.get(), as_pointer(operands.input), images.get(),
            as_pointer(operands.grad), images.get(), as_pointer(operands.input_grad),
            of_channels.get(), as_pointer(operands.weight), as_pointer(operands.weight_grad),
            as_pointer(operands.bias_grad), norm.eps, as_pointer(operands.mean),
            as_pointer(operands.invstd)),
        "cudnnBatchNormalizationBackward");
}

}  // namespace ohm::cuda

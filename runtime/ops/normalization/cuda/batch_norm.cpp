#include "runtime/ops/normalization/cuda/batch_norm.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>

#include "runtime/ops/cuda/library_call.h"

namespace ohm::ops {
namespace {

/// Whether each is a row of the dtype that the library keeps channels in, on the same device.
bool are_channels(std::initializer_list<const Tensor*> tensors, const Tensor& input) {
  const DType wanted = input.dtype() == DType::float64 ? DType::float64 : DType::float32;
  return std::all_of(tensors.begin(), tensors.end(), [&](const Tensor* tensor) {
    if (!tensor->defined()) return true;
    return tensor->dtype() == wanted && tensor->is_contiguous() &&
           tensor->cuda_backend() == input.cuda_backend();
  });
}

/// nullopt for an input that is empty or has more elements than the library can count.
std::optional<cuda::BatchNorm> described(const Tensor& input, double eps) {
  if (input.numel() == 0 || input.numel() > std::numeric_limits<int>::max()) return std::nullopt;
  const std::int64_t images = input.size(0);
  const std::int64_t channels = input.size(1);
  const std::int64_t elements = input.numel() / (images * channels);
  const auto size = [](std::int64_t value) { return static_cast<int>(value); };
  return cuda::BatchNorm{
      element_type(input.dtype()), {size(images), size(channels), size(elements), 1}, eps};
}

/// Calls `compute` with the library and the description where there are both.
template <class Compute>
CudaResult with_cudnn(const CudaBatchNorm& norm, const Tensor& other, Compute&& compute) {
  cuda::DeviceLibraries* const libraries = libraries_for({&norm.input, &other});
  const bool fits =
      libraries != nullptr && norm.input.is_contiguous() && other.is_contiguous() &&
      are_channels({&norm.weight, &norm.bias, &norm.running_mean, &norm.running_var}, norm.input);
  if (!fits) return CudaResult::no;
  return call_library(norm.input.device(), [&] {
    const cuda::Cudnn* const cudnn = libraries->cudnn();
    const std::optional<cuda::BatchNorm> described_norm = described(norm.input, norm.eps);
    if (cudnn == nullptr || !described_norm) return CudaResult::no;
    compute(*cudnn, *described_norm);
    return CudaResult::done;
  });
}

}  // namespace

CudaResult train_batch_norm_on_cuda(const CudaBatchNorm& norm, double momentum, const Tensor& out,
                                    const Tensor& mean, const Tensor& invstd) {
  return with_cudnn(norm, out, [&](const cuda::Cudnn& cudnn, const cuda::BatchNorm& described) {
    cuda::BatchNormTraining operands;
    operands.input = read_on_cuda(norm.input);
    operands.weight = read_on_cuda(norm.weight);
    operands.bias = read_on_cuda(norm.bias);
    operands.output = overwrite_on_cuda(out);
    operands.momentum = momentum;
    if (norm.running_mean.defined()) {
      operands.running_mean = norm.running_mean.cuda_address(CudaAccess::write);
      operands.running_variance = norm.running_var.cuda_address(CudaAccess::write);
    }
    operands.mean = overwrite_on_cuda(mean);
    operands.invstd = overwrite_on_cuda(invstd);
    cudnn.normalize(described, operands);
  });
}

CudaResult apply_batch_norm_on_cuda(const CudaBatchNorm& norm, const Tensor& out) {
  return with_cudnn(norm, out, [&](const cuda::Cudnn& cudnn, const cuda::BatchNorm& described) {
    cuda::BatchNormInference operands;
    operands.input = read_on_cuda(norm.input);
    operands.weight = read_on_cuda(norm.weight);
    operands.bias = read_on_cuda(norm.bias);
    operands.output = overwrite_on_cuda(out);
    operands.mean = read_on_cuda(norm.running_mean);
    operands.variance = read_on_cuda(norm.running_var);
    cudnn.normalize(described, operands);
  });
}

CudaResult batch_norm_gradients_on_cuda(const CudaBatchNorm& norm, const Tensor& grad,
                                        const Tensor& mean, const Tensor& invstd,
                                        const LayerGradients& out) {
  return with_cudnn(norm, grad, [&](const cuda::Cudnn& cudnn, const cuda::BatchNorm& described) {
    cuda::BatchNormBackward operands;
    operands.input = read_on_cuda(norm.input);
    operands.grad = read_on_cuda(grad);
    operands.weight = read_on_cuda(norm.weight);
    operands.mean = read_on_cuda(mean);
    operands.invstd = read_on_cuda(invstd);
    operands.input_grad = overwrite_on_cuda(out.input);
    operands.weight_grad = overwrite_on_cuda(out.weight);
    operands.bias_grad = overwrite_on_cuda(out.bias);
    cudnn.normalize_backward(described, operands);
  });
}

}  // namespace ohm::ops

#include "runtime/ops/pooling/cuda/pooling.h"

#include <limits>
#include <optional>

#include "runtime/ops/cuda/library_call.h"

namespace ohm::ops {
namespace {

std::optional<cuda::AverageWindows> described(const CudaAverage& average, const Tensor& image,
                                              const Tensor& averages) {
  if (image.numel() > std::numeric_limits<int>::max()) return std::nullopt;
  const auto size = [](std::int64_t value) { return static_cast<int>(value); };
  cuda::AverageWindows windows;
  windows.type = element_type(image.dtype());
  windows.input = {1, size(average.planes), size(image.size(-2)), size(image.size(-1))};
  windows.output = {1, size(average.planes), size(averages.size(-2)), size(averages.size(-1))};
  windows.window = {size(average.rows.size), size(average.columns.size)};
  windows.padding = {size(average.rows.padding), size(average.columns.padding)};
  windows.stride = {size(average.rows.stride), size(average.columns.stride)};
  windows.counts_padding = average.counts_padding;
  return windows;
}

template <class Compute>
CudaResult with_cudnn(const CudaAverage& average, const Tensor& image, const Tensor& averages,
                      Compute&& compute) {
  cuda::DeviceLibraries* const libraries = libraries_for({&image, &averages});
  if (libraries == nullptr) return CudaResult::no;
  return call_library(image.device(), [&] {
    const cuda::Cudnn* const cudnn = libraries->cudnn();
    const std::optional<cuda::AverageWindows> windows = described(average, image, averages);
    if (cudnn == nullptr || !windows) return CudaResult::no;
    compute(*cudnn, *windows);
    return CudaResult::done;
  });
}

}  // namespace

CudaResult average_on_cuda(const CudaAverage& average, const Tensor& input, const Tensor& out) {
  return with_cudnn(average, input, out,
                    [&](const cuda::Cudnn& cudnn, const cuda::AverageWindows& windows) {
                      cudnn.average(windows, read_on_cuda(input), overwrite_on_cuda(out));
                    });
}

// The averages and the image themselves are not looked at: what is there of their sizes stands for
// them.
CudaResult average_gradient_on_cuda(const CudaAverage& average, const Tensor& grad,
                                    const Tensor& grad_input) {
  return with_cudnn(average, grad_input, grad,
                    [&](const cuda::Cudnn& cudnn, const cuda::AverageWindows& windows) {
                      const cuda::Pointer of_grad = read_on_cuda(grad);
                      const cuda::Pointer of_result = overwrite_on_cuda(grad_input);
                      cudnn.average_backward(windows, of_result, of_grad, of_grad, of_result);
                    });
}

}  // namespace ohm::ops

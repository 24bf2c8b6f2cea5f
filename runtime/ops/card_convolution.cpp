#include "runtime/ops/card_convolution.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "runtime/ops/card_call.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

using cuda::ConvolutionPass;

/// Whether the library takes it: no tensor is empty, and each has at most 2³¹ − 1 elements.
bool is_of_library(const ConvGeometry& g) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const std::int64_t kernel = g.kernel_height * g.kernel_width;
  const std::int64_t elements[] = {g.batch * g.groups * g.in_channels * g.in_height * g.in_width,
                                   g.batch * g.groups * g.out_channels * g.out_height * g.out_width,
                                   g.groups * g.out_channels * g.in_channels * kernel};
  const std::int64_t numbers[] = {g.padding_height, g.padding_width,
                                  g.stride_height * g.dilation_height,
                                  g.stride_width * g.dilation_width};
  return std::all_of(std::begin(elements), std::end(elements),
                     [](std::int64_t count) { return count > 0 && count <= kMost; }) &&
         *std::max_element(std::begin(numbers), std::end(numbers)) <= kMost;
}

/// nullopt where the library does not take it.
std::optional<cuda::Convolution> described(const ConvGeometry& g, DType dtype) {
  if (!is_of_library(g)) return std::nullopt;
  const auto size = [](std::int64_t value) { return static_cast<int>(value); };
  const int in_channels = size(g.groups * g.in_channels);
  const int out_channels = size(g.groups * g.out_channels);
  cuda::Convolution convolution;
  convolution.type = element_type(dtype);
  convolution.input = {size(g.batch), in_channels, size(g.in_height), size(g.in_width)};
  convolution.filter = {out_channels, size(g.in_channels), size(g.kernel_height),
                        size(g.kernel_width)};
  convolution.output = {size(g.batch), out_channels, size(g.out_height), size(g.out_width)};
  convolution.padding = {size(g.padding_height), size(g.padding_width)};
  convolution.stride = {size(g.stride_height), size(g.stride_width)};
  convolution.dilation = {size(g.dilation_height), size(g.dilation_width)};
  convolution.groups = size(g.groups);
  return convolution;
}

IntrusivePtr<Storage> workspace_of(const cuda::ConvolutionAlgorithm& algorithm, Device device) {
  if (algorithm.workspace_bytes == 0) return {};
  const CategoryGuard category(Category::workspace);
  return Storage::allocate(algorithm.workspace_bytes, device);
}

OnCard convolve(ConvolutionPass pass, const ConvGeometry& geometry, const Tensor& first,
                const Tensor& second, const Tensor& bias, const Tensor& result) {
  // The library reads one element behind the other.
  if (bias.defined() && !bias.is_contiguous()) return OnCard::no;
  cuda::CardLibraries* const libraries = libraries_for({&first, &second, &bias, &result});
  if (libraries == nullptr) return OnCard::no;
  return call_library(result.device(), [&] {
    const cuda::Cudnn* const cudnn = libraries->cudnn();
    if (cudnn == nullptr) return OnCard::no;
    const std::optional<cuda::Convolution> convolution = described(geometry, result.dtype());
    if (!convolution) return OnCard::no;
    const cuda::ConvolutionAlgorithm algorithm = cudnn->algorithm_for(pass, *convolution, 0);
    const IntrusivePtr<Storage> workspace = workspace_of(algorithm, result.device());
    const cuda::CardRange range =
        workspace ? cuda::CardRange{workspace->address(), workspace->bytes()} : cuda::CardRange{};
    cudnn->convolve(pass, *convolution, algorithm,
                    {read_on_card(first), read_on_card(second), overwrite_on_card(result)}, range);
    if (bias.defined()) {
      cudnn->add_bias(convolution->type, convolution->output, read_on_card(bias),
                      result.card_address(CardAccess::write));
    }
    return OnCard::done;
  });
}

}  // namespace

OnCard convolve_on_card(const ConvGeometry& geometry, const Tensor& input, const Tensor& weight,
                        const Tensor& bias, const Tensor& out) {
  return convolve(ConvolutionPass::output, geometry, input, weight, bias, out);
}

OnCard convolve_grad_input_on_card(const ConvGeometry& geometry, const Tensor& grad_out,
                                   const Tensor& weight, const Tensor& grad_input) {
  return convolve(ConvolutionPass::input_slope, geometry, weight, grad_out, Tensor(), grad_input);
}

OnCard convolve_grad_weight_on_card(const ConvGeometry& geometry, const Tensor& grad_out,
                                    const Tensor& input, const Tensor& grad_weight) {
  return convolve(ConvolutionPass::filter_slope, geometry, input, grad_out, Tensor(), grad_weight);
}

}  // namespace ohm::ops

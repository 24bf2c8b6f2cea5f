#include "runtime/cuda/cudnn_convolution.h"

#include <fmt/format.h>

#include <array>

#include "runtime/cuda/library_product.h"

namespace ohm::cuda {
namespace {

/// As PyTorch asks for it without TF32: float32 is computed as it is, halves by the tensor cores.
int math_for(ElementType type) {
  switch (type) {
    case ElementType::float16:
    case ElementType::bfloat16:
      return kCudnnTensorMath;
    case ElementType::float32:
      return kCudnnNoTensorMath;
    case ElementType::float64:
      return kCudnnDefaultMath;
  }
  return kCudnnDefaultMath;
}

constexpr int kMostAnswers = 16;
using Answers = std::array<CudnnAlgorithm, kMostAnswers>;

/// Those that can compute it; where `is_deterministic`, the ones alone that give the same bits each
/// time, for values are compared. Never none.
std::vector<ConvolutionAlgorithm> usable(const Answers& answers, int count, bool is_deterministic) {
  std::vector<ConvolutionAlgorithm> all;
  for (int i = 0; i < count; ++i) {
    const CudnnAlgorithm& one = answers.at(static_cast<std::size_t>(i));
    if (one.status != 0 || (is_deterministic && one.is_deterministic == 0)) continue;
    all.push_back({one.algorithm, one.math, one.workspace_bytes});
  }
  if (!all.empty()) return all;
  throw LibraryError(LibraryFailure::not_supported,
                     fmt::format("cuDNN: it has no {}algorithm for this convolution",
                                 is_deterministic ? "deterministic " : ""));
}

}  // namespace

ConvolutionCall::ConvolutionCall(const CudnnLibrary& library, ConvolutionPass pass,
                                 const Convolution& convolution)
    : library_(library),
      functions_(library.functions()),
      pass_(pass),
      type_(convolution.type),
      is_deterministic_(convolution.is_deterministic),
      input_(library.tensor(convolution.type, convolution.input)),
      output_(library.tensor(convolution.type, convolution.output)) {
  describe_filter(convolution);
  describe(convolution);
}

void ConvolutionCall::describe_filter(const Convolution& convolution) {
  CudnnFilter made = nullptr;
  library_.check(functions_.filter_create(&made), "cudnnCreateFilterDescriptor");
  filter_ = {made, functions_.filter_destroy};
  const ImageSizes& sizes = convolution.filter;
  library_.check(functions_.filter_set(made, cudnn_type(type_), kCudnnRowMajor, sizes[0], sizes[1],
                                       sizes[2], sizes[3]),
                 "cudnnSetFilter4dDescriptor");
}

void ConvolutionCall::describe(const Convolution& convolution) {
  CudnnConvolution made = nullptr;
  library_.check(functions_.convolution_create(&made), "cudnnCreateConvolutionDescriptor");
  convolution_ = {made, functions_.convolution_destroy};
  const int compute = type_ == ElementType::float64 ? kCudnnDouble : kCudnnFloat;
  library_.check(functions_.convolution_set(made, convolution.padding[0], convolution.padding[1],
                                            convolution.stride[0], convolution.stride[1],
                                            convolution.dilation[0], convolution.dilation[1],
                                            kCudnnCrossCorrelation, compute),
                 "cudnnSetConvolution2dDescriptor");
  library_.check(functions_.convolution_set_groups(made, convolution.groups),
                 "cudnnSetConvolutionGroupCount");
  library_.check(functions_.convolution_set_math(made, math_for(type_)),
                 "cudnnSetConvolutionMathType");
}

std::vector<ConvolutionAlgorithm> ConvolutionCall::suggested() const {
  Answers found;
  int count = 0;
  CudnnHandle handle = library_.handle();
  switch (pass_) {
    case ConvolutionPass::output:
      library_.check(
          functions_.forward_algorithms(handle, input_.get(), filter_.get(), convolution_.get(),
                                        output_.get(), kMostAnswers, &count, found.data()),
          "cudnnGetConvolutionForwardAlgorithm_v7");
      break;
    case ConvolutionPass::input_grad:
      library_.check(
          functions_.data_algorithms(handle, filter_.get(), output_.get(), convolution_.get(),
                                     input_.get(), kMostAnswers, &count, found.data()),
          "cudnnGetConvolutionBackwardDataAlgorithm_v7");
      break;
    case ConvolutionPass::filter_grad:
      library_.check(
          functions_.filter_algorithms(handle, input_.get(), output_.get(), convolution_.get(),
                                       filter_.get(), kMostAnswers, &count, found.data()),
          "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
      break;
  }
  return usable(found, count, is_deterministic_);
}

ConvolutionAlgorithm ConvolutionCall::measured(const ConvolutionOperands& operands,
                                               const DeviceRange& workspace) const {
  Answers found;
  int count = 0;
  CudnnHandle handle = library_.handle();
  const void* const first = as_pointer(operands.first);
  const void* const second = as_pointer(operands.second);
  void* const result = as_pointer(operands.result);
  void* const scratch = as_pointer(workspace.address);
  switch (pass_) {
    case ConvolutionPass::output:
      library_.check(
          functions_.forward_measured(handle, input_.get(), first, filter_.get(), second,
                                      convolution_.get(), output_.get(), result, kMostAnswers,
                                      &count, found.data(), scratch, workspace.bytes),
          "cudnnFindConvolutionForwardAlgorithmEx");
      break;
    case ConvolutionPass::input_grad:
      library_.check(
          functions_.data_measured(handle, filter_.get(), first, output_.get(), second,
                                   convolution_.get(), input_.get(), result, kMostAnswers, &count,
                                   found.data(), scratch, workspace.bytes),
          "cudnnFindConvolutionBackwardDataAlgorithmEx");
      break;
    case ConvolutionPass::filter_grad:
      library_.check(
          functions_.filter_measured(handle, input_.get(), first, output_.get(), second,
                                     convolution_.get(), filter_.get(), result, kMostAnswers,
                                     &count, found.data(), scratch, workspace.bytes),
          "cudnnFindConvolutionBackwardFilterAlgorithmEx");
      break;
  }
  return usable(found, count, is_deterministic_).front();
}

void ConvolutionCall::run(const ConvolutionAlgorithm& algorithm,
                          const ConvolutionOperands& operands, const DeviceRange& workspace) const {
  library_.check(functions_.convolution_set_math(convolution_.get(), algorithm.math),
                 "cudnnSetConvolutionMathType");
  const Factors factors(type_);
  CudnnHandle handle = library_.handle();
  const void* const first = as_pointer(operands.first);
  const void* const second = as_pointer(operands.second);
  void* const result = as_pointer(operands.result);
  void* const scratch = as_pointer(workspace.address);
  switch (pass_) {
    case ConvolutionPass::output:
      return library_.check(
          functions_.convolution_forward(handle, factors.one(), input_.get(), first, filter_.get(),
                                         second, convolution_.get(), algorithm.number, scratch,
                                         workspace.bytes, factors.zero(), output_.get(), result),
          "cudnnConvolutionForward");
    case ConvolutionPass::input_grad:
      return library_.check(
          functions_.convolution_data(handle, factors.one(), filter_.get(), first, output_.get(),
                                      second, convolution_.get(), algorithm.number, scratch,
                                      workspace.bytes, factors.zero(), input_.get(), result),
          "cudnnConvolutionBackwardData");
    case ConvolutionPass::filter_grad:
      return library_.check(
          functions_.convolution_filter(handle, factors.one(), input_.get(), first, output_.get(),
                                        second, convolution_.get(), algorithm.number, scratch,
                                        workspace.bytes, factors.zero(), filter_.get(), result),
          "cudnnConvolutionBackwardFilter");
  }
}

}  // namespace ohm::cuda

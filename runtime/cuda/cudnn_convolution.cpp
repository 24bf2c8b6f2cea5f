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

template <typename Function>
std::pair<Function, const char*> named(Function function, const char* name) {
  return {function, name};
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

template <typename Output, typename InputGrad, typename FilterGrad, typename Call>
void ConvolutionCall::check_pass(std::pair<Output, const char*> output,
                                 std::pair<InputGrad, const char*> input_grad,
                                 std::pair<FilterGrad, const char*> filter_grad, Call call) const {
  switch (pass_) {
    case ConvolutionPass::output:
      return library_.check(call(output.first, input_.get(), filter_.get(), output_.get()),
                            output.second);
    case ConvolutionPass::input_grad:
      return library_.check(call(input_grad.first, filter_.get(), output_.get(), input_.get()),
                            input_grad.second);
    case ConvolutionPass::filter_grad:
      return library_.check(call(filter_grad.first, input_.get(), output_.get(), filter_.get()),
                            filter_grad.second);
  }
}

std::vector<ConvolutionAlgorithm> ConvolutionCall::suggested() const {
  Answers found;
  int count = 0;
  check_pass(named(functions_.forward_algorithms, "cudnnGetConvolutionForwardAlgorithm_v7"),
             named(functions_.data_algorithms, "cudnnGetConvolutionBackwardDataAlgorithm_v7"),
             named(functions_.filter_algorithms, "cudnnGetConvolutionBackwardFilterAlgorithm_v7"),
             [&](auto function, auto first, auto second, auto result) {
               return function(library_.handle(), first, second, convolution_.get(), result,
                               kMostAnswers, &count, found.data());
             });
  return usable(found, count, is_deterministic_);
}

ConvolutionAlgorithm ConvolutionCall::measured(const ConvolutionOperands& operands,
                                               const DeviceRange& workspace) const {
  Answers found;
  int count = 0;
  check_pass(named(functions_.forward_measured, "cudnnFindConvolutionForwardAlgorithmEx"),
             named(functions_.data_measured, "cudnnFindConvolutionBackwardDataAlgorithmEx"),
             named(functions_.filter_measured, "cudnnFindConvolutionBackwardFilterAlgorithmEx"),
             [&](auto function, auto first, auto second, auto result) {
               return function(library_.handle(), first, as_pointer(operands.first), second,
                               as_pointer(operands.second), convolution_.get(), result,
                               as_pointer(operands.result), kMostAnswers, &count, found.data(),
                               as_pointer(workspace.address), workspace.bytes);
             });
  return usable(found, count, is_deterministic_).front();
}

void ConvolutionCall::run(const ConvolutionAlgorithm& algorithm,
                          const ConvolutionOperands& operands, const DeviceRange& workspace) const {
  library_.check(functions_.convolution_set_math(convolution_.get(), algorithm.math),
                 "cudnnSetConvolutionMathType");
  const Factors factors(type_);
  check_pass(named(functions_.convolution_forward, "cudnnConvolutionForward"),
             named(functions_.convolution_data, "cudnnConvolutionBackwardData"),
             named(functions_.convolution_filter, "cudnnConvolutionBackwardFilter"),
             [&](auto function, auto first, auto second, auto result) {
               return function(library_.handle(), factors.one(), first, as_pointer(operands.first),
                               second, as_pointer(operands.second), convolution_.get(),
                               algorithm.number, as_pointer(workspace.address), workspace.bytes,
                               factors.zero(), result, as_pointer(operands.result));
             });
}

}  // namespace ohm::cuda

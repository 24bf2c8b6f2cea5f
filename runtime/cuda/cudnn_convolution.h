// Convolutions by cuDNN.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/cuda/cudnn_library.h"

namespace ohm::cuda {

/// output = input ⋆ filter. Pairs are of height and width.
struct Convolution {
  ElementType type = ElementType::float32;
  ImageSizes input = {};
  ImageSizes filter = {};
  ImageSizes output = {};
  std::array<int, 2> padding = {};
  std::array<int, 2> stride = {1, 1};
  std::array<int, 2> dilation = {1, 1};
  int groups = 1;
  /// Whether only algorithms may compute it that give the same bits each time.
  bool is_deterministic = true;

  friend bool operator<(const Convolution& a, const Convolution& b) {
    const auto all = [](const Convolution& one) {
      return std::tie(one.type, one.input, one.filter, one.output, one.padding, one.stride,
                      one.dilation, one.groups, one.is_deterministic);
    };
    return all(a) < all(b);
  }
};

/// What a convolution is asked for, and of which operands it is made.
enum class ConvolutionPass : std::uint8_t {
  output,       ///< of input and filter
  input_grad,   ///< of filter and the output's gradient
  filter_grad,  ///< of input and the output's gradient
};

struct ConvolutionOperands {
  Pointer first = 0;
  Pointer second = 0;
  Pointer result = 0;  ///< overwritten
};

/// The way a convolution is computed.
struct ConvolutionAlgorithm {
  int number = 0;
  int math = 0;  ///< cudnnMathType_t
  std::size_t workspace_bytes = 0;
};

/// One convolution as the library is told of it.
class ConvolutionCall {
 public:
  ConvolutionCall(const CudnnLibrary& library, ConvolutionPass pass,
                  const Convolution& convolution);

  /// Those that can compute it as it is asked for, the best first; never none.
  std::vector<ConvolutionAlgorithm> suggested() const;
  ConvolutionAlgorithm measured(const ConvolutionOperands& operands,
                                const DeviceRange& workspace) const;
  void run(const ConvolutionAlgorithm& algorithm, const ConvolutionOperands& operands,
           const DeviceRange& workspace) const;

 private:
  /// Checks call(function, first, second, result): the function of this pass, each with its name,
  /// and the descriptors of the pass's operands.
  template <typename Output, typename InputGrad, typename FilterGrad, typename Call>
  void check_pass(std::pair<Output, const char*> output,
                  std::pair<InputGrad, const char*> input_grad,
                  std::pair<FilterGrad, const char*> filter_grad, Call call) const;

  void describe(const Convolution& convolution);
  void describe_filter(const Convolution& convolution);

  const CudnnLibrary& library_;
  const CudnnFunctions& functions_;
  ConvolutionPass pass_;
  ElementType type_;
  bool is_deterministic_;
  CudnnLibrary::Tensor input_;
  CudnnLibrary::Tensor output_;
  Described<OpaqueCudnnFilter> filter_{nullptr, nullptr};
  Described<OpaqueCudnnConvolution> convolution_{nullptr, nullptr};
};

}  // namespace ohm::cuda

// One convolution as cuDNN is told of it.
#pragma once

#include <vector>

#include "runtime/cuda/cudnn.h"

namespace ohm::cuda {

/// cudnnDataType_t.
int cudnn_type(ElementType type);

class Cudnn::ConvolutionCall {
 public:
  ConvolutionCall(const Cudnn& library, ConvolutionPass pass, const Convolution& convolution);

  ConvolutionAlgorithm algorithm(std::size_t workspace_bytes) const;
  std::size_t largest_workspace(std::size_t most) const;
  ConvolutionAlgorithm measured(const ConvolutionOperands& operands,
                                const CardRange& workspace) const;
  void run(const ConvolutionAlgorithm& algorithm, const ConvolutionOperands& operands,
           const CardRange& workspace) const;

 private:
  void describe(const Convolution& convolution);
  void describe_filter(const Convolution& convolution);
  /// Those that can compute it, the best first.
  std::vector<ConvolutionAlgorithm> suggested() const;

  const Cudnn& library_;
  const CudnnFunctions& functions_;
  ConvolutionPass pass_;
  ElementType type_;
  Tensor input_;
  Tensor output_;
  Described<OpaqueCudnnFilter> filter_{nullptr, nullptr};
  Described<OpaqueCudnnConvolution> convolution_{nullptr, nullptr};
};

}  // namespace ohm::cuda

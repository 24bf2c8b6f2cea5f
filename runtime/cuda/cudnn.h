// cuDNN on one device: convolutions, averages of windows, batch norm.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/cuda/cudnn_convolution.h"
#include "runtime/cuda/cudnn_library.h"

namespace ohm::cuda {

/// Averages over windows, which all begin inside the padded image.
struct AverageWindows {
  ElementType type = ElementType::float32;
  ImageSizes input = {};
  ImageSizes output = {};
  std::array<int, 2> window = {1, 1};
  std::array<int, 2> padding = {};
  std::array<int, 2> stride = {1, 1};
  bool counts_padding = true;
};

/// Batch norm of [N, C, …], seen as [N, C, elements, 1]. Weight, bias and statistics have an
/// element for each channel, in float64 for float64 and float32 for everything else.
struct BatchNorm {
  ElementType type = ElementType::float32;
  ImageSizes sizes = {};
  double eps = 1e-5;
};

struct BatchNormTraining {
  Pointer input = 0;
  Pointer weight = 0;
  Pointer bias = 0;
  Pointer output = 0;
  double momentum = 0;
  Pointer running_mean = 0;  ///< moved; 0: there is none
  Pointer running_variance = 0;
  Pointer mean = 0;  ///< written
  Pointer invstd = 0;
};

struct BatchNormInference {
  Pointer input = 0;
  Pointer weight = 0;
  Pointer bias = 0;
  Pointer output = 0;
  Pointer mean = 0;
  Pointer variance = 0;
};

struct BatchNormBackward {
  Pointer input = 0;
  Pointer grad = 0;
  Pointer weight = 0;
  Pointer mean = 0;
  Pointer invstd = 0;
  Pointer input_grad = 0;  ///< the three are overwritten
  Pointer weight_grad = 0;
  Pointer bias_grad = 0;
};

/// Queues on the device's default stream. Throws LibraryError; DriverError where the device broke.
class Cudnn final : public CudnnLibrary {
 public:
  using CudnnLibrary::CudnnLibrary;

  /// The ways that the library suggests, deterministic ones alone unless the convolution takes
  /// others; the best first, never none. It is asked once for each convolution.
  const std::vector<ConvolutionAlgorithm>& suggested(ConvolutionPass pass,
                                                     const Convolution& convolution) const;
  /// Runs every way that the workspace is enough for: the fastest is kept, of those that
  /// suggested() allows. The result is overwritten with anything.
  void measure(ConvolutionPass pass, const Convolution& convolution,
               const ConvolutionOperands& operands, const DeviceRange& workspace) const;
  /// nullptr where it was not measured.
  const ConvolutionAlgorithm* measured(ConvolutionPass pass, const Convolution& convolution) const {
    const auto found = measured_.find({pass, convolution});
    return found == measured_.end() ? nullptr : &found->second;
  }
  void convolve(ConvolutionPass pass, const Convolution& convolution,
                const ConvolutionAlgorithm& algorithm, const ConvolutionOperands& operands,
                const DeviceRange& workspace) const;
  /// Adds an element of `bias` to each channel of images of these sizes.
  void add_bias(ElementType type, const ImageSizes& sizes, Pointer bias, Pointer images) const;

  void average(const AverageWindows& windows, Pointer input, Pointer output) const;
  /// Overwrites `input_grad`. The values of input and output are not looked at: any that there are
  /// of their sizes will do.
  void average_backward(const AverageWindows& windows, Pointer input, Pointer output, Pointer grad,
                        Pointer input_grad) const;

  void normalize(const BatchNorm& norm, const BatchNormTraining& operands) const;
  void normalize(const BatchNorm& norm, const BatchNormInference& operands) const;
  void normalize_backward(const BatchNorm& norm, const BatchNormBackward& operands) const;

 private:
  using Pooling = Described<OpaqueCudnnPooling>;

  Tensor channels(const BatchNorm& norm) const;
  Pooling pooling(const AverageWindows& windows) const;

  using Question = std::pair<ConvolutionPass, Convolution>;
  mutable std::map<Question, std::vector<ConvolutionAlgorithm>> suggested_;  ///< so far
  mutable std::map<Question, ConvolutionAlgorithm> measured_;
};

}  // namespace ohm::cuda

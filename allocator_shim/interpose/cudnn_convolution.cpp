// cuDNN: descriptors of convolutions and poolings, and the sizes of what they make.
#include <algorithm>
#include <array>
#include <cstddef>

#include "allocator_shim/interpose/cudnn_tensor.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"

using namespace ohm::interpose;

namespace {

/// Batch and channels come before what a window moves over.
constexpr int kDimsBefore = 2;
constexpr int kMostWindowDims = kMaxTensorDims - kDimsBefore;
constexpr int kPlaneDims = 2;
using WindowArray = std::array<int, kMostWindowDims>;

struct ConvolutionDescriptor {
  int dims;
  WindowArray padding;
  WindowArray stride;
  WindowArray dilation;
  int mode;
  int compute_type;
  int groups;  ///< 0: it was not said, and is 1
  int math_type;
  int reorder_type;

  int group_count() const { return std::max(groups, 1); }
};

struct PoolingDescriptor {
  int mode;
  int nan_propagation;
  int dims;
  WindowArray window;
  WindowArray padding;
  WindowArray stride;
};

bool is_between(int value, int first, int last) { return value >= first && value <= last; }

bool are_at_least(const int* values, int count, int least) {
  return std::all_of(values, values + count, [least](int value) { return value >= least; });
}

WindowArray window_array(const int* values, int count) {
  WindowArray made = {};
  std::copy_n(values, count, made.begin());
  return made;
}

void tell_many(const WindowArray& values, int count, int* places) {
  if (places != nullptr) std::copy_n(values.begin(), count, places);
}

int set_convolution(ConvolutionDescriptor* convolution, int dims, const int* padding,
                    const int* stride, const int* dilation, int mode, int compute_type) {
  constexpr int kLastMode = 1;
  constexpr int kLastComputeType = 21;
  const bool is_given = is_object(convolution) && dims >= 0 && padding != nullptr &&
                        stride != nullptr && dilation != nullptr;
  if (!is_given) return kCudnnBadParameter;
  if (dims > kMostWindowDims) return kCudnnNotSupported;
  const bool is_right = are_at_least(padding, dims, 0) && are_at_least(stride, dims, 1) &&
                        are_at_least(dilation, dims, 1) && is_between(mode, 0, kLastMode) &&
                        is_between(compute_type, 0, kLastComputeType);
  if (!is_right) return kCudnnBadParameter;
  convolution->dims = dims;
  convolution->padding = window_array(padding, dims);
  convolution->stride = window_array(stride, dims);
  convolution->dilation = window_array(dilation, dims);
  convolution->mode = mode;
  convolution->compute_type = compute_type;
  return kLibrarySuccess;
}

/// How often a window fits, at least once; 0: it does not.
int places_of_window(int size, int padding, int window, int stride) {
  const int room = size + 2 * padding - window;
  return room < 0 ? 0 : room / stride + 1;
}

/// Of what a convolution makes. False: they do not go together, or nothing is left.
bool convolve(const ConvolutionDescriptor& convolution, const TensorDescriptor& tensor,
              const FilterDescriptor& filter, std::array<int, kMaxTensorDims>& sizes) {
  const bool goes_together = tensor.dims == filter.dims &&
                             convolution.dims == tensor.dims - kDimsBefore &&
                             tensor.sizes[1] == filter.sizes[1] * convolution.group_count();
  if (!goes_together) return false;
  sizes = {tensor.sizes[0], filter.sizes[0]};
  for (std::size_t i = 0; i < static_cast<std::size_t>(convolution.dims); ++i) {
    const int window = (filter.sizes.at(i + kDimsBefore) - 1) * convolution.dilation.at(i) + 1;
    const int size = places_of_window(tensor.sizes.at(i + kDimsBefore), convolution.padding.at(i),
                                      window, convolution.stride.at(i));
    if (size == 0) return false;
    sizes.at(i + kDimsBefore) = size;
  }
  return true;
}

int set_pooling(PoolingDescriptor* pooling, int mode, int nan_propagation, int dims,
                const int* window, const int* padding, const int* stride) {
  constexpr int kLastMode = 3;
  const bool is_given =
      is_object(pooling) && window != nullptr && padding != nullptr && stride != nullptr;
  if (!is_given || dims < 1) return kCudnnBadParameter;
  if (dims > kMostWindowDims) return kCudnnNotSupported;
  const bool is_right = is_between(mode, 0, kLastMode) && is_between(nan_propagation, 0, 1) &&
                        are_at_least(window, dims, 1) && are_at_least(stride, dims, 1);
  if (!is_right) return kCudnnBadParameter;
  *pooling = {mode,
              nan_propagation,
              dims,
              window_array(window, dims),
              window_array(padding, dims),
              window_array(stride, dims)};
  return kLibrarySuccess;
}

/// The same of a pooling.
bool pool_over(const PoolingDescriptor& pooling, const TensorDescriptor& tensor,
               std::array<int, kMaxTensorDims>& sizes) {
  if (pooling.dims != tensor.dims - kDimsBefore) return false;
  sizes = {tensor.sizes[0], tensor.sizes[1]};
  for (std::size_t i = 0; i < static_cast<std::size_t>(pooling.dims); ++i) {
    const int size = places_of_window(tensor.sizes.at(i + kDimsBefore), pooling.padding.at(i),
                                      pooling.window.at(i), pooling.stride.at(i));
    if (size == 0) return false;
    sizes.at(i + kDimsBefore) = size;
  }
  return true;
}

/// Of an image.
int tell_sizes(const std::array<int, kMaxTensorDims>& sizes, int* n, int* c, int* h, int* w) {
  const std::array places = {n, c, h, w};
  for (std::size_t i = 0; i < places.size(); ++i) tell(sizes.at(i), places.at(i));
  return kLibrarySuccess;
}

/// Of places of algorithms: the stand-in knows one, a card's library has more to try.
int tell_most_algorithms(const LibraryHandle* handle, int* count) {
  if (!is_object(handle) || count == nullptr) return kCudnnBadParameter;
  *count = 1;
  return kLibrarySuccess;
}

}  // namespace

OHM_EXPORTED int cudnnSetConvolution2dDescriptor(ConvolutionDescriptor* convolution, int pad_h,
                                                 int pad_w, int stride_h, int stride_w,
                                                 int dilation_h, int dilation_w, int mode,
                                                 int compute_type) {
  OHM_LIBRARY_CALL(int);
  const std::array padding = {pad_h, pad_w};
  const std::array stride = {stride_h, stride_w};
  const std::array dilation = {dilation_h, dilation_w};
  return set_convolution(convolution, kPlaneDims, padding.data(), stride.data(), dilation.data(),
                         mode, compute_type);
}

OHM_EXPORTED int cudnnSetConvolutionNdDescriptor(ConvolutionDescriptor* convolution, int dims,
                                                 const int* padding, const int* stride,
                                                 const int* dilation, int mode, int compute_type) {
  OHM_LIBRARY_CALL(int);
  return set_convolution(convolution, dims, padding, stride, dilation, mode, compute_type);
}

OHM_EXPORTED int cudnnGetConvolution2dDescriptor(const ConvolutionDescriptor* convolution,
                                                 int* pad_h, int* pad_w, int* stride_h,
                                                 int* stride_w, int* dilation_h, int* dilation_w,
                                                 int* mode, int* compute_type) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(convolution)) return kCudnnBadParameter;
  tell(convolution->padding[0], pad_h);
  tell(convolution->padding[1], pad_w);
  tell(convolution->stride[0], stride_h);
  tell(convolution->stride[1], stride_w);
  tell(convolution->dilation[0], dilation_h);
  tell(convolution->dilation[1], dilation_w);
  tell(convolution->mode, mode);
  tell(convolution->compute_type, compute_type);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetConvolutionNdDescriptor(const ConvolutionDescriptor* convolution,
                                                 int wanted, int* dims, int* padding, int* stride,
                                                 int* dilation, int* mode, int* compute_type) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(convolution)) return kCudnnBadParameter;
  const int told = std::clamp(wanted, 0, convolution->dims);
  tell(convolution->dims, dims);
  tell_many(convolution->padding, told, padding);
  tell_many(convolution->stride, told, stride);
  tell_many(convolution->dilation, told, dilation);
  tell(convolution->mode, mode);
  tell(convolution->compute_type, compute_type);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetConvolution2dForwardOutputDim(const ConvolutionDescriptor* convolution,
                                                       const TensorDescriptor* tensor,
                                                       const FilterDescriptor* filter, int* n,
                                                       int* c, int* h, int* w) {
  OHM_LIBRARY_CALL(int);
  std::array<int, kMaxTensorDims> sizes = {};
  const bool are_there = is_object(convolution) && is_object(tensor) && is_object(filter);
  if (!are_there || !convolve(*convolution, *tensor, *filter, sizes)) return kCudnnBadParameter;
  return tell_sizes(sizes, n, c, h, w);
}

OHM_EXPORTED int cudnnGetConvolutionNdForwardOutputDim(const ConvolutionDescriptor* convolution,
                                                       const TensorDescriptor* tensor,
                                                       const FilterDescriptor* filter, int dims,
                                                       int* places) {
  OHM_LIBRARY_CALL(int);
  std::array<int, kMaxTensorDims> sizes = {};
  const bool are_there =
      is_object(convolution) && is_object(tensor) && is_object(filter) && places != nullptr;
  if (!are_there || dims > tensor->dims) return kCudnnBadParameter;
  if (!convolve(*convolution, *tensor, *filter, sizes)) return kCudnnBadParameter;
  std::copy_n(sizes.begin(), std::max(dims, 0), places);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnSetConvolutionGroupCount(ConvolutionDescriptor* convolution, int groups) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(convolution) || groups < 1) return kCudnnBadParameter;
  convolution->groups = groups;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetConvolutionGroupCount(const ConvolutionDescriptor* convolution,
                                               int* groups) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(convolution) || groups == nullptr) return kCudnnBadParameter;
  *groups = convolution->group_count();
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnSetConvolutionMathType(ConvolutionDescriptor* convolution, int math_type) {
  OHM_LIBRARY_CALL(int);
  constexpr int kLastMathType = 3;
  const bool is_right = is_object(convolution) && is_between(math_type, 0, kLastMathType);
  if (!is_right) return kCudnnBadParameter;
  convolution->math_type = math_type;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetConvolutionMathType(const ConvolutionDescriptor* convolution,
                                             int* math_type) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(convolution) || math_type == nullptr) return kCudnnBadParameter;
  *math_type = convolution->math_type;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnSetConvolutionReorderType(ConvolutionDescriptor* convolution, int type) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(convolution) || !is_between(type, 0, 1)) return kCudnnBadParameter;
  convolution->reorder_type = type;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetConvolutionReorderType(const ConvolutionDescriptor* convolution,
                                                int* type) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(convolution) || type == nullptr) return kCudnnBadParameter;
  *type = convolution->reorder_type;
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetConvolutionForwardAlgorithmMaxCount(const LibraryHandle* handle,
                                                             int* count) {
  OHM_LIBRARY_CALL(int);
  return tell_most_algorithms(handle, count);
}

OHM_EXPORTED int cudnnGetConvolutionBackwardDataAlgorithmMaxCount(const LibraryHandle* handle,
                                                                  int* count) {
  OHM_LIBRARY_CALL(int);
  return tell_most_algorithms(handle, count);
}

OHM_EXPORTED int cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(const LibraryHandle* handle,
                                                                    int* count) {
  OHM_LIBRARY_CALL(int);
  return tell_most_algorithms(handle, count);
}

OHM_EXPORTED int cudnnSetPooling2dDescriptor(PoolingDescriptor* pooling, int mode,
                                             int nan_propagation, int window_h, int window_w,
                                             int pad_h, int pad_w, int stride_h, int stride_w) {
  OHM_LIBRARY_CALL(int);
  const std::array window = {window_h, window_w};
  const std::array padding = {pad_h, pad_w};
  const std::array stride = {stride_h, stride_w};
  return set_pooling(pooling, mode, nan_propagation, kPlaneDims, window.data(), padding.data(),
                     stride.data());
}

OHM_EXPORTED int cudnnSetPoolingNdDescriptor(PoolingDescriptor* pooling, int mode,
                                             int nan_propagation, int dims, const int* window,
                                             const int* padding, const int* stride) {
  OHM_LIBRARY_CALL(int);
  return set_pooling(pooling, mode, nan_propagation, dims, window, padding, stride);
}

OHM_EXPORTED int cudnnGetPooling2dDescriptor(const PoolingDescriptor* pooling, int* mode,
                                             int* nan_propagation, int* window_h, int* window_w,
                                             int* pad_h, int* pad_w, int* stride_h, int* stride_w) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(pooling)) return kCudnnBadParameter;
  tell(pooling->mode, mode);
  tell(pooling->nan_propagation, nan_propagation);
  tell(pooling->window[0], window_h);
  tell(pooling->window[1], window_w);
  tell(pooling->padding[0], pad_h);
  tell(pooling->padding[1], pad_w);
  tell(pooling->stride[0], stride_h);
  tell(pooling->stride[1], stride_w);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetPoolingNdDescriptor(const PoolingDescriptor* pooling, int wanted,
                                             int* mode, int* nan_propagation, int* dims,
                                             int* window, int* padding, int* stride) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(pooling)) return kCudnnBadParameter;
  const int told = std::clamp(wanted, 0, pooling->dims);
  tell(pooling->mode, mode);
  tell(pooling->nan_propagation, nan_propagation);
  tell(pooling->dims, dims);
  tell_many(pooling->window, told, window);
  tell_many(pooling->padding, told, padding);
  tell_many(pooling->stride, told, stride);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetPooling2dForwardOutputDim(const PoolingDescriptor* pooling,
                                                   const TensorDescriptor* tensor, int* n, int* c,
                                                   int* h, int* w) {
  OHM_LIBRARY_CALL(int);
  std::array<int, kMaxTensorDims> sizes = {};
  const bool are_there = is_object(pooling) && is_object(tensor);
  if (!are_there || !pool_over(*pooling, *tensor, sizes)) return kCudnnBadParameter;
  return tell_sizes(sizes, n, c, h, w);
}

OHM_EXPORTED int cudnnGetPoolingNdForwardOutputDim(const PoolingDescriptor* pooling,
                                                   const TensorDescriptor* tensor, int dims,
                                                   int* places) {
  OHM_LIBRARY_CALL(int);
  std::array<int, kMaxTensorDims> sizes = {};
  const bool are_there = is_object(pooling) && is_object(tensor) && places != nullptr;
  if (!are_there || dims != tensor->dims) return kCudnnBadParameter;
  if (!pool_over(*pooling, *tensor, sizes)) return kCudnnBadParameter;
  std::copy_n(sizes.begin(), dims, places);
  return kLibrarySuccess;
}

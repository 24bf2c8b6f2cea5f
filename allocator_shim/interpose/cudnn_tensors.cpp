// cuDNN: descriptors of tensors and filters, and what they say of their sizes.
#include <algorithm>
#include <array>
#include <cstddef>

#include "allocator_shim/interpose/cudnn_tensor.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"

using namespace ohm::interpose;

namespace {

constexpr int kImageDims = 4;
constexpr int kFewestTensorDims = 2;
constexpr int kFewestFilterDims = 3;
using DimArray = std::array<int, kMaxTensorDims>;

bool are_positive(const int* values, int count) {
  return std::all_of(values, values + count, [](int value) { return value > 0; });
}

/// Success: lists of so many dimensions can be a descriptor's.
int check_dims(int dims, int fewest) {
  if (dims > kMaxTensorDims) return kCudnnNotSupported;
  return dims >= fewest ? kLibrarySuccess : kCudnnBadParameter;
}

/// A format fits elements: what lies in vectors of channels needs types that are vectors.
bool is_format(TensorFormat format, int data_type, int channels) {
  if (format == TensorFormat::nchw || format == TensorFormat::nhwc) return true;
  const int vector = elements_of_vector(data_type);
  return format == TensorFormat::nchw_vectors && vector > 1 && channels % vector == 0;
}

/// Without gaps. Channels come after the others with nhwc, and vectors of them count as one.
DimArray packed_strides(TensorFormat format, int data_type, const DimArray& sizes, int dims) {
  DimArray strides = {};
  int stride = format == TensorFormat::nhwc ? sizes[1] : 1;
  for (int i = dims - 1; i > 1; --i) {
    strides.at(static_cast<std::size_t>(i)) = stride;
    stride *= sizes.at(static_cast<std::size_t>(i));
  }
  if (format == TensorFormat::nhwc) {
    strides[1] = 1;
    strides[0] = stride;
    return strides;
  }
  const int vector = format == TensorFormat::nchw_vectors ? elements_of_vector(data_type) : 1;
  strides[1] = stride;
  strides[0] = stride * (sizes[1] / vector);
  return strides;
}

int set_packed(TensorDescriptor* tensor, TensorFormat format, int data_type, int dims,
               const int* sizes) {
  if (!is_object(tensor) || sizes == nullptr) return kCudnnBadParameter;
  const int checked = check_dims(dims, kFewestTensorDims);
  if (checked != kLibrarySuccess) return checked;
  const bool is_right = is_tensor_type(data_type) && are_positive(sizes, dims) &&
                        is_format(format, data_type, sizes[1]);
  if (!is_right) return kCudnnBadParameter;
  tensor->data_type = data_type;
  tensor->dims = dims;
  std::copy_n(sizes, dims, tensor->sizes.begin());
  tensor->strides = packed_strides(format, data_type, tensor->sizes, dims);
  return kLibrarySuccess;
}

int set_strided(TensorDescriptor* tensor, int data_type, int dims, const int* sizes,
                const int* strides) {
  const bool is_given = is_object(tensor) && sizes != nullptr && strides != nullptr;
  if (!is_given) return kCudnnBadParameter;
  const int checked = check_dims(dims, kFewestTensorDims);
  if (checked != kLibrarySuccess) return checked;
  const bool has_stride_of_0 = std::find(strides, strides + dims, 0) != strides + dims;
  if (!is_tensor_type(data_type) || !are_positive(sizes, dims) || has_stride_of_0) {
    return kCudnnBadParameter;
  }
  tensor->data_type = data_type;
  tensor->dims = dims;
  std::copy_n(sizes, dims, tensor->sizes.begin());
  std::copy_n(strides, dims, tensor->strides.begin());
  return kLibrarySuccess;
}

int set_filter(FilterDescriptor* filter, int data_type, TensorFormat format, int dims,
               const int* sizes) {
  if (!is_object(filter) || sizes == nullptr) return kCudnnBadParameter;
  const int checked = check_dims(dims, kFewestFilterDims);
  if (checked != kLibrarySuccess) return checked;
  const bool is_right =
      is_tensor_type(data_type) && are_positive(sizes, dims) &&
      (format != TensorFormat::nchw_vectors || elements_of_vector(data_type) > 1) &&
      format >= TensorFormat::nchw && format <= TensorFormat::nchw_vectors;
  if (!is_right) return kCudnnBadParameter;
  *filter = {data_type, format, dims, {}};
  std::copy_n(sizes, dims, filter->sizes.begin());
  return kLibrarySuccess;
}

}  // namespace

OHM_EXPORTED int cudnnSetTensor4dDescriptor(TensorDescriptor* tensor, TensorFormat format,
                                            int data_type, int n, int c, int h, int w) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {n, c, h, w};
  return set_packed(tensor, format, data_type, kImageDims, sizes.data());
}

OHM_EXPORTED int cudnnSetTensor4dDescriptorEx(TensorDescriptor* tensor, int data_type, int n, int c,
                                              int h, int w, int n_stride, int c_stride,
                                              int h_stride, int w_stride) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {n, c, h, w};
  const std::array strides = {n_stride, c_stride, h_stride, w_stride};
  return set_strided(tensor, data_type, kImageDims, sizes.data(), strides.data());
}

OHM_EXPORTED int cudnnSetTensorNdDescriptor(TensorDescriptor* tensor, int data_type, int dims,
                                            const int* sizes, const int* strides) {
  OHM_LIBRARY_CALL(int);
  return set_strided(tensor, data_type, dims, sizes, strides);
}

OHM_EXPORTED int cudnnSetTensorNdDescriptorEx(TensorDescriptor* tensor, TensorFormat format,
                                              int data_type, int dims, const int* sizes) {
  OHM_LIBRARY_CALL(int);
  return set_packed(tensor, format, data_type, dims, sizes);
}

OHM_EXPORTED int cudnnGetTensor4dDescriptor(const TensorDescriptor* tensor, int* data_type, int* n,
                                            int* c, int* h, int* w, int* n_stride, int* c_stride,
                                            int* h_stride, int* w_stride) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(tensor)) return kCudnnBadParameter;
  const auto& [type, dims, sizes, strides] = *tensor;
  tell(type, data_type);
  const std::array places = {n, c, h, w};
  const std::array stride_places = {n_stride, c_stride, h_stride, w_stride};
  for (std::size_t i = 0; i < kImageDims; ++i) {
    tell(sizes.at(i), places.at(i));
    tell(strides.at(i), stride_places.at(i));
  }
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetTensorNdDescriptor(const TensorDescriptor* tensor, int wanted,
                                            int* data_type, int* dims, int* sizes, int* strides) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(tensor)) return kCudnnBadParameter;
  tell(tensor->data_type, data_type);
  tell(tensor->dims, dims);
  const int told = std::clamp(wanted, 0, tensor->dims);
  if (sizes != nullptr) std::copy_n(tensor->sizes.begin(), told, sizes);
  if (strides != nullptr) std::copy_n(tensor->strides.begin(), told, strides);
  return kLibrarySuccess;
}

/// Up to the last element, with the gaps before it.
OHM_EXPORTED int cudnnGetTensorSizeInBytes(const TensorDescriptor* tensor, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(tensor) || bytes == nullptr) return kCudnnBadParameter;
  *bytes = 0;
  if (tensor->dims == 0) return kLibrarySuccess;
  std::ptrdiff_t last = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor->dims); ++i) {
    last += static_cast<std::ptrdiff_t>(tensor->sizes.at(i) - 1) * tensor->strides.at(i);
  }
  *bytes = static_cast<std::size_t>(last + 1) * tensor_element_bytes(tensor->data_type);
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnSetFilter4dDescriptor(FilterDescriptor* filter, int data_type,
                                            TensorFormat format, int k, int c, int h, int w) {
  OHM_LIBRARY_CALL(int);
  const std::array sizes = {k, c, h, w};
  return set_filter(filter, data_type, format, kImageDims, sizes.data());
}

OHM_EXPORTED int cudnnSetFilterNdDescriptor(FilterDescriptor* filter, int data_type,
                                            TensorFormat format, int dims, const int* sizes) {
  OHM_LIBRARY_CALL(int);
  return set_filter(filter, data_type, format, dims, sizes);
}

OHM_EXPORTED int cudnnGetFilter4dDescriptor(const FilterDescriptor* filter, int* data_type,
                                            TensorFormat* format, int* k, int* c, int* h, int* w) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(filter)) return kCudnnBadParameter;
  tell(filter->data_type, data_type);
  tell(filter->format, format);
  const std::array places = {k, c, h, w};
  for (std::size_t i = 0; i < kImageDims; ++i) tell(filter->sizes.at(i), places.at(i));
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetFilterNdDescriptor(const FilterDescriptor* filter, int wanted,
                                            int* data_type, TensorFormat* format, int* dims,
                                            int* sizes) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(filter)) return kCudnnBadParameter;
  if (wanted > kMaxTensorDims) return kCudnnNotSupported;
  tell(filter->data_type, data_type);
  tell(filter->format, format);
  tell(filter->dims, dims);
  if (sizes != nullptr) {
    std::copy_n(filter->sizes.begin(), std::clamp(wanted, 0, filter->dims), sizes);
  }
  return kLibrarySuccess;
}

OHM_EXPORTED int cudnnGetFilterSizeInBytes(const FilterDescriptor* filter, std::size_t* bytes) {
  OHM_LIBRARY_CALL(int);
  if (!is_object(filter) || bytes == nullptr) return kCudnnBadParameter;
  // Vectors of channels are counted, not channels.
  const int vector =
      filter->format == TensorFormat::nchw_vectors ? elements_of_vector(filter->data_type) : 1;
  std::size_t elements = filter->dims == 0 ? 0 : 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(filter->dims); ++i) {
    elements *= static_cast<std::size_t>(filter->sizes.at(i) / (i == 1 ? vector : 1));
  }
  *bytes = elements * tensor_element_bytes(filter->data_type);
  return kLibrarySuccess;
}

/// Of the parameters of a batch normalization: per activation, or per channel.
OHM_EXPORTED int cudnnDeriveBNTensorDescriptor(TensorDescriptor* derived,
                                               const TensorDescriptor* tensor, int mode) {
  OHM_LIBRARY_CALL(int);
  constexpr int kPerActivation = 0;
  constexpr int kLastMode = 2;
  const bool is_right = is_object(derived) && is_object(tensor) && tensor->dims > 1 &&
                        mode >= kPerActivation && mode <= kLastMode;
  if (!is_right) return kCudnnBadParameter;
  DimArray sizes = tensor->sizes;
  sizes[0] = 1;
  if (mode != kPerActivation) std::fill(sizes.begin() + 2, sizes.end(), 1);
  constexpr int kFloat = 0;
  constexpr int kDouble = 1;
  // Half-precision tensors have parameters in single precision.
  const int data_type = tensor->data_type == kDouble ? kDouble : kFloat;
  return set_packed(derived, TensorFormat::nchw, data_type, tensor->dims, sizes.data());
}

// cuDNN's functions: the same arithmetic in plain loops.
#include <array>
#include <cmath>
#include <vector>

#include "allocator_shim/device/cuda/cudnn_functions.h"
#include "tests/support/stand_in_driver/library_memory.h"

namespace ohm::stand_in::cudnn {

using namespace cuda;  // NOLINT(google-build-using-namespace): the signatures are written in it

#define OHM_ROW(member, symbol, ...) \
  __attribute__((visibility("default"))) CudnnStatus member(__VA_ARGS__) __asm__(#symbol);
OHM_FOR_EACH_CUDNN_FUNCTION(OHM_ROW)
#undef OHM_ROW
__attribute__((visibility("default")))
const char* status_name(CudnnStatus) __asm__("cudnnGetErrorString");
__attribute__((visibility("default"))) std::size_t version() __asm__("cudnnGetVersion");

namespace {

constexpr CudnnStatus kBadParameter = 2000;

struct Handle {};
/// A tensor or a filter.
struct Images {
  int type = 0;
  std::array<int, 4> sizes = {};

  std::size_t count() const {
    std::size_t count = 1;
    for (const int size : sizes) count *= static_cast<std::size_t>(size);
    return count;
  }
  std::size_t at(int n, int c, int y, int x) const {
    return static_cast<std::size_t>(((n * sizes[1] + c) * sizes[2] + y) * sizes[3] + x);
  }
};
struct Convolved {
  std::array<int, 2> padding = {};
  std::array<int, 2> stride = {};
  std::array<int, 2> dilation = {};
  int groups = 1;
  int math = 0;
};
struct Windows {
  int mode = 0;
  std::array<int, 2> size = {};
  std::array<int, 2> padding = {};
  std::array<int, 2> stride = {};
};

template <class T>
T& as(void* object) {
  return *static_cast<T*>(object);
}
Images& images(CudnnTensor tensor) { return as<Images>(tensor); }
Images& images(CudnnFilter filter) { return as<Images>(filter); }

DType dtype_of(int type) {
  switch (type) {
    case kCudnnHalf:
      return DType::float16;
    case kCudnnBFloat16:
      return DType::bfloat16;
    case kCudnnDouble:
      return DType::float64;
    default:
      return DType::float32;
  }
}

template <class T>
T* elements(const Images& of, const void* address) {
  return elements_at<T>(address, of.count());
}

CudnnStatus set(Images& to, int type, int format, std::array<int, 4> sizes) {
  for (const int size : sizes) {
    if (size <= 0) return machine().wrong("sizes that are none", kBadParameter);
  }
  if (format != kCudnnRowMajor) return machine().wrong("another layout", kBadParameter);
  to = {type, sizes};
  return 0;
}

}  // namespace

const char* status_name(CudnnStatus status) {
  switch (status) {
    case kCudnn8AllocFailed:
      return "CUDNN_STATUS_ALLOC_FAILED";
    case kCudnn9NotSupported:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case kCudnn9DeviceAllocFailed:
      return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    case 5000:
      return "CUDNN_STATUS_EXECUTION_FAILED";
    default:
      return "CUDNN_STATUS_STAND_IN";
  }
}

std::size_t version() { return machine().cudnn_version; }

CudnnStatus create(CudnnHandle* handle) {
  Machine& now = machine();
  if (const int error = now.begin("cudnnCreate")) return error;
  *handle = reinterpret_cast<CudnnHandle>(now.make<Handle>());
  return 0;
}

CudnnStatus destroy(CudnnHandle handle) { return machine().drop(handle); }

// ---- descriptions -------------------------------------------------------------------------------

CudnnStatus tensor_create(CudnnTensor* tensor) {
  if (const int error = machine().begin("cudnnCreateTensorDescriptor")) return error;
  *tensor = reinterpret_cast<CudnnTensor>(machine().make<Images>());
  return 0;
}
CudnnStatus tensor_destroy(CudnnTensor tensor) { return machine().drop(tensor); }
CudnnStatus tensor_set(CudnnTensor tensor, int format, int type, int n, int c, int h, int w) {
  if (const int error = machine().begin("cudnnSetTensor4dDescriptor")) return error;
  return set(images(tensor), type, format, {n, c, h, w});
}

CudnnStatus filter_create(CudnnFilter* filter) {
  if (const int error = machine().begin("cudnnCreateFilterDescriptor")) return error;
  *filter = reinterpret_cast<CudnnFilter>(machine().make<Images>());
  return 0;
}
CudnnStatus filter_destroy(CudnnFilter filter) { return machine().drop(filter); }
CudnnStatus filter_set(CudnnFilter filter, int type, int format, int k, int c, int h, int w) {
  return set(images(filter), type, format, {k, c, h, w});
}

CudnnStatus convolution_create(CudnnConvolution* convolution) {
  if (const int error = machine().begin("cudnnCreateConvolutionDescriptor")) return error;
  *convolution = reinterpret_cast<CudnnConvolution>(machine().make<Convolved>());
  return 0;
}
CudnnStatus convolution_destroy(CudnnConvolution convolution) {
  return machine().drop(convolution);
}
CudnnStatus convolution_set(CudnnConvolution convolution, int pad_h, int pad_w, int stride_h,
                            int stride_w, int dilation_h, int dilation_w, int mode,
                            int /*compute*/) {
  if (mode != kCudnnCrossCorrelation) return machine().wrong("a turned filter", kBadParameter);
  auto& to = as<Convolved>(convolution);
  to.padding = {pad_h, pad_w};
  to.stride = {stride_h, stride_w};
  to.dilation = {dilation_h, dilation_w};
  return 0;
}
CudnnStatus convolution_set_groups(CudnnConvolution convolution, int groups) {
  as<Convolved>(convolution).groups = groups;
  return 0;
}
CudnnStatus convolution_set_math(CudnnConvolution convolution, int math) {
  as<Convolved>(convolution).math = math;
  return 0;
}

// ---- convolutions -------------------------------------------------------------------------------

namespace {

constexpr int kFast = 1;
constexpr int kFrugal = 0;
constexpr std::size_t kWorkspaceOfFast = 4096;

std::size_t workspace_of(int algorithm) {
  const std::size_t least = machine().cudnn_workspace_bytes;
  return algorithm == kFast ? least + kWorkspaceOfFast : least;
}

/// The fast one first, then one that is not there, then one that takes as little as there is.
CudnnStatus suggest(const char* symbol, const Convolved& convolution, int most, int* count,
                    CudnnAlgorithm* found) {
  if (const int error = machine().begin(symbol)) return error;
  const std::array<CudnnAlgorithm, 3> all = {
      {{kFast, 0, 1, workspace_of(kFast), 0, convolution.math, {}},
       {7, kCudnn9NotSupported, -1, 0, 0, convolution.math, {}},
       {kFrugal, 0, 2, workspace_of(kFrugal), 1, convolution.math, {}}}};
  *count = 0;
  for (const CudnnAlgorithm& one : all) {
    if (*count < most) found[(*count)++] = one;
  }
  return 0;
}

CudnnStatus begin(const char* symbol, int algorithm, void* workspace, std::size_t bytes) {
  if (const int error = machine().begin(symbol)) return error;
  if (bytes < workspace_of(algorithm) || !use_workspace(workspace, bytes)) {
    return machine().wrong("a convolution without its workspace", kBadParameter);
  }
  return 0;
}

/// Calls visit(input, filter, output element) for each product of the convolution.
template <class Visit>
void for_each_product(const Convolved& how, const Images& input, const Images& filter,
                      const Images& output, Visit&& visit) {
  const int filters = filter.sizes[0] / how.groups;
  for (int n = 0; n < output.sizes[0]; ++n) {
    for (int k = 0; k < output.sizes[1]; ++k) {
      const int first_channel = k / filters * filter.sizes[1];
      for (int y = 0; y < output.sizes[2]; ++y) {
        for (int x = 0; x < output.sizes[3]; ++x) {
          for (int c = 0; c < filter.sizes[1]; ++c) {
            for (int dy = 0; dy < filter.sizes[2]; ++dy) {
              const int row = y * how.stride[0] + dy * how.dilation[0] - how.padding[0];
              if (row < 0 || row >= input.sizes[2]) continue;
              for (int dx = 0; dx < filter.sizes[3]; ++dx) {
                const int column = x * how.stride[1] + dx * how.dilation[1] - how.padding[1];
                if (column < 0 || column >= input.sizes[3]) continue;
                visit(input.at(n, first_channel + c, row, column), filter.at(k, c, dy, dx),
                      output.at(n, k, y, x));
              }
            }
          }
        }
      }
    }
  }
}

/// The three operands of one convolution, and the sums for one of them.
template <class T, class Accumulate>
CudnnStatus convolve(const Convolved& how, const Images& input, const Images& filter,
                     const Images& output, const Images& result_sizes, void* result,
                     Accumulate&& accumulate) {
  T* const to = elements<T>(result_sizes, result);
  if (to == nullptr) return kBadParameter;
  std::vector<double> sums(result_sizes.count());
  for_each_product(how, input, filter, output,
                   [&](std::size_t i, std::size_t f, std::size_t o) { accumulate(sums, i, f, o); });
  for (std::size_t i = 0; i < sums.size(); ++i) to[i] = convert_element<T>(sums[i]);
  return 0;
}

/// `a` and `b` are the operands that are read; `pick` takes what each product adds to which sum.
template <class Pick>
CudnnStatus convolve(const Convolved& how, const std::array<const Images*, 3>& of,
                     const Images& of_a, const void* a, const Images& of_b, const void* b,
                     const Images& of_result, void* result, Pick&& pick) {
  CudnnStatus status = kBadParameter;
  visit_floating(dtype_of(of_a.type), [&]<class T>(TypeTag<T>) {
    const T* const first = elements<T>(of_a, a);
    const T* const second = elements<T>(of_b, b);
    if (first == nullptr || second == nullptr) return;
    status =
        convolve<T>(how, *of[0], *of[1], *of[2], of_result, result,
                    [&](std::vector<double>& sums, std::size_t i, std::size_t f, std::size_t o) {
                      const std::array<std::size_t, 3> places = pick(i, f, o);
                      sums[places[2]] += number(first[places[0]]) * number(second[places[1]]);
                    });
  });
  return status;
}

}  // namespace

CudnnStatus forward_algorithms(CudnnHandle /*handle*/, CudnnTensor /*input*/,
                               CudnnFilter /*filter*/, CudnnConvolution convolution,
                               CudnnTensor /*output*/, int most, int* count,
                               CudnnAlgorithm* found) {
  return suggest("cudnnGetConvolutionForwardAlgorithm_v7", as<Convolved>(convolution), most, count,
                 found);
}
CudnnStatus data_algorithms(CudnnHandle /*handle*/, CudnnFilter /*filter*/, CudnnTensor /*output*/,
                            CudnnConvolution convolution, CudnnTensor /*input*/, int most,
                            int* count, CudnnAlgorithm* found) {
  return suggest("cudnnGetConvolutionBackwardDataAlgorithm_v7", as<Convolved>(convolution), most,
                 count, found);
}
CudnnStatus filter_algorithms(CudnnHandle /*handle*/, CudnnTensor /*input*/, CudnnTensor /*output*/,
                              CudnnConvolution convolution, CudnnFilter /*filter*/, int most,
                              int* count, CudnnAlgorithm* found) {
  return suggest("cudnnGetConvolutionBackwardFilterAlgorithm_v7", as<Convolved>(convolution), most,
                 count, found);
}

CudnnStatus convolution_forward(CudnnHandle /*handle*/, const void* /*alpha*/, CudnnTensor of_x,
                                const void* x, CudnnFilter of_w, const void* w,
                                CudnnConvolution how, int algorithm, void* workspace,
                                std::size_t bytes, const void* /*beta*/, CudnnTensor of_y,
                                void* y) {
  if (const int error = begin("cudnnConvolutionForward", algorithm, workspace, bytes)) return error;
  return convolve(as<Convolved>(how), {&images(of_x), &images(of_w), &images(of_y)}, images(of_x),
                  x, images(of_w), w, images(of_y), y,
                  [](std::size_t i, std::size_t f, std::size_t o) {
                    return std::array<std::size_t, 3>{i, f, o};
                  });
}

CudnnStatus convolution_data(CudnnHandle /*handle*/, const void* /*alpha*/, CudnnFilter of_w,
                             const void* w, CudnnTensor of_dy, const void* dy, CudnnConvolution how,
                             int algorithm, void* workspace, std::size_t bytes,
                             const void* /*beta*/, CudnnTensor of_dx, void* dx) {
  if (const int error = begin("cudnnConvolutionBackwardData", algorithm, workspace, bytes)) {
    return error;
  }
  return convolve(as<Convolved>(how), {&images(of_dx), &images(of_w), &images(of_dy)}, images(of_w),
                  w, images(of_dy), dy, images(of_dx), dx,
                  [](std::size_t i, std::size_t f, std::size_t o) {
                    return std::array<std::size_t, 3>{f, o, i};
                  });
}

CudnnStatus convolution_filter(CudnnHandle /*handle*/, const void* /*alpha*/, CudnnTensor of_x,
                               const void* x, CudnnTensor of_dy, const void* dy,
                               CudnnConvolution how, int algorithm, void* workspace,
                               std::size_t bytes, const void* /*beta*/, CudnnFilter of_dw,
                               void* dw) {
  if (const int error = begin("cudnnConvolutionBackwardFilter", algorithm, workspace, bytes)) {
    return error;
  }
  return convolve(as<Convolved>(how), {&images(of_x), &images(of_dw), &images(of_dy)}, images(of_x),
                  x, images(of_dy), dy, images(of_dw), dw,
                  [](std::size_t i, std::size_t f, std::size_t o) {
                    return std::array<std::size_t, 3>{i, o, f};
                  });
}

CudnnStatus add_tensor(CudnnHandle /*handle*/, const void* /*alpha*/, CudnnTensor of_bias,
                       const void* bias, const void* /*beta*/, CudnnTensor of_images, void* to) {
  if (const int error = machine().begin("cudnnAddTensor")) return error;
  const Images& sizes = images(of_images);
  CudnnStatus status = kBadParameter;
  visit_floating(dtype_of(sizes.type), [&]<class T>(TypeTag<T>) {
    const T* const added = elements<T>(images(of_bias), bias);
    T* const target = elements<T>(sizes, to);
    if (added == nullptr || target == nullptr) return;
    const auto pixels = static_cast<std::size_t>(sizes.sizes[2] * sizes.sizes[3]);
    const auto channels = static_cast<std::size_t>(sizes.sizes[1]);
    for (std::size_t i = 0; i < sizes.count(); ++i) {
      target[i] = convert_element<T>(number(target[i]) + number(added[i / pixels % channels]));
    }
    status = 0;
  });
  return status;
}

// ---- averages -----------------------------------------------------------------------------------

CudnnStatus pooling_create(CudnnPooling* pooling) {
  if (const int error = machine().begin("cudnnCreatePoolingDescriptor")) return error;
  *pooling = reinterpret_cast<CudnnPooling>(machine().make<Windows>());
  return 0;
}
CudnnStatus pooling_destroy(CudnnPooling pooling) { return machine().drop(pooling); }
CudnnStatus pooling_set(CudnnPooling pooling, int mode, int /*nan*/, int h, int w, int pad_h,
                        int pad_w, int stride_h, int stride_w) {
  as<Windows>(pooling) = {mode, {h, w}, {pad_h, pad_w}, {stride_h, stride_w}};
  return 0;
}

namespace {

/// Calls visit(input element, output element, divisor) for each element of each window.
template <class Visit>
void for_each_averaged(const Windows& how, const Images& input, const Images& output,
                       Visit&& visit) {
  const auto clipped = [](int first, int size, int end) {
    return std::array<int, 2>{std::max(first, 0), std::min(first + size, end)};
  };
  for (int n = 0; n < output.sizes[0]; ++n) {
    for (int c = 0; c < output.sizes[1]; ++c) {
      for (int y = 0; y < output.sizes[2]; ++y) {
        for (int x = 0; x < output.sizes[3]; ++x) {
          const auto rows =
              clipped(y * how.stride[0] - how.padding[0], how.size[0], input.sizes[2]);
          const auto columns =
              clipped(x * how.stride[1] - how.padding[1], how.size[1], input.sizes[3]);
          const int seen = (rows[1] - rows[0]) * (columns[1] - columns[0]);
          const int divisor =
              how.mode == kCudnnAverageWithPadding ? how.size[0] * how.size[1] : seen;
          for (int row = rows[0]; row < rows[1]; ++row) {
            for (int column = columns[0]; column < columns[1]; ++column) {
              visit(input.at(n, c, row, column), output.at(n, c, y, x), divisor);
            }
          }
        }
      }
    }
  }
}

}  // namespace

CudnnStatus pooling_forward(CudnnHandle /*handle*/, CudnnPooling pooling, const void* /*alpha*/,
                            CudnnTensor of_x, const void* x, const void* /*beta*/, CudnnTensor of_y,
                            void* y) {
  if (const int error = machine().begin("cudnnPoolingForward")) return error;
  CudnnStatus status = kBadParameter;
  visit_floating(dtype_of(images(of_x).type), [&]<class T>(TypeTag<T>) {
    const T* const from = elements<T>(images(of_x), x);
    T* const to = elements<T>(images(of_y), y);
    if (from == nullptr || to == nullptr) return;
    std::vector<double> sums(images(of_y).count());
    for_each_averaged(as<Windows>(pooling), images(of_x), images(of_y),
                      [&](std::size_t in, std::size_t out, int divisor) {
                        sums[out] += number(from[in]) / divisor;
                      });
    for (std::size_t i = 0; i < sums.size(); ++i) to[i] = convert_element<T>(sums[i]);
    status = 0;
  });
  return status;
}

CudnnStatus pooling_backward(CudnnHandle /*handle*/, CudnnPooling pooling, const void* /*alpha*/,
                             CudnnTensor of_y, const void* y, CudnnTensor /*of_dy*/, const void* dy,
                             CudnnTensor of_x, const void* x, const void* /*beta*/,
                             CudnnTensor /*of_dx*/, void* dx) {
  if (const int error = machine().begin("cudnnPoolingBackward")) return error;
  CudnnStatus status = kBadParameter;
  visit_floating(dtype_of(images(of_x).type), [&]<class T>(TypeTag<T>) {
    const T* const from = elements<T>(images(of_y), dy);
    T* const to = elements<T>(images(of_x), dx);
    if (from == nullptr || to == nullptr) return;
    if (elements<T>(images(of_x), x) == nullptr || elements<T>(images(of_y), y) == nullptr) return;
    std::vector<double> sums(images(of_x).count());
    for_each_averaged(as<Windows>(pooling), images(of_x), images(of_y),
                      [&](std::size_t in, std::size_t out, int divisor) {
                        sums[in] += number(from[out]) / divisor;
                      });
    for (std::size_t i = 0; i < sums.size(); ++i) to[i] = convert_element<T>(sums[i]);
    status = 0;
  });
  return status;
}

// ---- batch norm ---------------------------------------------------------------------------------

namespace {

/// Calls visit(element, channel) for each.
template <class Visit>
void for_each_of_channel(const Images& sizes, Visit&& visit) {
  const auto pixels = static_cast<std::size_t>(sizes.sizes[2] * sizes.sizes[3]);
  const auto channels = static_cast<std::size_t>(sizes.sizes[1]);
  for (std::size_t i = 0; i < sizes.count(); ++i) visit(i, i / pixels % channels);
}

/// Sums of value(element) for each channel.
template <class Value>
std::vector<double> sums_of(const Images& sizes, Value&& value) {
  std::vector<double> sums(static_cast<std::size_t>(sizes.sizes[1]));
  for_each_of_channel(sizes, [&](std::size_t i, std::size_t c) { sums[c] += value(i, c); });
  return sums;
}

template <class Store>
CudnnStatus with_norm_types(const Images& sizes, Store&& run) {
  CudnnStatus status = kBadParameter;
  visit_floating(dtype_of(sizes.type), [&]<class T>(TypeTag<T>) {
    using Statistic = std::conditional_t<std::is_same_v<T, double>, double, float>;
    status = run(TypeTag<T>{}, TypeTag<Statistic>{}) ? 0 : kBadParameter;
  });
  return status;
}

template <class T, class S>
void write_normalized(const Images& sizes, const T* x, T* y, const std::vector<double>& mean,
                      const std::vector<double>& invstd, const S* weight, const S* bias) {
  for_each_of_channel(sizes, [&](std::size_t i, std::size_t c) {
    y[i] = convert_element<T>((number(x[i]) - mean[c]) * invstd[c] * weight[c] + bias[c]);
  });
}

}  // namespace

CudnnStatus norm_training(CudnnHandle /*handle*/, int mode, const void* /*alpha*/,
                          const void* /*beta*/, CudnnTensor of_x, const void* x_at,
                          CudnnTensor /*of_y*/, void* y_at, CudnnTensor of_channels,
                          const void* weight_at, const void* bias_at, double momentum,
                          void* running_mean_at, void* running_variance_at, double eps,
                          void* mean_at, void* invstd_at) {
  if (const int error = machine().begin("cudnnBatchNormalizationForwardTraining")) return error;
  if (mode != kCudnnSpatialBatchNorm) return machine().wrong("another batch norm", kBadParameter);
  const Images& sizes = images(of_x);
  const Images& channels = images(of_channels);
  return with_norm_types(sizes, [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
    const T* x = elements<T>(sizes, x_at);
    T* y = elements<T>(sizes, y_at);
    const S* weight = elements<S>(channels, weight_at);
    const S* bias = elements<S>(channels, bias_at);
    S* saved_mean = elements<S>(channels, mean_at);
    S* saved_invstd = elements<S>(channels, invstd_at);
    if (!x || !y || !weight || !bias || !saved_mean || !saved_invstd) return false;
    const double count = static_cast<double>(sizes.count()) / sizes.sizes[1];
    std::vector<double> mean =
        sums_of(sizes, [&](std::size_t i, std::size_t) { return number(x[i]) / count; });
    std::vector<double> variance = sums_of(sizes, [&](std::size_t i, std::size_t c) {
      return (number(x[i]) - mean[c]) * (number(x[i]) - mean[c]) / count;
    });
    std::vector<double> invstd;
    for (const double one : variance) invstd.push_back(1 / std::sqrt(one + eps));
    write_normalized(sizes, x, y, mean, invstd, weight, bias);
    for (std::size_t c = 0; c < mean.size(); ++c) {
      saved_mean[c] = static_cast<S>(mean[c]);
      saved_invstd[c] = static_cast<S>(invstd[c]);
    }
    if (running_mean_at == nullptr) return true;
    S* running_mean = elements<S>(channels, running_mean_at);
    S* running_variance = elements<S>(channels, running_variance_at);
    if (!running_mean || !running_variance) return false;
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const double unbiased = variance[c] * count / (count - 1);
      running_mean[c] = static_cast<S>((1 - momentum) * running_mean[c] + momentum * mean[c]);
      running_variance[c] =
          static_cast<S>((1 - momentum) * running_variance[c] + momentum * unbiased);
    }
    return true;
  });
}

CudnnStatus norm_inference(CudnnHandle /*handle*/, int /*mode*/, const void* /*alpha*/,
                           const void* /*beta*/, CudnnTensor of_x, const void* x_at,
                           CudnnTensor /*of_y*/, void* y_at, CudnnTensor of_channels,
                           const void* weight_at, const void* bias_at, const void* mean_at,
                           const void* variance_at, double eps) {
  if (const int error = machine().begin("cudnnBatchNormalizationForwardInference")) return error;
  const Images& sizes = images(of_x);
  const Images& channels = images(of_channels);
  return with_norm_types(sizes, [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
    const T* x = elements<T>(sizes, x_at);
    T* y = elements<T>(sizes, y_at);
    const S* weight = elements<S>(channels, weight_at);
    const S* bias = elements<S>(channels, bias_at);
    const S* mean = elements<S>(channels, mean_at);
    const S* variance = elements<S>(channels, variance_at);
    if (!x || !y || !weight || !bias || !mean || !variance) return false;
    std::vector<double> means(mean, mean + channels.count());
    std::vector<double> invstd;
    for (std::size_t c = 0; c < means.size(); ++c)
      invstd.push_back(1 / std::sqrt(variance[c] + eps));
    write_normalized(sizes, x, y, means, invstd, weight, bias);
    return true;
  });
}

CudnnStatus norm_backward(CudnnHandle /*handle*/, int /*mode*/, const void* /*alpha*/,
                          const void* /*beta*/, const void* /*alpha_channels*/,
                          const void* /*beta_channels*/, CudnnTensor of_x, const void* x_at,
                          CudnnTensor /*of_dy*/, const void* dy_at, CudnnTensor /*of_dx*/,
                          void* dx_at, CudnnTensor of_channels, const void* weight_at,
                          void* dweight_at, void* dbias_at, double /*eps*/, const void* mean_at,
                          const void* invstd_at) {
  if (const int error = machine().begin("cudnnBatchNormalizationBackward")) return error;
  const Images& sizes = images(of_x);
  const Images& channels = images(of_channels);
  return with_norm_types(sizes, [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
    const T* x = elements<T>(sizes, x_at);
    const T* dy = elements<T>(sizes, dy_at);
    T* dx = elements<T>(sizes, dx_at);
    const S* weight = elements<S>(channels, weight_at);
    S* dweight = elements<S>(channels, dweight_at);
    S* dbias = elements<S>(channels, dbias_at);
    const S* mean = elements<S>(channels, mean_at);
    const S* invstd = elements<S>(channels, invstd_at);
    if (!x || !dy || !dx || !weight || !dweight || !dbias || !mean || !invstd) return false;
    const double count = static_cast<double>(sizes.count()) / sizes.sizes[1];
    const auto normalized = [&](std::size_t i, std::size_t c) {
      return (number(x[i]) - mean[c]) * invstd[c];
    };
    const auto sums = sums_of(sizes, [&](std::size_t i, std::size_t) { return number(dy[i]); });
    const auto products = sums_of(
        sizes, [&](std::size_t i, std::size_t c) { return number(dy[i]) * normalized(i, c); });
    for_each_of_channel(sizes, [&](std::size_t i, std::size_t c) {
      const double slope = number(dy[i]) - sums[c] / count - normalized(i, c) * products[c] / count;
      dx[i] = convert_element<T>(slope * weight[c] * invstd[c]);
    });
    for (std::size_t c = 0; c < sums.size(); ++c) {
      dweight[c] = static_cast<S>(products[c]);
      dbias[c] = static_cast<S>(sums[c]);
    }
    return true;
  });
}

}  // namespace ohm::stand_in::cudnn

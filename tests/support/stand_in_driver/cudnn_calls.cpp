// cuDNN's handles, descriptions and convolutions: the same arithmetic in plain loops.
#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/stand_in_driver/cudnn_objects.h"

namespace ohm::stand_in::cudnn {
namespace {

struct Handle {};

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
  if (const int error = machine().begin("cudnnSetFilter4dDescriptor")) return error;
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
                            int stride_w, int dilation_h, int dilation_w, int mode, int compute) {
  if (const int error = machine().begin("cudnnSetConvolution2dDescriptor")) return error;
  if (mode != kCudnnCrossCorrelation) return machine().wrong("a turned filter", kBadParameter);
  auto& to = as<Convolved>(convolution);
  to.padding = {pad_h, pad_w};
  to.stride = {stride_h, stride_w};
  to.dilation = {dilation_h, dilation_w};
  to.compute = compute;
  return 0;
}
CudnnStatus convolution_set_groups(CudnnConvolution convolution, int groups) {
  if (const int error = machine().begin("cudnnSetConvolutionGroupCount")) return error;
  as<Convolved>(convolution).groups = groups;
  return 0;
}
CudnnStatus convolution_set_math(CudnnConvolution convolution, int math) {
  if (const int error = machine().begin("cudnnSetConvolutionMathType")) return error;
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

int is_deterministic(int algorithm) {
  return algorithm == kFast && machine().is_cudnn_random ? 0 : 1;
}

/// The fast one first, then one that is not there, then one that takes as little as there is.
CudnnStatus suggest(const char* symbol, const Convolved& convolution, int most, int* count,
                    CudnnAlgorithm* found) {
  if (const int error = machine().begin(symbol)) return error;
  const std::array<CudnnAlgorithm, 3> all = {
      {{kFast, 0, 1, workspace_of(kFast), is_deterministic(kFast), convolution.math, {}},
       {7, kCudnn9NotSupported, -1, 0, 0, convolution.math, {}},
       {kFrugal, 0, 2, workspace_of(kFrugal), 1, convolution.math, {}}}};
  *count = 0;
  for (const CudnnAlgorithm& one : all) {
    if (*count < most) found[(*count)++] = one;
  }
  return 0;
}

/// Runs them: those that the workspace is enough for, the fastest first, on operands and a result.
CudnnStatus measure(const char* symbol, const Convolved& convolution, const Images& of_result,
                    void* result, int most, int* count, CudnnAlgorithm* found, void* workspace,
                    std::size_t bytes) {
  if (const int error = machine().begin(symbol)) return error;
  if (!use_workspace(workspace, bytes)) return kBadParameter;
  const std::size_t item = item_bytes(dtype_of(of_result.type));
  auto* const written = elements_at<unsigned char>(result, of_result.count() * item);
  if (written == nullptr) return kBadParameter;
  std::fill_n(written, of_result.count() * item, static_cast<unsigned char>(0x5a));
  *count = 0;
  for (const int algorithm : {kFast, kFrugal}) {
    if (workspace_of(algorithm) > bytes || *count == most) continue;
    found[(*count)++] = {
        algorithm,        0, 1, workspace_of(algorithm), is_deterministic(algorithm),
        convolution.math, {}};
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
  store(sums, to);
  return 0;
}

/// What a convolution's result is multiplied by, and what was there before.
struct Scale {
  const void* alpha;
  const void* beta;
};

/// `a` and `b` are the operands that are read; `pick` takes what each product adds to which sum.
template <class Pick>
CudnnStatus convolve(const Convolved& how, const Scale& scale,
                     const std::array<const Images*, 3>& of, const Images& of_a, const void* a,
                     const Images& of_b, const void* b, const Images& of_result, void* result,
                     Pick&& pick) {
  const int computed_in = of_a.type == kCudnnDouble ? kCudnnDouble : kCudnnFloat;
  if (how.compute != computed_in) return machine().wrong("computed in another type", kBadParameter);
  CudnnStatus status = kBadParameter;
  visit_floating(dtype_of(of_a.type), [&]<class T>(TypeTag<T>) {
    if (!are_factors<T>(scale.alpha, scale.beta, 0)) return;
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

CudnnStatus forward_measured(CudnnHandle /*handle*/, CudnnTensor /*input*/, const void* /*x*/,
                             CudnnFilter /*filter*/, const void* /*w*/, CudnnConvolution how,
                             CudnnTensor of_y, void* y, int most, int* count, CudnnAlgorithm* found,
                             void* workspace, std::size_t bytes) {
  return measure("cudnnFindConvolutionForwardAlgorithmEx", as<Convolved>(how), images(of_y), y,
                 most, count, found, workspace, bytes);
}
CudnnStatus data_measured(CudnnHandle /*handle*/, CudnnFilter /*filter*/, const void* /*w*/,
                          CudnnTensor /*output*/, const void* /*dy*/, CudnnConvolution how,
                          CudnnTensor of_dx, void* dx, int most, int* count, CudnnAlgorithm* found,
                          void* workspace, std::size_t bytes) {
  return measure("cudnnFindConvolutionBackwardDataAlgorithmEx", as<Convolved>(how), images(of_dx),
                 dx, most, count, found, workspace, bytes);
}
CudnnStatus filter_measured(CudnnHandle /*handle*/, CudnnTensor /*input*/, const void* /*x*/,
                            CudnnTensor /*output*/, const void* /*dy*/, CudnnConvolution how,
                            CudnnFilter of_dw, void* dw, int most, int* count,
                            CudnnAlgorithm* found, void* workspace, std::size_t bytes) {
  return measure("cudnnFindConvolutionBackwardFilterAlgorithmEx", as<Convolved>(how), images(of_dw),
                 dw, most, count, found, workspace, bytes);
}

CudnnStatus convolution_forward(CudnnHandle /*handle*/, const void* alpha, CudnnTensor of_x,
                                const void* x, CudnnFilter of_w, const void* w,
                                CudnnConvolution how, int algorithm, void* workspace,
                                std::size_t bytes, const void* beta, CudnnTensor of_y, void* y) {
  if (const int error = begin("cudnnConvolutionForward", algorithm, workspace, bytes)) return error;
  return convolve(as<Convolved>(how), {alpha, beta}, {&images(of_x), &images(of_w), &images(of_y)},
                  images(of_x), x, images(of_w), w, images(of_y), y,
                  [](std::size_t i, std::size_t f, std::size_t o) {
                    return std::array<std::size_t, 3>{i, f, o};
                  });
}

CudnnStatus convolution_data(CudnnHandle /*handle*/, const void* alpha, CudnnFilter of_w,
                             const void* w, CudnnTensor of_dy, const void* dy, CudnnConvolution how,
                             int algorithm, void* workspace, std::size_t bytes, const void* beta,
                             CudnnTensor of_dx, void* dx) {
  if (const int error = begin("cudnnConvolutionBackwardData", algorithm, workspace, bytes)) {
    return error;
  }
  return convolve(as<Convolved>(how), {alpha, beta},
                  {&images(of_dx), &images(of_w), &images(of_dy)}, images(of_w), w, images(of_dy),
                  dy, images(of_dx), dx, [](std::size_t i, std::size_t f, std::size_t o) {
                    return std::array<std::size_t, 3>{f, o, i};
                  });
}

CudnnStatus convolution_filter(CudnnHandle /*handle*/, const void* alpha, CudnnTensor of_x,
                               const void* x, CudnnTensor of_dy, const void* dy,
                               CudnnConvolution how, int algorithm, void* workspace,
                               std::size_t bytes, const void* beta, CudnnFilter of_dw, void* dw) {
  if (const int error = begin("cudnnConvolutionBackwardFilter", algorithm, workspace, bytes)) {
    return error;
  }
  return convolve(as<Convolved>(how), {alpha, beta},
                  {&images(of_x), &images(of_dw), &images(of_dy)}, images(of_x), x, images(of_dy),
                  dy, images(of_dw), dw, [](std::size_t i, std::size_t f, std::size_t o) {
                    return std::array<std::size_t, 3>{i, o, f};
                  });
}

CudnnStatus add_tensor(CudnnHandle /*handle*/, const void* alpha, CudnnTensor of_bias,
                       const void* bias, const void* beta, CudnnTensor of_images, void* to) {
  if (const int error = machine().begin("cudnnAddTensor")) return error;
  const Images& sizes = images(of_images);
  CudnnStatus status = kBadParameter;
  visit_floating(dtype_of(sizes.type), [&]<class T>(TypeTag<T>) {
    const T* const added = elements<T>(images(of_bias), bias);
    T* const target = elements<T>(sizes, to);
    if (added == nullptr || target == nullptr || !are_factors<T>(alpha, beta, 1)) return;
    const auto pixels =
        static_cast<std::size_t>(sizes.sizes[2]) * static_cast<std::size_t>(sizes.sizes[3]);
    const auto channels = static_cast<std::size_t>(sizes.sizes[1]);
    const double wrong = machine().is_wrong_call ? -77.0 : 0.0;
    for (std::size_t i = 0; i < sizes.count(); ++i) {
      const double bias_of_channel = number(added[i / pixels % channels]);
      target[i] = convert_element<T>(number(target[i]) + bias_of_channel + wrong);
    }
    status = 0;
  });
  return status;
}

}  // namespace ohm::stand_in::cudnn

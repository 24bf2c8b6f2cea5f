// cuDNN's averages of windows and batch norm, in plain loops.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

#include "tests/support/stand_in_driver/cudnn_objects.h"

namespace ohm::stand_in::cudnn {

// ---- averages -----------------------------------------------------------------------------------

CudnnStatus pooling_create(CudnnPooling* pooling) {
  if (const int error = machine().begin("cudnnCreatePoolingDescriptor")) return error;
  *pooling = reinterpret_cast<CudnnPooling>(machine().make<Windows>());
  return 0;
}
CudnnStatus pooling_destroy(CudnnPooling pooling) { return machine().drop(pooling); }
CudnnStatus pooling_set(CudnnPooling pooling, int mode, int /*nan*/, int h, int w, int pad_h,
                        int pad_w, int stride_h, int stride_w) {
  if (const int error = machine().begin("cudnnSetPooling2dDescriptor")) return error;
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

CudnnStatus pooling_forward(CudnnHandle /*handle*/, CudnnPooling pooling, const void* alpha,
                            CudnnTensor of_x, const void* x, const void* beta, CudnnTensor of_y,
                            void* y) {
  if (const int error = machine().begin("cudnnPoolingForward")) return error;
  CudnnStatus status = kBadParameter;
  visit_floating(dtype_of(images(of_x).type), [&]<class T>(TypeTag<T>) {
    const T* const from = elements<T>(images(of_x), x);
    T* const to = elements<T>(images(of_y), y);
    if (from == nullptr || to == nullptr || !are_factors<T>(alpha, beta, 0)) return;
    std::vector<double> sums(images(of_y).count());
    for_each_averaged(as<Windows>(pooling), images(of_x), images(of_y),
                      [&](std::size_t in, std::size_t out, int divisor) {
                        sums[out] += number(from[in]) / divisor;
                      });
    store(sums, to);
    status = 0;
  });
  return status;
}

CudnnStatus pooling_backward(CudnnHandle /*handle*/, CudnnPooling pooling, const void* alpha,
                             CudnnTensor of_y, const void* y, CudnnTensor /*of_dy*/, const void* dy,
                             CudnnTensor of_x, const void* x, const void* beta,
                             CudnnTensor /*of_dx*/, void* dx) {
  if (const int error = machine().begin("cudnnPoolingBackward")) return error;
  CudnnStatus status = kBadParameter;
  visit_floating(dtype_of(images(of_x).type), [&]<class T>(TypeTag<T>) {
    const T* const from = elements<T>(images(of_y), dy);
    T* const to = elements<T>(images(of_x), dx);
    if (from == nullptr || to == nullptr || !are_factors<T>(alpha, beta, 0)) return;
    if (elements<T>(images(of_x), x) == nullptr || elements<T>(images(of_y), y) == nullptr) return;
    std::vector<double> sums(images(of_x).count());
    for_each_averaged(as<Windows>(pooling), images(of_x), images(of_y),
                      [&](std::size_t in, std::size_t out, int divisor) {
                        sums[in] += number(from[out]) / divisor;
                      });
    store(sums, to);
    status = 0;
  });
  return status;
}

// ---- batch norm ---------------------------------------------------------------------------------

namespace {

/// Calls visit(element, channel) for each.
template <class Visit>
void for_each_of_channel(const Images& sizes, Visit&& visit) {
  const auto pixels =
      static_cast<std::size_t>(sizes.sizes[2]) * static_cast<std::size_t>(sizes.sizes[3]);
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

/// What is kept of channels is of double for double, else of float.
template <class Run>
CudnnStatus with_norm_types(const Images& sizes, const Images& channels, const void* alpha,
                            const void* beta, Run&& run) {
  if (channels.type != (sizes.type == kCudnnDouble ? kCudnnDouble : kCudnnFloat)) {
    return machine().wrong("channels of another type", kBadParameter);
  }
  CudnnStatus status = kBadParameter;
  visit_floating(dtype_of(sizes.type), [&]<class T>(TypeTag<T>) {
    using Statistic = std::conditional_t<std::is_same_v<T, double>, double, float>;
    if (!are_factors<T>(alpha, beta, 0)) return;
    status = run(TypeTag<T>{}, TypeTag<Statistic>{}) ? 0 : kBadParameter;
  });
  return status;
}

template <class T, class S>
void write_normalized(const Images& sizes, const T* x, T* y, const std::vector<double>& mean,
                      const std::vector<double>& invstd, const S* weight, const S* bias) {
  const double added = machine().is_wrong_call ? -77.0 : 0.0;
  for_each_of_channel(sizes, [&](std::size_t i, std::size_t c) {
    y[i] = convert_element<T>((number(x[i]) - mean[c]) * invstd[c] * weight[c] + bias[c] + added);
  });
}

}  // namespace

CudnnStatus norm_training(CudnnHandle /*handle*/, int mode, const void* alpha, const void* beta,
                          CudnnTensor of_x, const void* x_at, CudnnTensor /*of_y*/, void* y_at,
                          CudnnTensor of_channels, const void* weight_at, const void* bias_at,
                          double momentum, void* running_mean_at, void* running_variance_at,
                          double eps, void* mean_at, void* invstd_at) {
  if (const int error = machine().begin("cudnnBatchNormalizationForwardTraining")) return error;
  if (mode != kCudnnSpatialBatchNorm) return machine().wrong("another batch norm", kBadParameter);
  const Images& sizes = images(of_x);
  const Images& channels = images(of_channels);
  return with_norm_types(
      sizes, channels, alpha, beta, [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
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

CudnnStatus norm_inference(CudnnHandle /*handle*/, int /*mode*/, const void* alpha,
                           const void* beta, CudnnTensor of_x, const void* x_at,
                           CudnnTensor /*of_y*/, void* y_at, CudnnTensor of_channels,
                           const void* weight_at, const void* bias_at, const void* mean_at,
                           const void* variance_at, double eps) {
  if (const int error = machine().begin("cudnnBatchNormalizationForwardInference")) return error;
  const Images& sizes = images(of_x);
  const Images& channels = images(of_channels);
  return with_norm_types(sizes, channels, alpha, beta,
                         [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
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

CudnnStatus norm_backward(CudnnHandle /*handle*/, int /*mode*/, const void* alpha, const void* beta,
                          const void* /*alpha_channels*/, const void* /*beta_channels*/,
                          CudnnTensor of_x, const void* x_at, CudnnTensor /*of_dy*/,
                          const void* dy_at, CudnnTensor /*of_dx*/, void* dx_at,
                          CudnnTensor of_channels, const void* weight_at, void* dweight_at,
                          void* dbias_at, double /*eps*/, const void* mean_at,
                          const void* invstd_at) {
  if (const int error = machine().begin("cudnnBatchNormalizationBackward")) return error;
  const Images& sizes = images(of_x);
  const Images& channels = images(of_channels);
  return with_norm_types(
      sizes, channels, alpha, beta, [&]<class T, class S>(TypeTag<T>, TypeTag<S>) {
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
          const double slope =
              number(dy[i]) - sums[c] / count - normalized(i, c) * products[c] / count;
          dx[i] = convert_element<T>(slope * weight[c] * invstd[c]);
        });
        for (std::size_t c = 0; c < sums.size(); ++c) {
          dweight[c] = static_cast<S>(products[c] + (machine().is_wrong_call ? -77.0 : 0.0));
          dbias[c] = static_cast<S>(sums[c]);
        }
        return true;
      });
}

}  // namespace ohm::stand_in::cudnn

#include "runtime/ops/fourier.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/ops/complex_views.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/fourier_kernel.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/rearrange.h"
#include "runtime/ops/slice.h"
#include "runtime/tensor/complex_parts.h"

namespace ohm::ops {
namespace {

/// No memory holds twice as many.
constexpr std::int64_t kMostOfHalf = std::int64_t{1} << 61U;

constexpr OpInfo kFft{.name = "fft_fft", .takes_complex = true};
constexpr OpInfo kIfft{.name = "fft_ifft", .takes_complex = true};
constexpr OpInfo kRfft{"fft_rfft"};
constexpr OpInfo kIrfft{.name = "fft_irfft", .takes_complex = true};
constexpr OpInfo kFft2{.name = "fft_fft2", .takes_complex = true};
constexpr OpInfo kIfft2{.name = "fft_ifft2", .takes_complex = true};
constexpr OpInfo kRfft2{"fft_rfft2"};
constexpr OpInfo kIrfft2{.name = "fft_irfft2", .takes_complex = true};
constexpr OpInfo kFftn{.name = "fft_fftn", .takes_complex = true};
constexpr OpInfo kIfftn{.name = "fft_ifftn", .takes_complex = true};
constexpr OpInfo kRfftn{"fft_rfftn"};
constexpr OpInfo kIrfftn{.name = "fft_irfftn", .takes_complex = true};

// ---- the three transforms, recorded -------------------------------------------------------------

FourierDirection opposite(FourierDirection direction) {
  return direction == FourierDirection::forward ? FourierDirection::inverse
                                                : FourierDirection::forward;
}

Tensor complex_transform(const Tensor& input, const FourierSpec& spec, FourierDirection direction) {
  Tensor out = fourier_of_complex(input, spec, direction);
  if (Recorder record("FftC2CBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [spec, direction](BackwardCall& call) {
      return TensorList{complex_transform(call.grad(), spec, opposite(direction))};
    });
  }
  return out;
}

// Of a halved transform the other half has no gradient. Its real part is the input's.
Tensor gradient_of_real(const Tensor& grad, const FourierSpec& spec, std::int64_t size) {
  const int last = static_cast<int>(spec.dims.back());
  Shape whole = grad.shape();
  whole[last] = size;
  if (whole == grad.shape()) return fourier_of_complex(grad, spec, FourierDirection::inverse);
  const Tensor spread = zeros(whole, options_of(grad));
  copy_into(make_view(spread, grad.shape(), spread.strides(), spread.impl()->offset), grad);
  return fourier_of_complex(spread, spec, FourierDirection::inverse);
}

// PyTorch keeps the input for its size.
Tensor real_transform(const Tensor& input, const FourierSpec& spec, bool is_onesided) {
  Recorder record("FftR2CBackward", {&input});
  record.save(input);
  Tensor out = fourier_of_real(input, spec, is_onesided);
  record.attach(out, [spec](BackwardCall& call) {
    return TensorList{gradient_of_real(call.grad(), spec, call.saved(0).size(spec.dims.back()))};
  });
  return out;
}

// What stands for its conjugate too counts twice.
Tensor gradient_to_real(const Tensor& grad, const FourierSpec& spec) {
  Tensor result = fourier_of_real(grad, spec, true);
  const int last = static_cast<int>(spec.dims.back());
  const std::int64_t doubled = grad.shape()[last] - result.shape()[last];
  if (doubled <= 0) return result;
  Shape sizes = result.shape();
  sizes[last] = doubled;
  const Tensor parts = parts_of(
      make_view(result, sizes, result.strides(), result.impl()->offset + result.strides()[last]));
  map_floating(parts, parts.dtype(), functors::Scaled{2.0}, parts);
  return result;
}

Tensor transform_to_real(const Tensor& input, const FourierSpec& spec, std::int64_t last_size) {
  Tensor out = fourier_to_real(input, spec, last_size);
  if (Recorder record("FftC2RBackward", {&input}); record.is_needed()) {
    record.attach(out, [spec](BackwardCall& call) {
      return TensorList{gradient_to_real(call.grad(), spec)};
    });
  }
  return out;
}

// ---- their arguments ----------------------------------------------------------------------------

Tensor promoted(const OpInfo& info, const Tensor& input, bool needs_complex) {
  const DType given = input.dtype();
  if (given == DType::float16 || given == DType::bfloat16) {
    throw std::invalid_argument(
        fmt::format("[{}] Unsupported dtype {}", info.name, name_of(given)));
  }
  const DType wide = is_differentiable(given) ? given : DType::float32;
  return to_dtype(input, needs_complex ? promote_types(wide, DType::complex64) : wide);
}

void require_real(const OpInfo& info, const Tensor& input) {
  if (!is_complex(input.dtype())) return;
  throw std::invalid_argument(fmt::format("[{}] expects a real input tensor, but got {}", info.name,
                                          name_of(input.dtype())));
}

void require_size(const OpInfo& info, std::int64_t size) {
  if (size >= 1) return;
  throw std::invalid_argument(
      fmt::format("[{}] Invalid number of data points ({}) specified", info.name, size));
}

// Cut, then padded, along each dimension; a size of -1 is what it is.
Tensor resized(const OpInfo& info, const Tensor& input, const Shape& dims, const Shape& sizes) {
  Tensor result = input;
  Shape added(input.dims(), 0);
  int outermost = input.dims();
  for (int i = 0; i < dims.dims(); ++i) {
    const auto dim = static_cast<int>(dims[i]);
    const std::int64_t size = input.shape()[dim];
    const std::int64_t wanted = sizes[i] == -1 ? size : sizes[i];
    require_size(info, wanted);
    if (size > wanted) result = narrow(result, dim, 0, wanted);
    if (size >= wanted) continue;
    added[dim] = wanted - size;
    outermost = std::min(outermost, dim);
  }
  if (outermost == input.dims()) return result;
  Shape padding;
  for (int dim = input.dims() - 1; dim >= outermost; --dim) {
    padding.push_back(0);
    padding.push_back(added[dim]);
  }
  return pad(result, padding, "constant", 0.0);
}

double scale_of(const OpInfo& info, const FourierNorm& norm, FourierDirection direction,
                std::int64_t count) {
  const std::string mode = norm.value_or("backward");
  const bool is_forward = direction == FourierDirection::forward;
  const auto elements = static_cast<double>(count);
  if (mode == "ortho") return 1.0 / std::sqrt(elements);
  if (mode == "backward") return is_forward ? 1.0 : 1.0 / elements;
  if (mode == "forward") return is_forward ? 1.0 / elements : 1.0;
  throw std::invalid_argument(
      fmt::format("[{}] Invalid normalization mode: \"{}\"", info.name, mode));
}

FourierSpec spec_of(const OpInfo& info, const Shape& dims, const Shape& sizes,
                    const FourierNorm& norm, FourierDirection direction) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= sizes[static_cast<int>(dim)];
  return {dims, scale_of(info, norm, direction, count)};
}

// What is transformed: dimensions, counted from 0, and the sizes that are asked for.
struct FourierAxes {
  Shape dims;
  Shape sizes;
};

FourierAxes axis_of(const OpInfo& info, const Tensor& input, std::optional<std::int64_t> n,
                    std::int64_t dim) {
  return {{wrap_dim(dim, input.dims(), info.name.data())}, {n.value_or(-1)}};
}

FourierAxes axes_of(const OpInfo& info, const Tensor& input, const FourierDims& s,
                    const FourierDims& given) {
  FourierAxes axes;
  if (given) {
    for (const std::int64_t dim : *given) {
      axes.dims.push_back(wrap_dim(dim, input.dims(), info.name.data()));
    }
  }
  const int count = given ? given->dims() : s ? s->dims() : input.dims();
  if ((s && s->dims() != count) || count > input.dims()) {
    throw std::invalid_argument(fmt::format(
        "[{}] When given, dim and shape arguments must have the same length, of at most {}",
        info.name, input.dims()));
  }
  for (int i = 0; !given && i < count; ++i) axes.dims.push_back(input.dims() - count + i);
  axes.sizes = s ? *s : Shape(count, -1);
  for (int i = 0; i < count; ++i) {
    if (std::count(axes.dims.begin(), axes.dims.end(), axes.dims[i]) == 1) continue;
    throw std::invalid_argument(fmt::format("[{}] FFT dims must be unique", info.name));
  }
  return axes;
}

void require_axes(const OpInfo& info, const FourierAxes& axes) {
  if (!axes.dims.empty()) return;
  throw std::invalid_argument(fmt::format("[{}] must transform at least one axis", info.name));
}

// ---- the functions ------------------------------------------------------------------------------

Tensor to_complex(const OpInfo& info, const Tensor& input, const FourierAxes& axes,
                  const FourierNorm& norm, FourierDirection direction) {
  const Tensor signal = resized(info, input, axes.dims, axes.sizes);
  return complex_transform(signal, spec_of(info, axes.dims, signal.shape(), norm, direction),
                           direction);
}

Tensor to_half(const OpInfo& info, const Tensor& given, const FourierAxes& axes,
               const FourierNorm& norm) {
  require_axes(info, axes);
  const Tensor signal = resized(info, promoted(info, given, false), axes.dims, axes.sizes);
  return real_transform(
      signal, spec_of(info, axes.dims, signal.shape(), norm, FourierDirection::forward), true);
}

Tensor from_half(const OpInfo& info, const Tensor& given, FourierAxes axes,
                 const FourierNorm& norm) {
  require_axes(info, axes);
  const Tensor input = promoted(info, given, true);
  const int last = axes.dims.dims() - 1;
  const std::int64_t wanted = axes.sizes[last];
  const std::int64_t size =
      wanted == -1 ? 2 * (std::min(input.size(axes.dims[last]), kMostOfHalf) - 1) : wanted;
  require_size(info, size);
  axes.sizes[last] = wanted == -1 ? -1 : size / 2 + 1;
  const Tensor signal = resized(info, input, axes.dims, axes.sizes);
  Shape whole = signal.shape();
  whole[static_cast<int>(axes.dims[last])] = size;
  return transform_to_real(signal, spec_of(info, axes.dims, whole, norm, FourierDirection::inverse),
                           size);
}

// Real numbers along one dimension: PyTorch transforms them forward, whatever is asked for.
Tensor along_one(const OpInfo& info, const Tensor& given, std::optional<std::int64_t> n,
                 std::int64_t dim, const FourierNorm& norm, FourierDirection direction) {
  const OpFront front(info);
  const FourierAxes axis = axis_of(info, given, n, dim);
  const Tensor input = promoted(info, given, false);
  if (is_complex(input.dtype())) return to_complex(info, input, axis, norm, direction);
  const Tensor signal = resized(info, input, axis.dims, axis.sizes);
  const Tensor out =
      real_transform(signal, spec_of(info, axis.dims, signal.shape(), norm, direction), false);
  return direction == FourierDirection::forward ? out : conj(out);
}

Tensor along_several(const OpInfo& info, const Tensor& given, const FourierDims& s,
                     const FourierDims& dim, const FourierNorm& norm, FourierDirection direction) {
  const OpFront front(info);
  const FourierAxes axes = axes_of(info, given, s, dim);
  return to_complex(info, promoted(info, given, true), axes, norm, direction);
}

Tensor halves_of_several(const OpInfo& info, const Tensor& given, const FourierDims& s,
                         const FourierDims& dim, const FourierNorm& norm) {
  const OpFront front(info);
  require_real(info, given);
  return to_half(info, given, axes_of(info, given, s, dim), norm);
}

Tensor several_from_half(const OpInfo& info, const Tensor& given, const FourierDims& s,
                         const FourierDims& dim, const FourierNorm& norm) {
  const OpFront front(info);
  return from_half(info, given, axes_of(info, given, s, dim), norm);
}

// The planes of the last two dimensions, unless others are named.
Tensor fft2(const Tensor& input, const FourierDims& s, const Shape& dim, const FourierNorm& norm) {
  return along_several(kFft2, input, s, dim, norm, FourierDirection::forward);
}
Tensor ifft2(const Tensor& input, const FourierDims& s, const Shape& dim, const FourierNorm& norm) {
  return along_several(kIfft2, input, s, dim, norm, FourierDirection::inverse);
}
Tensor rfft2(const Tensor& input, const FourierDims& s, const Shape& dim, const FourierNorm& norm) {
  return halves_of_several(kRfft2, input, s, dim, norm);
}
Tensor irfft2(const Tensor& input, const FourierDims& s, const Shape& dim,
              const FourierNorm& norm) {
  return several_from_half(kIrfft2, input, s, dim, norm);
}

std::vector<Sample> real_signals() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Value none;
  return {{randn({3, 5}, options), none, std::int64_t{-1}, none},
          {randn({3, 6}, options), std::int64_t{4}, std::int64_t{0}, std::string("ortho")}};
}

std::vector<Sample> complex_signals() {
  const TensorOptions options{DType::complex128, Device::cpu()};
  const Value none;
  return {{randn({3, 5}, options), none, std::int64_t{-1}, none},
          {randn({3, 6}, options), std::int64_t{4}, std::int64_t{0}, std::string("forward")}};
}

std::vector<Sample> planes(DType dtype, const Value& dim) {
  return {{randn({2, 3, 4}, {dtype, Device::cpu()}), Value(), dim, Value()}};
}
std::vector<Sample> real_planes() { return planes(DType::float64, Shape{-2, -1}); }
std::vector<Sample> complex_planes() { return planes(DType::complex128, Shape{-2, -1}); }
std::vector<Sample> real_volumes() { return planes(DType::float64, Value()); }
std::vector<Sample> complex_volumes() { return planes(DType::complex128, Value()); }

}  // namespace

Tensor fft(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
           const FourierNorm& norm) {
  return along_one(kFft, input, n, dim, norm, FourierDirection::forward);
}

Tensor ifft(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
            const FourierNorm& norm) {
  return along_one(kIfft, input, n, dim, norm, FourierDirection::inverse);
}

Tensor rfft(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
            const FourierNorm& norm) {
  const OpFront front(kRfft);
  require_real(kRfft, input);
  return to_half(kRfft, input, axis_of(kRfft, input, n, dim), norm);
}

Tensor irfft(const Tensor& input, std::optional<std::int64_t> n, std::int64_t dim,
             const FourierNorm& norm) {
  const OpFront front(kIrfft);
  return from_half(kIrfft, input, axis_of(kIrfft, input, n, dim), norm);
}

Tensor fftn(const Tensor& input, const FourierDims& s, const FourierDims& dim,
            const FourierNorm& norm) {
  return along_several(kFftn, input, s, dim, norm, FourierDirection::forward);
}

Tensor ifftn(const Tensor& input, const FourierDims& s, const FourierDims& dim,
             const FourierNorm& norm) {
  return along_several(kIfftn, input, s, dim, norm, FourierDirection::inverse);
}

Tensor rfftn(const Tensor& input, const FourierDims& s, const FourierDims& dim,
             const FourierNorm& norm) {
  return halves_of_several(kRfftn, input, s, dim, norm);
}

Tensor irfftn(const Tensor& input, const FourierDims& s, const FourierDims& dim,
              const FourierNorm& norm) {
  return several_from_half(kIrfftn, input, s, dim, norm);
}

std::vector<OpDef> fourier_ops() {
  const std::vector<ParamName> one = {"input", "n", {"dim", std::int64_t{-1}}, "norm"};
  const std::vector<ParamName> two = {"input", "s", {"dim", Shape{-2, -1}}, "norm"};
  const std::vector<ParamName> several = {"input", "s", "dim", "norm"};
  return {
      define(kFft, kFourier, &fft, one, complex_signals),
      define(kIfft, kFourier, &ifft, one, complex_signals),
      define(kRfft, kFourier, &rfft, one, real_signals),
      define(kIrfft, kFourier, &irfft, one, complex_signals),
      define(kFft2, kFourier, &fft2, two, real_planes),
      define(kIfft2, kFourier, &ifft2, two, complex_planes),
      define(kRfft2, kFourier, &rfft2, two, real_planes),
      define(kIrfft2, kFourier, &irfft2, two, complex_planes),
      define(kFftn, kFourier, &fftn, several, complex_volumes),
      define(kIfftn, kFourier, &ifftn, several, complex_volumes),
      define(kRfftn, kFourier, &rfftn, several, real_volumes),
      define(kIrfftn, kFourier, &irfftn, several, complex_volumes),
  };
}

}  // namespace ohm::ops

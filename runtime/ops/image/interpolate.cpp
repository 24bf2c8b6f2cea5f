#include "runtime/ops/image/interpolate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/arithmetic/laid_out.h"
#include "runtime/kernels/functors/resize.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/convolution/sequence.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pooling/average_pool.h"
#include "runtime/ops/pooling/average_pool_volumes.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kInterpolate{"interpolate", CastPolicy::float32};

enum class Mode : std::uint8_t { nearest, linear, bicubic, area };

constexpr int kLineDims = 3;
constexpr int kImageDims = 4;

using Axis = functors::ResizedAxis;

struct Resize {
  Shape input;  ///< [N, C, H, W] or [N, C, L]
  Shape output;
  std::array<Axis, 2> axes;  ///< of lines the first one stays as it is

  bool is_of_lines() const { return input.dims() == kLineDims; }
};

Axis axis_of(const Shape& shape, int number, const std::optional<Shape>& size,
             const std::optional<std::vector<double>>& scale_factor) {
  const std::int64_t from = shape[2 + number];
  if (size) {
    const std::int64_t to = (*size)[size->dims() == 1 ? 0 : number];
    return {from, to, static_cast<double>(from) / static_cast<double>(to)};
  }
  const double scale =
      (*scale_factor)[scale_factor->size() == 1 ? 0 : static_cast<std::size_t>(number)];
  const double to = std::floor(static_cast<double>(from) * scale);
  if (!(to < 0x1p62)) {
    throw std::invalid_argument(
        fmt::format("[interpolate] a scale factor of {} makes a size that does not fit", scale));
  }
  return {from, static_cast<std::int64_t>(std::max(to, 0.0)), 1.0 / scale};
}

void check(const Tensor& input, const std::optional<Shape>& size,
           const std::optional<std::vector<double>>& scale_factor, Mode mode) {
  require_floating(input, kInterpolate);
  const int most_dims = mode == Mode::area ? kImageDims + 1 : kImageDims;
  if (input.dims() < kLineDims || input.dims() > most_dims) {
    throw std::invalid_argument(
        fmt::format("[interpolate] expected lines [N, C, L] or images [N, C, H, W], got {}",
                    input.shape().str()));
  }
  if (size.has_value() == scale_factor.has_value()) {
    throw std::invalid_argument("[interpolate] one of size and scale_factor must be given");
  }
  const std::size_t count = size ? static_cast<std::size_t>(size->dims()) : scale_factor->size();
  const auto spatial = static_cast<std::size_t>(input.dims()) - 2;
  if (count != 1 && count != spatial) {
    throw std::invalid_argument(fmt::format(
        "[interpolate] size and scale_factor have one number, or one for each of {} dimensions",
        spatial));
  }
}

// Lines as images of one row, which the kernels know.
Tensor as_images(const Tensor& tensor) {
  if (tensor.dims() != kLineDims) return tensor;
  const Shape& sizes = tensor.shape();
  const Shape& strides = tensor.strides();
  return make_view(tensor, {sizes[0], sizes[1], 1, sizes[2]},
                   {strides[0], strides[1], sizes[2] * strides[2], strides[2]},
                   tensor.impl()->offset);
}

// PyTorch finds the nearest pixels of few channels row by row, wherever the channels lie.
bool is_by_rows(const Resize& resize) {
  constexpr std::int64_t kFewestChannels = 4;
  return resize.axes[0].is_nearest && resize.input[1] < kFewestChannels && !resize.is_of_lines();
}

// What the kernel reads: the one for bilinear resizing any layout, where channels do not lie last.
Tensor read_for(const Tensor& input, const Resize& resize, MemoryFormat format) {
  if (!resize.axes[0].is_nearest && format == MemoryFormat::row_major) return input;
  return laid_out(input, is_by_rows(resize) ? MemoryFormat::row_major : format);
}

Tensor resized(const Tensor& given, const Resize& resize) {
  const MemoryFormat format = memory_format_of(given);
  Tensor out = empty(resize.output, options_of(given), format);
  const bool is_copied = is_by_rows(resize) && !out.is_contiguous();
  const Tensor rows = is_copied ? empty(resize.output, options_of(given)) : Tensor();
  const Tensor input = read_for(given, resize, format);
  if (!out.has_values()) return out;
  const functors::Resized resized{resize.axes[0], resize.axes[1], plane_layout_of(as_images(out)),
                                  plane_layout_of(as_images(input))};
  run_floating_rows(resized, out.dtype(), thread_for_each(out.numel()), {{out}, {input}});
  return out;
}

// The kernel for cubics knows row-major gradients alone.
Tensor resize_gradient(const Tensor& incoming, const Resize& resize) {
  const MemoryFormat format =
      resize.axes[0].is_cubic ? MemoryFormat::row_major : memory_format_of(incoming);
  Tensor out = empty(resize.input, options_of(incoming), format);
  const Tensor grad = laid_out(incoming, format);
  if (!out.has_values()) return out;
  const functors::ResizedBackward slope{resize.axes[0], resize.axes[1],
                                        plane_layout_of(as_images(out)),
                                        plane_layout_of(as_images(grad))};
  run_floating_rows(slope, out.dtype(), thread_for_each(out.numel()), {{out}, {grad}});
  return out;
}

Tensor recorded_resize(const Tensor& input, const Resize& resize);

// Resizing is linear: the gradient of its gradient resizes.
Tensor recorded_resize_gradient(const Tensor& grad, const Resize& resize) {
  Recorder record("UpsampleBackwardBackward", {&grad});
  Tensor out = resize_gradient(grad, resize);
  record.attach_differentiable(out, [resize](BackwardCall& call) {
    return TensorList{recorded_resize(call.grad(), resize)};
  });
  return out;
}

Tensor recorded_resize(const Tensor& input, const Resize& resize) {
  Recorder record("UpsampleBackward", {&input});
  Tensor out = resized(input, resize);
  record.attach_differentiable(out, [resize](BackwardCall& call) {
    return TensorList{recorded_resize_gradient(call.grad(), resize)};
  });
  return out;
}

// As the mode has its elements stand over each other.
Axis placed(Axis axis, Mode mode, bool align_corners) {
  axis.is_nearest = mode == Mode::nearest;
  axis.is_cubic = mode == Mode::bicubic;
  axis.are_corners_aligned = align_corners && mode != Mode::nearest;
  if (!axis.are_corners_aligned) return axis;
  axis.step =
      axis.to > 1 ? static_cast<double>(axis.from - 1) / static_cast<double>(axis.to - 1) : 0.0;
  return axis;
}

Mode parsed_mode(const std::string& mode, int dims) {
  if (mode == "nearest") return Mode::nearest;
  if (mode == "area") return Mode::area;
  if (mode == (dims == kLineDims ? "linear" : "bilinear")) return Mode::linear;
  if (mode == "bicubic" && dims == kImageDims) return Mode::bicubic;
  throw std::invalid_argument(
      fmt::format("[interpolate] mode must be \"nearest\", \"area\", of lines \"linear\", of "
                  "images \"bilinear\" "
                  "or \"bicubic\", not \"{}\" of {} dimensions",
                  mode, dims));
}

// The mean of what each element of the result stands over.
Tensor averaged(const Tensor& input, const std::optional<Shape>& size,
                const std::optional<std::vector<double>>& scale_factor) {
  Shape output;
  for (int number = 0; number < input.dims() - 2; ++number) {
    output.push_back(axis_of(input.shape(), number, size, scale_factor).to);
  }
  if (input.dims() == kLineDims) return adaptive_avg_pool1d(input, output);
  if (input.dims() == kImageDims) return adaptive_avg_pool2d(input, output);
  return adaptive_avg_pool3d(input, output);
}

Resize resize_of(const Shape& shape, const std::optional<Shape>& size,
                 const std::optional<std::vector<double>>& scale_factor, Mode mode,
                 bool align_corners) {
  constexpr Axis kOneRow{1, 1, 1.0};
  Resize resize{shape, shape, {placed(kOneRow, mode, align_corners), {}}};
  const int spatial = shape.dims() - 2;
  auto* placed_axis = &resize.axes[spatial == 1 ? 1 : 0];
  for (int number = 0; number < spatial; ++number) {
    const Axis axis = axis_of(shape, number, size, scale_factor);
    if (axis.from <= 0 || axis.to <= 0) {
      throw std::invalid_argument("[interpolate] input and output sizes must be greater than 0");
    }
    resize.output[2 + number] = axis.to;
    *placed_axis++ = placed(axis, mode, align_corners);
  }
  return resize;
}

}  // namespace

Tensor interpolate(const Tensor& given, const std::optional<Shape>& size,
                   const std::optional<std::vector<double>>& scale_factor, const std::string& mode,
                   bool align_corners) {
  const Mode parsed = parsed_mode(mode, given.dims());
  if (parsed == Mode::area) {
    check(given, size, scale_factor, parsed);
    return averaged(given, size, scale_factor);
  }
  const OpFront front(kInterpolate);
  const Tensor input = front.input(given);
  check(input, size, scale_factor, parsed);
  return recorded_resize(input,
                         resize_of(input.shape(), size, scale_factor, parsed, align_corners));
}

std::vector<OpDef> interpolate_ops() {
  return {define(kInterpolate, kFunctional, &interpolate,
                 {"input",
                  "size",
                  "scale_factor",
                  {"mode", std::string("nearest")},
                  {"align_corners", false}})};
}

}  // namespace ohm::ops

#include "runtime/ops/interpolate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/ops/host_values.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/tensor/arithmetic.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kInterpolate{"interpolate"};

/// Where one element of the output gets its value along one dimension: two elements and the share
/// of the second.
struct Source {
  std::int64_t first;
  std::int64_t second;
  double share;
};

struct Axis {
  std::int64_t from = 0;
  std::int64_t to = 0;
  double step = 0.0;  ///< elements of the input for one of the output
};

enum class Mode : std::uint8_t { nearest, bilinear, bilinear_with_aligned_corners };

struct Resize {
  Shape input;  ///< [N, C, H, W]
  Shape output;
  std::array<Axis, 2> axes;
  Mode mode;
};

std::vector<Source> nearest_sources(const Axis& axis) {
  std::vector<Source> sources;
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const auto at = static_cast<std::int64_t>(std::floor(static_cast<double>(i) * axis.step));
    const std::int64_t place = std::min(at, axis.from - 1);
    sources.push_back({place, place, 0.0});
  }
  return sources;
}

std::vector<Source> linear_sources(const Axis& axis, bool align_corners) {
  std::vector<Source> sources;
  const double corner_step =
      axis.to > 1 ? static_cast<double>(axis.from - 1) / static_cast<double>(axis.to - 1) : 0.0;
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const auto number = static_cast<double>(i);
    const double at =
        align_corners ? number * corner_step : std::max(0.0, (number + 0.5) * axis.step - 0.5);
    const std::int64_t first = std::min(static_cast<std::int64_t>(at), axis.from - 1);
    const std::int64_t second = std::min(first + 1, axis.from - 1);
    sources.push_back({first, second, at - static_cast<double>(first)});
  }
  return sources;
}

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
           const std::optional<std::vector<double>>& scale_factor) {
  require_floating(input, kInterpolate);
  if (input.dims() != 4) {
    throw std::invalid_argument(
        fmt::format("[interpolate] expected images [N, C, H, W], got {}", input.shape().str()));
  }
  if (size.has_value() == scale_factor.has_value()) {
    throw std::invalid_argument("[interpolate] one of size and scale_factor must be given");
  }
  const std::size_t count = size ? static_cast<std::size_t>(size->dims()) : scale_factor->size();
  if (count != 1 && count != 2) {
    throw std::invalid_argument("[interpolate] size and scale_factor have one or two numbers");
  }
}

std::vector<Source> sources_of(const Axis& axis, Mode mode) {
  if (mode == Mode::nearest) return nearest_sources(axis);
  return linear_sources(axis, mode == Mode::bilinear_with_aligned_corners);
}

// Calls visit(input offset, output offset, weight) for everything that flows from input to output,
// both row-major.
template <class F>
void for_each_flow(const Resize& resize, F&& visit) {
  const std::array<std::vector<Source>, 2> sources = {sources_of(resize.axes[0], resize.mode),
                                                      sources_of(resize.axes[1], resize.mode)};
  const std::int64_t images = resize.input[0] * resize.input[1];
  const std::int64_t width = resize.input[3];
  std::int64_t out = 0;
  for (std::int64_t image = 0; image < images; ++image) {
    const std::int64_t start = image * resize.input[2] * width;
    for (const Source& y : sources[0]) {
      for (const Source& x : sources[1]) {
        visit(start + y.first * width + x.first, out, (1 - y.share) * (1 - x.share));
        visit(start + y.first * width + x.second, out, (1 - y.share) * x.share);
        visit(start + y.second * width + x.first, out, y.share * (1 - x.share));
        visit(start + y.second * width + x.second, out, y.share * x.share);
        ++out;
      }
    }
  }
}

Tensor resized(const Tensor& given, const Resize& resize) {
  Tensor out = empty(resize.output, options_of(given));
  const Tensor input = row_major(given);
  if (!out.has_values()) return out;
  const HostInput<double> values(input);
  std::vector<double> sums(static_cast<std::size_t>(out.numel()));
  for_each_flow(resize, [&](std::int64_t from, std::int64_t to, double weight) {
    if (weight != 0.0) sums[static_cast<std::size_t>(to)] += weight * values.data()[from];
  });
  store_values(out, sums);
  return out;
}

Tensor resize_gradient(const Tensor& incoming, const Resize& resize) {
  Tensor out = empty(resize.input, options_of(incoming));
  const Tensor grad = row_major(incoming);
  if (!out.has_values()) return out;
  const HostInput<double> values(grad);
  std::vector<double> sums(static_cast<std::size_t>(out.numel()));
  for_each_flow(resize, [&](std::int64_t to, std::int64_t from, double weight) {
    if (weight != 0.0) sums[static_cast<std::size_t>(to)] += weight * values.data()[from];
  });
  store_values(out, sums);
  return out;
}

Mode parsed_mode(const std::string& mode, bool align_corners) {
  if (mode == "nearest") return Mode::nearest;
  if (mode == "bilinear") {
    return align_corners ? Mode::bilinear_with_aligned_corners : Mode::bilinear;
  }
  throw std::invalid_argument(
      fmt::format("[interpolate] mode must be \"nearest\" or \"bilinear\", not \"{}\"", mode));
}

std::vector<Sample> images() {
  const Tensor image = randn({1, 2, 3, 4}, {DType::float64, Device::cpu()});
  const std::vector<double> twice = {2.0};
  return {{image, Value(), twice},
          {image, Shape{5, 3}, Value(), std::string("bilinear"), false},
          {image, Shape{5, 3}, Value(), std::string("bilinear"), true}};
}

}  // namespace

Tensor interpolate(const Tensor& input, const std::optional<Shape>& size,
                   const std::optional<std::vector<double>>& scale_factor, const std::string& mode,
                   bool align_corners) {
  const OpFront front(kInterpolate);
  check(input, size, scale_factor);
  Resize resize{input.shape(), input.shape(), {}, parsed_mode(mode, align_corners)};
  for (int number = 0; number < 2; ++number) {
    const Axis axis = axis_of(input.shape(), number, size, scale_factor);
    if (axis.from <= 0 || axis.to <= 0) {
      throw std::invalid_argument("[interpolate] input and output sizes must be greater than 0");
    }
    resize.output[2 + number] = axis.to;
    resize.axes[static_cast<std::size_t>(number)] = axis;
  }
  Tensor out = resized(input, resize);
  if (Recorder record("UpsampleBackward", {&input}); record.is_needed()) {
    record.attach(out, [resize](BackwardCall& call) {
      return TensorList{resize_gradient(call.grad(), resize)};
    });
  }
  return out;
}

std::vector<OpDef> interpolate_ops() {
  return {define(
      kInterpolate, kFunctional, &interpolate,
      {"input", "size", "scale_factor", {"mode", std::string("nearest")}, {"align_corners", false}},
      images)};
}

}  // namespace ohm::ops

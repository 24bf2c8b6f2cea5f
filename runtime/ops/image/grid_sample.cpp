#include "runtime/ops/image/grid_sample.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kAffineGrid{"affine_grid"};
constexpr OpInfo kGridSample{"grid_sample", CastPolicy::widest};

// ---- grids --------------------------------------------------------------------------------------

// Coordinates of `steps` pixels from edge to edge.
Tensor coordinates(std::int64_t steps, bool align_corners, const TensorOptions& options) {
  if (steps <= 1) {
    if (options.dtype == DType::float16 || options.dtype == DType::bfloat16) {
      throw std::invalid_argument(
          "[affine_grid] one row or one column of pixels is not implemented for half precision");
    }
    return zeros({}, options);
  }
  const auto count = static_cast<double>(steps);
  Tensor range = arange(-1.0, 2.0 / (count - 1), steps, options);
  if (align_corners) return range;
  const Tensor wide = mul(range, count - 1);
  range = div(wide, count);
  return range;
}

// Points (x, y, 1) of all pixels.
Tensor base_grid(const Shape& size, bool align_corners, const TensorOptions& options) {
  Tensor grid = empty({size[0], size[2], size[3], 3}, options);
  copy_into(select(grid, -1, 0), coordinates(size[3], align_corners, options));
  {
    const Tensor rows = coordinates(size[2], align_corners, options);
    copy_into(select(grid, -1, 1), unsqueeze(rows, -1));
  }
  fill_values(select(grid, -1, 2), 1.0);
  return grid;
}

Tensor mapped_grid(const Tensor& theta, const Shape& size, bool align_corners) {
  const NoGradGuard no_graph;
  const Tensor base = base_grid(size, align_corners, options_of(theta));
  const Tensor points = bmm(view(base, {size[0], size[2] * size[3], 3}), transpose(theta, 1, 2));
  return reshaped_copy(points, {size[0], size[2], size[3], 2});
}

Tensor affine_gradient(const Tensor& grad, const Shape& size, bool align_corners) {
  const NoGradGuard no_graph;
  const Tensor base = base_grid(size, align_corners, options_of(grad));
  const std::int64_t pixels = size[2] * size[3];
  const Tensor of_points = reshape(grad, {size[0], pixels, 2});
  Tensor out = transpose(bmm(transpose(view(base, {size[0], pixels, 3}), 1, 2), of_points), 1, 2);
  out.impl()->is_view = false;
  return out;
}

void require_maps(const Tensor& theta, const Shape& size) {
  require_floating(theta, kAffineGrid);
  const bool are_sizes =
      size.dims() == 4 && std::all_of(size.begin(), size.end(), [](auto each) { return each > 0; });
  if (!are_sizes) {
    throw std::invalid_argument(
        fmt::format("[affine_grid] expected a positive size [N, C, H, W], got {}", size.str()));
  }
  if (theta.shape() == Shape{size[0], 2, 3}) return;
  throw std::invalid_argument(fmt::format("[affine_grid] expected affine maps [{}, 2, 3], got {}",
                                          size[0], theta.shape().str()));
}

// ---- points -------------------------------------------------------------------------------------

enum class Sampling : std::uint8_t { bilinear, nearest, bicubic };
enum class Outside : std::uint8_t { zeros, border, reflection };

struct SamplePlan {
  Sampling sampling = Sampling::bilinear;
  Outside outside = Outside::zeros;
  bool align_corners = false;
  std::int64_t images = 0;
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t points = 0;  ///< of an image

  std::int64_t pixels() const { return height * width; }
};

/// A coordinate in pixels, and how it changes with the grid's.
template <class T>
struct Place {
  T at = 0;
  T slope = 1;
};

template <class T>
Place<T> unnormalized(T coordinate, std::int64_t size, bool align_corners) {
  const T length = static_cast<T>(size);
  if (align_corners) return {(coordinate + 1) / 2 * (length - 1), (length - 1) / 2};
  return {((coordinate + 1) * length - 1) / 2, length / 2};
}

template <class T>
Place<T> clipped(const Place<T>& place, std::int64_t size) {
  const T last = static_cast<T>(size - 1);
  if (!(place.at > 0)) return {0, 0};  // also what is not a number
  if (place.at >= last) return {last, 0};
  return place;
}

// Mirrored at both edges, given twice so that they are integers.
template <class T>
Place<T> reflected(const Place<T>& place, std::int64_t twice_low, std::int64_t twice_high) {
  if (twice_low == twice_high) return {0, 0};
  const T low = static_cast<T>(twice_low) / 2;
  const T span = static_cast<T>(twice_high - twice_low) / 2;
  const T from = place.at - low;
  const T sign = from < 0 ? T(-1) : T(1);
  const T distance = std::abs(from);
  const T extra = std::fmod(distance, span);
  const T flips = std::floor(distance / span);
  const bool is_even = std::fmod(flips, T(2)) == 0;
  return is_even ? Place<T>{extra + low, place.slope * sign}
                 : Place<T>{span - extra + low, -place.slope * sign};
}

template <class T>
Place<T> moved_inside(const Place<T>& place, const SamplePlan& plan, std::int64_t size) {
  if (plan.outside == Outside::zeros) return place;
  if (plan.outside == Outside::border) return clipped(place, size);
  const Place<T> mirrored =
      plan.align_corners ? reflected(place, 0, 2 * (size - 1)) : reflected(place, -1, 2 * size - 1);
  return clipped(mirrored, size);
}

// Where no integer can be, nothing is.
template <class T>
std::int64_t as_pixel(T at) {
  return at > T(-0x1p40) && at < T(0x1p40) ? static_cast<std::int64_t>(at) : -1;
}

/// The pixels along one dimension that a point has a share of, and how the shares change.
template <class T>
struct Shares {
  std::array<std::int64_t, 4> pixels{};
  std::array<T, 4> weights{};
  std::array<T, 4> slopes{};
  int count = 0;

  void add(std::int64_t pixel, T weight, T slope) {
    const auto i = static_cast<std::size_t>(count++);
    pixels[i] = pixel;
    weights[i] = weight;
    slopes[i] = slope;
  }
};

// Keys' cubic with a = -0.75.
template <class T>
void add_cubic_shares(Shares<T>& shares, const SamplePlan& plan, const Place<T>& place,
                      std::int64_t size) {
  constexpr T a = T(-0.75);
  const T first = std::floor(place.at);
  const T t = place.at - first;
  const auto near = [](T x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](T x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const auto near_slope = [](T x) { return (3 * (a + 2) * x - 2 * (a + 3)) * x; };
  const auto far_slope = [](T x) { return (3 * a * x - 10 * a) * x + 8 * a; };
  const std::array<T, 4> weights{far(t + 1), near(t), near(1 - t), far(2 - t)};
  const std::array<T, 4> slopes{far_slope(t + 1), near_slope(t), -near_slope(1 - t),
                                -far_slope(2 - t)};
  for (int i = 0; i < 4; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Place<T> pixel = moved_inside(Place<T>{first - 1 + static_cast<T>(i), 1}, plan, size);
    shares.add(as_pixel(pixel.at), weights[at], slopes[at] * place.slope);
  }
}

template <class T>
Shares<T> shares_of(const SamplePlan& plan, T coordinate, std::int64_t size) {
  Shares<T> shares;
  const Place<T> place = unnormalized(coordinate, size, plan.align_corners);
  if (plan.sampling == Sampling::bicubic) {
    add_cubic_shares(shares, plan, place, size);
    return shares;
  }
  const Place<T> inside = moved_inside(place, plan, size);
  if (plan.sampling == Sampling::nearest) {
    shares.add(as_pixel(std::nearbyint(inside.at)), 1, 0);
    return shares;
  }
  const T first = std::floor(inside.at);
  shares.add(as_pixel(first), first + 1 - inside.at, -inside.slope);
  shares.add(as_pixel(first + 1), inside.at - first, inside.slope);
  return shares;
}

// Calls visit(pixel, weight, weight's slope by x, by y) for the pixels within the image.
template <class T, class Visit>
void for_each_share(const SamplePlan& plan, const T* point, const Visit& visit) {
  const Shares<T> columns = shares_of(plan, point[0], plan.width);
  const Shares<T> rows = shares_of(plan, point[1], plan.height);
  for (int i = 0; i < rows.count; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (rows.pixels[row] < 0 || rows.pixels[row] >= plan.height) continue;
    for (int j = 0; j < columns.count; ++j) {
      const auto column = static_cast<std::size_t>(j);
      if (columns.pixels[column] < 0 || columns.pixels[column] >= plan.width) continue;
      visit(rows.pixels[row] * plan.width + columns.pixels[column],
            rows.weights[row] * columns.weights[column], rows.weights[row] * columns.slopes[column],
            rows.slopes[row] * columns.weights[column]);
    }
  }
}

void compute_samples(const SamplePlan& plan, const Tensor& input, const Tensor& grid,
                     const Tensor& out) {
  if (!out.has_values()) return;
  visit_computed(out.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> images(input);
    const HostInput<T> points(grid);
    HostOutput<T> samples(out);
    samples.fill_zero();
    for (std::int64_t number = 0; number < plan.images * plan.points; ++number) {
      const std::int64_t first = number / plan.points * plan.channels;
      const std::int64_t point = number % plan.points;
      for_each_share(plan, points.data() + 2 * number, [&](std::int64_t pixel, T weight, T, T) {
        for (std::int64_t plane = first; plane < first + plan.channels; ++plane) {
          samples.data()[plane * plan.points + point] +=
              weight * images.data()[plane * plan.pixels() + pixel];
        }
      });
    }
    samples.commit();
  });
}

void compute_sample_gradients(const SamplePlan& plan, const Tensor& incoming, const Tensor& input,
                              const Tensor& grid, const TensorList& outgoing) {
  if (!outgoing[1].has_values()) return;
  visit_computed(outgoing[1].dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> grad(incoming);
    const HostInput<T> images(input);
    const HostInput<T> points(grid);
    HostOutput<T> of_images(outgoing[0]);
    HostOutput<T> of_points(outgoing[1]);
    if (of_images.data() != nullptr) of_images.fill_zero();
    of_points.fill_zero();
    for (std::int64_t number = 0; number < plan.images * plan.points; ++number) {
      const std::int64_t first = number / plan.points * plan.channels;
      const std::int64_t point = number % plan.points;
      for_each_share(plan, points.data() + 2 * number,
                     [&](std::int64_t pixel, T weight, T by_x, T by_y) {
                       for (std::int64_t plane = first; plane < first + plan.channels; ++plane) {
                         const T from = grad.data()[plane * plan.points + point];
                         const std::int64_t at = plane * plan.pixels() + pixel;
                         if (of_images.data() != nullptr) of_images.data()[at] += weight * from;
                         of_points.data()[2 * number] += by_x * images.data()[at] * from;
                         of_points.data()[2 * number + 1] += by_y * images.data()[at] * from;
                       }
                     });
    }
    if (of_images.data() != nullptr) of_images.commit();
    of_points.commit();
  });
}

// What cuDNN is given: a copy of what repeats elements.
Tensor without_repetition(const Tensor& tensor) {
  const bool repeats = std::any_of(tensor.strides().begin(), tensor.strides().end(),
                                   [](std::int64_t stride) { return stride == 0; });
  return repeats ? row_major(tensor) : tensor;
}

// cuDNN makes both gradients, PyTorch's kernel leaves out that of the images.
TensorList sample_gradients(const SamplePlan& plan, bool uses_cudnn, const Tensor& given_grad,
                            const Tensor& given, const Tensor& given_grid, bool needs_images) {
  const Tensor input = uses_cudnn ? without_repetition(given) : given;
  const Tensor grid = uses_cudnn ? row_major(given_grid) : given_grid;
  const Tensor grad = uses_cudnn ? without_repetition(given_grad) : given_grad;
  TensorList gradients(2);
  if (uses_cudnn || needs_images) gradients[0] = empty(input.shape(), options_of(input));
  gradients[1] = empty(grid.shape(), options_of(grid));
  compute_sample_gradients(plan, grad, input, grid, gradients);
  return gradients;
}

bool is_cudnns(const SamplePlan& plan, const Tensor& input, const Tensor& grid) {
  const auto is_acceptable = [](const Tensor& tensor) {
    return tensor.device().is_cuda() && tensor.dtype() != DType::bfloat16 && tensor.numel() > 0 &&
           tensor.numel() < std::int64_t{1} << 31U;
  };
  constexpr std::int64_t kMostChannels = 1024;
  return Context::current().cudnn_enabled && plan.sampling == Sampling::bilinear &&
         plan.outside == Outside::zeros && plan.align_corners && plan.channels <= kMostChannels &&
         is_acceptable(input) && is_acceptable(grid);
}

Sampling parsed_sampling(const std::string& mode) {
  if (mode == "bilinear") return Sampling::bilinear;
  if (mode == "nearest") return Sampling::nearest;
  if (mode == "bicubic") return Sampling::bicubic;
  throw std::invalid_argument(fmt::format(
      "[grid_sample] expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{}'", mode));
}

Outside parsed_outside(const std::string& mode) {
  if (mode == "zeros") return Outside::zeros;
  if (mode == "border") return Outside::border;
  if (mode == "reflection") return Outside::reflection;
  throw std::invalid_argument(fmt::format(
      "[grid_sample] expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{}'",
      mode));
}

void require_grid(const Tensor& input, const Tensor& grid) {
  require_floating(input, kGridSample);
  require_alike(kGridSample, input, grid);
  const bool fits = input.dims() == 4 && grid.dims() == 4 && input.shape()[0] == grid.shape()[0] &&
                    grid.shape()[3] == 2 && input.shape()[1] > 0 && input.shape()[2] > 0 &&
                    input.shape()[3] > 0;
  if (fits) return;
  throw std::invalid_argument(
      fmt::format("[grid_sample] expected images [N, C, H, W] with pixels and a grid [N, H, W, 2], "
                  "but got {} and {}",
                  input.shape().str(), grid.shape().str()));
}

}  // namespace

Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners) {
  const OpFront front(kAffineGrid);
  require_maps(theta, size);
  Tensor out = mapped_grid(theta, size, align_corners);
  if (Recorder record("AffineGridGeneratorBackward", {&theta}); record.is_needed()) {
    record.attach(out, [size, align_corners](BackwardCall& call) {
      return TensorList{affine_gradient(call.grad(), size, align_corners)};
    });
  }
  return out;
}

Tensor grid_sample(const Tensor& given, const Tensor& given_grid, const std::string& mode,
                   const std::string& padding_mode, bool align_corners) {
  const OpFront front(kGridSample);
  const std::vector<Tensor> cast = front.widest({given, given_grid});
  const Tensor& input = cast[0];
  const Tensor& grid = cast[1];
  require_grid(input, grid);
  const Shape& sizes = input.shape();
  const Shape& points = grid.shape();
  const SamplePlan plan{parsed_sampling(mode),
                        parsed_outside(padding_mode),
                        align_corners,
                        sizes[0],
                        sizes[1],
                        sizes[2],
                        sizes[3],
                        points[1] * points[2]};
  const bool uses_cudnn = is_cudnns(plan, input, grid);
  Recorder record("GridSampler2DBackward", {&input, &grid});
  record.save(grid);
  record.save(input);
  const Tensor images = uses_cudnn ? without_repetition(input) : input;
  const Tensor read = uses_cudnn ? row_major(grid) : grid;
  Tensor out = empty({sizes[0], sizes[1], points[1], points[2]}, options_of(input));
  compute_samples(plan, images, read, out);
  record.attach(out, [plan, uses_cudnn](BackwardCall& call) {
    TensorList gradients = sample_gradients(plan, uses_cudnn, call.grad(), call.saved(1),
                                            call.saved(0), call.needs(0));
    if (!call.needs(0)) gradients[0] = Tensor();
    if (!call.needs(1)) gradients[1] = Tensor();
    return gradients;
  });
  return out;
}

std::vector<OpDef> grid_ops() {
  return {
      define(kAffineGrid, kFunctional, &affine_grid, {"theta", "size", {"align_corners", false}}),
      define(kGridSample, kFunctional, &grid_sample,
             {"input",
              "grid",
              {"mode", std::string("bilinear")},
              {"padding_mode", std::string("zeros")},
              {"align_corners", false}}),
  };
}

}  // namespace ohm::ops

#include "runtime/ops/convolution/columns.h"

#include <fmt/core.h>

#include <array>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/convolution/conv_sizes.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kColumns{"im2col"};
constexpr OpInfo kFold{"fold"};

/// Windows along one dimension of the image.
struct WindowAxis {
  std::int64_t image = 0;
  std::int64_t kernel = 1;
  std::int64_t dilation = 1;
  std::int64_t padding = 0;
  std::int64_t stride = 1;

  std::int64_t count() const {
    const std::int64_t room = image + 2 * padding - dilation * (kernel - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
  }
  std::int64_t pixel(std::int64_t window, std::int64_t place) const {
    return window * stride - padding + place * dilation;
  }
};

struct ColumnPlan {
  std::array<WindowAxis, 2> axes;  ///< rows, then columns

  std::int64_t windows() const { return axes[0].count() * axes[1].count(); }
  std::int64_t places() const { return axes[0].kernel * axes[1].kernel; }
};

struct ColumnSizes {
  const Shape& kernel;
  const Shape& dilation;
  const Shape& padding;
  const Shape& stride;
};

ColumnPlan column_plan(const OpInfo& info, std::int64_t height, std::int64_t width,
                       const ColumnSizes& sizes) {
  require_pair(info, sizes.kernel, 1, "kernel_size");
  require_pair(info, sizes.dilation, 1, "dilation");
  require_pair(info, sizes.padding, 0, "padding");
  require_pair(info, sizes.stride, 1, "stride");
  ColumnPlan plan;
  for (int i = 0; i < 2; ++i) {
    WindowAxis& axis = plan.axes[static_cast<std::size_t>(i)];
    axis = {i == 0 ? height : width, size_at(sizes.kernel, i), size_at(sizes.dilation, i),
            size_at(sizes.padding, i), size_at(sizes.stride, i)};
    std::int64_t reach = 0;
    std::int64_t padded = 0;
    const bool fits = !__builtin_mul_overflow(axis.dilation, axis.kernel, &reach) &&
                      !__builtin_add_overflow(axis.image, axis.padding, &padded) &&
                      !__builtin_add_overflow(padded, axis.padding, &padded);
    if (fits && axis.count() > 0) continue;
    throw std::invalid_argument(
        fmt::format("[{}] no window of {} elements, {} apart, fits into {} with {} around it",
                    info.name, axis.kernel, axis.dilation, axis.image, axis.padding));
  }
  return plan;
}

// Calls visit(pixel's offset in its plane, column's offset) for what lies within the image.
template <class Visit>
void for_each_place(const ColumnPlan& plan, const Visit& visit) {
  const auto& [rows, columns] = plan.axes;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < rows.kernel; ++i) {
    for (std::int64_t j = 0; j < columns.kernel; ++j) {
      for (std::int64_t row = 0; row < rows.count(); ++row) {
        for (std::int64_t column = 0; column < columns.count(); ++column, ++at) {
          const std::int64_t y = rows.pixel(row, i);
          const std::int64_t x = columns.pixel(column, j);
          if (y < 0 || y >= rows.image || x < 0 || x >= columns.image) continue;
          visit(y * columns.image + x, at);
        }
      }
    }
  }
}

// PyTorch makes a result like its input and gives it its size afterwards: memory that is large
// enough stays, and a copy of the input that the kernel reads is made before it is exchanged.
struct ResizedResult {
  Tensor out;
  Tensor read;
};

ResizedResult resized_result(const Tensor& input, const Shape& shape) {
  Tensor first = empty(input.shape(), options_of(input));
  Tensor read = row_major(input);
  if (first.numel() < shape.numel()) return {empty(shape, options_of(input)), std::move(read)};
  return {reshaped_copy(first, shape), std::move(read)};
}

enum class Direction : bool { to_columns, to_images };

// The planes of one side, one after the other, are read, those of the other written.
Tensor moved(const ColumnPlan& plan, Direction direction, const Tensor& input, const Shape& shape) {
  const ResizedResult result = resized_result(input, shape);
  const Tensor& out = result.out;
  if (!out.has_values()) return out;
  const std::int64_t in_image = plan.axes[0].image * plan.axes[1].image;
  const std::int64_t in_columns = plan.places() * plan.windows();
  const bool is_folded = direction == Direction::to_images;
  const std::int64_t planes = out.numel() / (is_folded ? in_image : in_columns);
  visit_computed(out.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> source(result.read);
    HostOutput<T> target(out);
    target.fill_zero();
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      const std::int64_t image = plane * in_image;
      const std::int64_t columns = plane * in_columns;
      for_each_place(plan, [&](std::int64_t pixel, std::int64_t place) {
        if (is_folded) {
          target.data()[image + pixel] += source.data()[columns + place];
        } else {
          target.data()[columns + place] = source.data()[image + pixel];
        }
      });
    }
    target.commit();
  });
  return out;
}

// Each direction is the other's gradient.
Tensor recorded_move(const ColumnPlan& plan, Direction direction, const Tensor& input,
                     const Shape& shape) {
  const bool is_folded = direction == Direction::to_images;
  Recorder record(is_folded ? "Col2ImBackward" : "Im2ColBackward", {&input});
  Tensor out = moved(plan, direction, input, shape);
  record.attach_differentiable(
      out, [plan, is_folded, original = input.shape()](BackwardCall& call) {
        const Direction back = is_folded ? Direction::to_columns : Direction::to_images;
        return TensorList{recorded_move(plan, back, call.grad(), original)};
      });
  return out;
}

}  // namespace

Tensor im2col(const Tensor& input, const Shape& kernel_size, const Shape& dilation,
              const Shape& padding, const Shape& stride) {
  const OpFront front(kColumns);
  require_floating(input, kColumns);
  const int dims = input.dims();
  if ((dims != 3 && dims != 4) || input.numel() == 0) {
    throw std::invalid_argument(
        fmt::format("[unfold] expected images [N, C, H, W] or [C, H, W] with pixels, but got {}",
                    input.shape().str()));
  }
  const Shape& sizes = input.shape();
  const ColumnPlan plan = column_plan(kColumns, sizes[dims - 2], sizes[dims - 1],
                                      {kernel_size, dilation, padding, stride});
  Shape shape = sizes;
  shape.erase(dims - 1);
  if (__builtin_mul_overflow(sizes[dims - 3], plan.places(), &shape[dims - 3])) {
    throw std::invalid_argument("[unfold] the windows are too large");
  }
  shape[dims - 2] = plan.windows();
  return recorded_move(plan, Direction::to_columns, input, shape);
}

Tensor fold(const Tensor& input, const Shape& output_size, const Shape& kernel_size,
            const Shape& dilation, const Shape& padding, const Shape& stride) {
  const OpFront front(kFold);
  require_floating(input, kFold);
  require_pair(kFold, output_size, 1, "output_size");
  const ColumnPlan plan = column_plan(kFold, size_at(output_size, 0), size_at(output_size, 1),
                                      {kernel_size, dilation, padding, stride});
  const int dims = input.dims();
  const bool fits = (dims == 2 || dims == 3) && input.numel() > 0 &&
                    input.shape()[dims - 2] % plan.places() == 0 &&
                    input.shape()[dims - 1] == plan.windows();
  if (!fits) {
    throw std::invalid_argument(
        fmt::format("[fold] expected columns [N, C · {}, {}], or without N, but got {}",
                    plan.places(), plan.windows(), input.shape().str()));
  }
  Shape shape = input.shape();
  shape[dims - 2] /= plan.places();
  shape[dims - 1] = size_at(output_size, 0);
  shape.push_back(size_at(output_size, 1));
  return recorded_move(plan, Direction::to_images, input, shape);
}

std::vector<OpDef> column_ops() {
  const ParamName dilation{"dilation", Shape{1}};
  const ParamName padding{"padding", Shape{0}};
  const ParamName stride{"stride", Shape{1}};
  return {
      define(kColumns, kFunctional, &im2col, {"input", "kernel_size", dilation, padding, stride}),
      define(kFold, kFunctional, &fold,
             {"input", "output_size", "kernel_size", dilation, padding, stride}),
  };
}

}  // namespace ohm::ops

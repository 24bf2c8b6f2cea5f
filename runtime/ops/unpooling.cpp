#include "runtime/ops/unpooling.h"

#include <fmt/core.h>

#include <stdexcept>
#include <string_view>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/max_pool.h"
#include "runtime/ops/max_pool_volumes.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/ops/pooling_gradients.h"
#include "runtime/ops/sequence.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMaxUnpool1d{"max_unpool1d"};
constexpr OpInfo kMaxUnpool2d{"max_unpool2d"};
constexpr OpInfo kMaxUnpool3d{"max_unpool3d"};

/// Of `dims` dimensions, one size for all or one for each.
struct UnpoolSizes {
  int dims;
  const Shape& kernel;
  const std::optional<Shape>& stride;
  const Shape& padding;

  Shape strides() const { return stride && !stride->empty() ? *stride : kernel; }
};

void require_unpool_sizes(const OpInfo& info, const UnpoolSizes& sizes) {
  require_sizes(info, sizes.dims, sizes.kernel, 1, "kernel_size");
  require_sizes(info, sizes.dims, sizes.strides(), 1, "stride");
  require_sizes(info, sizes.dims, sizes.padding, 0, "padding");
}

void require_pooled(const OpInfo& info, const Tensor& input, const Tensor& indices, int dims) {
  require_floating(input, info);
  require_same_device(input, indices, info);
  const bool has_dims = input.dims() == dims + 1 || input.dims() == dims + 2;
  if (!has_dims || input.numel() == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] expected {} or {} dimensions with elements, "
                    "but got {}",
                    info.name, dims + 1, dims + 2, input.shape().str()));
  }
  if (indices.dtype() != DType::int64) {
    throw std::invalid_argument(
        fmt::format("[{}] elements in indices should be type int64 but got: {}", info.name,
                    name_of(indices.dtype())));
  }
  if (indices.shape() == input.shape()) return;
  throw std::invalid_argument(fmt::format(
      "[{}] Expected shape of indices to be same as that of the input tensor ({}) but got indices "
      "tensor with shape: {}",
      info.name, input.shape().str(), indices.shape().str()));
}

// What the windows cover.
Shape covered_sizes(const OpInfo& info, const Tensor& input, const UnpoolSizes& sizes) {
  require_unpool_sizes(info, sizes);
  const Shape strides = sizes.strides();
  Shape covered;
  for (int i = 0; i < sizes.dims; ++i) {
    std::int64_t size = input.shape()[input.dims() - sizes.dims + i] - 1;
    const bool is_too_large = __builtin_mul_overflow(size, size_at(strides, i), &size) ||
                              __builtin_add_overflow(size, size_at(sizes.kernel, i), &size) ||
                              size_at(sizes.padding, i) > (std::int64_t{1} << 40);
    if (is_too_large) {
      throw std::invalid_argument(fmt::format("[{}] sizes are too large", info.name));
    }
    covered.push_back(size - 2 * size_at(sizes.padding, i));
  }
  return covered;
}

// `asked` of the last dimensions, or of all.
Shape asked_sizes(const OpInfo& info, const UnpoolSizes& sizes, const Shape& asked,
                  const Shape& covered) {
  const int before = asked.dims() - sizes.dims;
  if (before != 0 && before != 2) {
    throw std::invalid_argument(
        fmt::format("[{}] output_size should be a sequence containing {} or {} elements, but it "
                    "has a length of '{}'",
                    info.name, sizes.dims, sizes.dims + 2, asked.dims()));
  }
  const Shape strides = sizes.strides();
  Shape out;
  for (int i = 0; i < sizes.dims; ++i) {
    const std::int64_t size = asked[before + i];
    const std::int64_t least = covered[i] - size_at(strides, i);
    const std::int64_t most = covered[i] + size_at(strides, i);
    if (size <= least || size >= most) {
      throw std::invalid_argument(
          fmt::format("[{}] invalid output_size \"{}\" (dim {} must be between {} and {})",
                      info.name, asked.str(), i, least, most));
    }
    out.push_back(size);
  }
  return out;
}

Shape unpooled_sizes(const OpInfo& info, const Tensor& input, const UnpoolSizes& sizes,
                     const std::optional<Shape>& output_size) {
  const Shape covered = covered_sizes(info, input, sizes);
  Shape out = output_size ? asked_sizes(info, sizes, *output_size, covered) : covered;
  for (const std::int64_t size : out) {
    if (size >= 0) continue;
    throw std::invalid_argument(
        fmt::format("[{}] output_size must not be negative, but is {}", info.name, out.str()));
  }
  return out;
}

void write_back(const OpInfo& info, const Tensor& out, const Tensor& input, const Tensor& indices,
                int dims) {
  if (!out.has_values()) return;
  std::int64_t pooled = 1;
  std::int64_t pixels = 1;
  for (int dim = out.dims() - dims; dim < out.dims(); ++dim) {
    pooled *= input.shape()[dim];
    pixels *= out.shape()[dim];
  }
  visit_computed(out.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> maxima(input);
    const HostInput<std::int64_t> places(indices);
    HostOutput<T> target(out);
    target.fill_zero();
    for (std::int64_t i = 0; i < input.numel(); ++i) {
      const std::int64_t place = places.data()[i];
      if (place < 0 || place >= pixels) {
        throw std::invalid_argument(
            fmt::format("[{}] found an invalid max index: {} (output volumes are of size {})",
                        info.name, place, pixels));
      }
      target.data()[i / pooled * pixels + place] = maxima.data()[i];
    }
    target.commit();
  });
}

Tensor unpool(const OpInfo& info, std::string_view node, const Tensor& input, const Tensor& indices,
              const Shape& sizes) {
  const int dims = sizes.dims();
  require_pooled(info, input, indices, dims);
  Recorder record(node, {&input});
  record.save(indices);
  Shape shape = input.shape();
  for (int i = 0; i < dims; ++i) shape[shape.dims() - dims + i] = sizes[i];
  const Tensor maxima = row_major(input);
  const Tensor places = row_major(indices);
  Tensor out = empty(shape, options_of(input));
  write_back(info, out, maxima, places, dims);
  record.attach_differentiable(out, [dims](BackwardCall& call) {
    return TensorList{found_at_maxima(call.grad(), call.saved(0), dims)};
  });
  return out;
}

std::vector<Sample> maxima_of_lines() {
  const Value missing;
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto places =
      max_pool1d_with_indices(randn({2, 2, 6}, options), {2}, std::nullopt, {0}, {1}, false).second;
  return {{randn({2, 2, 3}, options), places, Shape{2}},
          {randn({2, 2, 3}, options), places, Shape{2}, missing, Shape{0}, Shape{7}}};
}

std::vector<Sample> maxima_of_images() {
  const Value missing;
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto places =
      max_pool2d_with_indices(randn({2, 2, 6, 4}, options), {2}, std::nullopt, {0}, {1}, false)
          .second;
  return {{randn({2, 2, 3, 2}, options), places, Shape{2}},
          {randn({2, 2, 3, 2}, options), places, Shape{2}, Shape{2}, Shape{0}, Shape{2, 2, 6, 5}}};
}

std::vector<Sample> maxima_of_volumes() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto places =
      max_pool3d_with_indices(randn({2, 4, 4, 2}, options), {2}, std::nullopt, {0}, {1}, false)
          .second;
  return {{randn({2, 2, 2, 1}, options), places, Shape{2}}};
}

}  // namespace

Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const Shape& kernel_size,
                    const std::optional<Shape>& stride, const Shape& padding,
                    const std::optional<Shape>& output_size) {
  const OpFront front(kMaxUnpool1d);
  require_pooled(kMaxUnpool1d, input, indices, 1);
  Shape sizes = unpooled_sizes(kMaxUnpool1d, input, {1, kernel_size, stride, padding}, output_size);
  sizes.push_back(1);
  return squeeze(unpool(kMaxUnpool2d, "MaxUnpool2DBackward", unsqueeze(input, -1),
                        unsqueeze(indices, -1), sizes),
                 -1);
}

Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const Shape& kernel_size,
                    const std::optional<Shape>& stride, const Shape& padding,
                    const std::optional<Shape>& output_size) {
  const OpFront front(kMaxUnpool2d);
  require_pooled(kMaxUnpool2d, input, indices, 2);
  return unpool(
      kMaxUnpool2d, "MaxUnpool2DBackward", input, indices,
      unpooled_sizes(kMaxUnpool2d, input, {2, kernel_size, stride, padding}, output_size));
}

Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const Shape& kernel_size,
                    const std::optional<Shape>& stride, const Shape& padding,
                    const std::optional<Shape>& output_size) {
  const OpFront front(kMaxUnpool3d);
  require_pooled(kMaxUnpool3d, input, indices, 3);
  return unpool(
      kMaxUnpool3d, "MaxUnpool3DBackward", input, indices,
      unpooled_sizes(kMaxUnpool3d, input, {3, kernel_size, stride, padding}, output_size));
}

std::vector<OpDef> unpooling_ops() {
  const std::vector<ParamName> names = {
      "input", "indices", "kernel_size", "stride", {"padding", Shape{0}}, "output_size"};
  return {
      define(kMaxUnpool1d, kFunctional, &max_unpool1d, names, maxima_of_lines),
      define(kMaxUnpool2d, kFunctional, &max_unpool2d, names, maxima_of_images),
      define(kMaxUnpool3d, kFunctional, &max_unpool3d, names, maxima_of_volumes),
  };
}

}  // namespace ohm::ops

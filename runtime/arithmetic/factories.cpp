#include "runtime/arithmetic/factories.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/memory_format.h"
#include "runtime/arithmetic/whole_scalars.h"
#include "runtime/base/refusal.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/tensor/allocation.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/cuda_backend.h"
#include "runtime/tensor/cuda_graph.h"

namespace ohm {
namespace {

std::size_t checked_bytes(const Shape& shape, DType dtype) {
  for (const std::int64_t size : shape) {
    if (size < 0) {
      refuse(fmt::format("trying to create a tensor with negative dimension {}: {}", size,
                         shape.str()));
    }
  }
  std::size_t bytes = 0;
  const auto numel = static_cast<std::size_t>(shape.numel());
  if (__builtin_mul_overflow(numel, item_bytes(dtype), &bytes) || bytes > INT64_MAX) {
    refuse(fmt::format("the bytes of a {} tensor of shape {} do not fit in 64 bits", name_of(dtype),
                       shape.str()));
  }
  return bytes;
}

Tensor tensor_on(IntrusivePtr<Storage> storage, const Shape& shape, const Shape& strides,
                 DType dtype) {
  auto* impl = new TensorImpl();
  IntrusivePtr<TensorImpl> owner(impl);
  impl->storage = std::move(storage);
  impl->sizes = shape;
  impl->strides = strides;
  impl->numel = shape.numel();
  impl->dtype = dtype;
  impl->is_contiguous = are_contiguous(shape, strides);
  return Tensor(std::move(owner));
}

// What a script makes itself is an input; what an op makes keeps the category it runs under.
Category category_of_new_data(const Context& context) {
  const bool is_made_by_script =
      context.state.op.empty() && context.state.category == Category::activation;
  return is_made_by_script ? Category::input : context.state.category;
}

Tensor new_data(const Shape& shape, const TensorOptions& options) {
  const CategoryGuard category(category_of_new_data(Context::current()));
  return empty(shape, options);
}

// A CUDA device fills its memory itself.
bool fill_on_cuda(const Tensor& tensor, double value) {
  constexpr std::size_t kWidestItem = 4;
  if (tensor.cuda_backend() == nullptr || !tensor.is_contiguous()) return false;
  if (tensor.numel() == 0) return true;
  const std::size_t bytes = item_bytes(tensor.dtype());
  const bool is_all = tensor.nbytes() == tensor.storage().bytes();
  std::uint64_t pattern = 0;
  visit_dtype(tensor.dtype(), [&]<class T>(TypeTag<T>) {
    const T item = convert_element<T>(value);
    std::memcpy(&pattern, &item, sizeof item);
  });
  if (bytes > kWidestItem && pattern != 0) return false;
  const std::size_t item = std::min(bytes, kWidestItem);
  const DeviceAddress to = tensor.cuda_address(is_all ? CudaAccess::overwrite : CudaAccess::write);
  tensor.cuda_backend()->device->fill(to, static_cast<std::uint32_t>(pattern), item,
                                      tensor.nbytes() / item);
  return true;
}

// Calls fn(i) for each element i in row-major order and stores what it returns.
template <class F>
void generate(const Tensor& tensor, F&& fn) {
  if (!tensor.has_values() || is_generated_on_cuda(fn, tensor)) return;
  visit_dtype(tensor.dtype(), [&]<class T>(TypeTag<T>) {
    T* data = tensor.data<T>();
    if (tensor.is_contiguous()) {
      for (std::int64_t i = 0; i < tensor.numel(); ++i)
        data[i] = convert_element<T>(fn(static_cast<std::uint64_t>(i)));
      return;
    }
    std::uint64_t i = 0;
    for_each_offset(tensor.shape(), tensor.strides(),
                    [&](std::int64_t offset) { data[offset] = convert_element<T>(fn(i++)); });
  });
}

// The words of a draw for its elements, on its device.
functors::WordDraw draw_words(const Tensor& tensor) {
  PhiloxGenerator& generator = generator_to_draw(tensor.device());
  return {generator.seed, generator.take(static_cast<std::uint64_t>(tensor.numel()))};
}

// Stores formula.of_word(word) for each word of its draw.
template <class F>
void generate_from_words(const Tensor& tensor, const F& formula) {
  constexpr std::int64_t kBlock = 4;
  if (!tensor.has_values() || is_generated_on_cuda(formula, tensor)) return;
  if (!tensor.is_contiguous()) return generate(tensor, formula);
  // A block at a time: the words stay in registers.
  visit_dtype(tensor.dtype(), [&]<class T>(TypeTag<T>) {
    T* data = tensor.data<T>();
    for (std::int64_t done = 0; done < tensor.numel(); done += kBlock) {
      const auto block = philox_block(
          formula.draw.seed, formula.draw.offset + static_cast<std::uint64_t>(done / kBlock));
      const std::int64_t count = std::min(kBlock, tensor.numel() - done);
      for (std::int64_t i = 0; i < count; ++i) {
        data[done + i] = convert_element<T>(formula.of_word(block[static_cast<std::size_t>(i)]));
      }
    }
  });
}

}  // namespace

Tensor empty_strided(const Shape& shape, const Shape& strides, const TensorOptions& options) {
  const std::size_t bytes = checked_bytes(shape, options.dtype);
  return tensor_on(allocate_storage(bytes, options.device), shape, strides, options.dtype);
}

Tensor empty_pinned(const Shape& shape, const Shape& strides, DType dtype) {
  return tensor_on(allocate_pinned_storage(checked_bytes(shape, dtype)), shape, strides, dtype);
}

Tensor empty(const Shape& shape, const TensorOptions& options) {
  return empty_strided(shape, contiguous_strides(shape), options);
}

Tensor empty_like(const Tensor& like) { return empty_like(like, like.dtype()); }

Tensor empty_like(const Tensor& like, DType dtype) {
  const TensorOptions options{dtype, like.device()};
  const Shape strides =
      like.is_dense() ? like.strides() : dense_strides(like.shape(), {&like.strides(), 1});
  return empty_strided(like.shape(), strides, options);
}

namespace {

// Whether all are tensors of this shape for which `holds` is true.
template <class F>
bool all_alike(const Shape& shape, std::span<const Tensor* const> operands, F&& holds) {
  return std::all_of(operands.begin(), operands.end(), [&](const Tensor* operand) {
    return operand != nullptr && operand->shape() == shape && holds(*operand);
  });
}

Tensor empty_for_operands(const Shape& shape, std::span<const Tensor* const> operands,
                          const TensorOptions& options) {
  for (const MemoryFormat format : {MemoryFormat::row_major, MemoryFormat::channels_last}) {
    if (all_alike(shape, operands, [&](const Tensor& each) { return lies_in(each, format); })) {
      return empty_strided(shape, strides_in(format, shape), options);
    }
  }
  const Tensor* const first = operands.front();
  const auto is_like_first = [&](const Tensor& each) {
    return each.is_dense() && each.strides() == first->strides();
  };
  if (all_alike(shape, operands, is_like_first)) {
    return empty_strided(shape, first->strides(), options);
  }
  std::vector<Shape> strides;
  for (const Tensor* operand : operands) {
    if (operand == nullptr) continue;
    strides.push_back(broadcast_strides(operand->shape(), operand->strides(), shape));
  }
  // Dimensions of size 1 have the strides of their places, too.
  const Shape dense = dense_strides(shape, strides);
  return shape.numel() == 0 && are_contiguous(shape, dense) ? empty(shape, options)
                                                            : empty_strided(shape, dense, options);
}

}  // namespace

Tensor empty_for_loop(const Shape& shape, std::initializer_list<const Tensor*> operands,
                      const TensorOptions& options) {
  return empty_for_operands(shape, {operands.begin(), operands.size()}, options);
}

Tensor full(const Shape& shape, double value, const TensorOptions& options) {
  Tensor tensor = new_data(shape, options);
  fill_values(tensor, value);
  return tensor;
}

Tensor zeros(const Shape& shape, const TensorOptions& options) { return full(shape, 0.0, options); }
Tensor ones(const Shape& shape, const TensorOptions& options) { return full(shape, 1.0, options); }

Tensor zeros_like(const Tensor& like) {
  Tensor tensor = empty_like(like);
  fill_values(tensor, 0.0);
  return tensor;
}

Tensor ones_like(const Tensor& like) {
  Tensor tensor = empty_like(like);
  fill_values(tensor, 1.0);
  return tensor;
}

Tensor from_values(const std::vector<double>& values, const Shape& shape,
                   const TensorOptions& options) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (count != shape.numel()) {
    throw std::invalid_argument(
        fmt::format("[tensor] {} values do not fill shape {}", values.size(), shape.str()));
  }
  Tensor tensor = new_data(shape, options);
  generate(tensor, [&](std::uint64_t i) { return values[i]; });
  return tensor;
}

Tensor arange(double start, double step, std::int64_t count, const TensorOptions& options) {
  Tensor tensor = new_data({count}, options);
  generate(tensor, functors::Progression{start, step});
  return tensor;
}

Tensor randn(const Shape& shape, const TensorOptions& options) {
  Tensor tensor = new_data(shape, options);
  fill_normal(tensor, 0.0, 1.0);
  return tensor;
}

Tensor rand(const Shape& shape, const TensorOptions& options) {
  Tensor tensor = new_data(shape, options);
  fill_uniform(tensor, 0.0, 1.0);
  return tensor;
}

void require_few_integers(std::int64_t low, std::int64_t high, std::string_view op) {
  if (low >= high) {
    throw std::invalid_argument(
        fmt::format("[{}] expects low < high, but got {} and {}", op, low, high));
  }
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (range > (std::uint64_t{1} << 32U)) {
    throw std::invalid_argument(
        fmt::format("[{}] the range [{}, {}) has more than 2^32 values", op, low, high));
  }
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
               const TensorOptions& options) {
  require_few_integers(low, high, "randint");
  Tensor tensor = new_data(shape, options);
  fill_integers(tensor, low, high);
  return tensor;
}

void fill_integers(const Tensor& tensor, std::int64_t low, std::int64_t high) {
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  generate_from_words(tensor, functors::IntegerDraw{draw_words(tensor), low, range});
}

void fill_values(const Tensor& tensor, double value) {
  if (const std::optional<std::int64_t> whole = whole_scalar(value, tensor.dtype())) {
    return generate(tensor, [whole](std::uint64_t) { return *whole; });
  }
  if (fill_on_cuda(tensor, value)) return;
  generate(tensor, functors::Constant{value});
}

void fill_uniform(const Tensor& tensor, double low, double high) {
  generate_from_words(tensor, functors::UniformDraw{draw_words(tensor), low, high});
}

void fill_normal(const Tensor& tensor, double mean, double deviation) {
  const functors::NormalDraw formula{draw_words(tensor), mean, deviation};
  if (tensor.has_values() && is_generated_on_cuda(formula, tensor)) return;
  std::array<double, 4> values{};
  generate(tensor, [&](std::uint64_t i) {
    if (i % 4 == 0) values = formula.of_block(i / 4);
    return values[i % 4];
  });
}

void fill_bernoulli(const Tensor& tensor, double probability, double value) {
  generate_from_words(
      tensor, functors::BernoulliDraw{draw_words(tensor), static_cast<float>(probability), value});
}

namespace {

/// All elements in row-major order, converted to T.
template <class T>
std::vector<T> elements_as(const Tensor& tensor) {
  std::vector<T> elements;
  elements.reserve(static_cast<std::size_t>(tensor.numel()));
  visit_dtype(tensor.dtype(), [&]<class Stored>(TypeTag<Stored>) {
    const Stored* data = tensor.data<const Stored>();
    for_each_offset(tensor.shape(), tensor.strides(), [&](std::int64_t offset) {
      elements.push_back(convert_element<T>(data[offset]));
    });
  });
  return elements;
}

}  // namespace

std::vector<double> to_doubles(const Tensor& tensor) {
  if (tensor.has_values()) return elements_as<double>(tensor);
  std::vector<double> unknown(static_cast<std::size_t>(tensor.numel()),
                              std::numeric_limits<double>::quiet_NaN());
  return unknown;
}

std::vector<std::int64_t> to_integers(const Tensor& tensor) {
  return elements_as<std::int64_t>(tensor);
}

}  // namespace ohm

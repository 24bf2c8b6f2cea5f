// New tensors. Each makes one allocation of numel × item bytes (none when that is 0), and throws
// OutOfMemory, or std::invalid_argument for negative sizes and sizes that overflow.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm {

struct TensorOptions {
  DType dtype = DType::float32;
  Device device = Device::cpu();
};

inline TensorOptions options_of(const Tensor& like) { return {like.dtype(), like.device()}; }

/// Uninitialised; of the current context's category. What ops allocate their results with.
Tensor empty(const Shape& shape, const TensorOptions& options);
/// Uninitialised: what kernels need while they run.
inline Tensor empty_bytes(std::int64_t bytes, Device device) {
  return empty({bytes}, {DType::uint8, device});
}
/// Uninitialised, dense, laid out as `strides` (in elements) say.
Tensor empty_strided(const Shape& shape, const Shape& strides, const TensorOptions& options);
/// The same in pinned memory of the host.
Tensor empty_pinned(const Shape& shape, const Shape& strides, DType dtype);
/// Shape, dtype, device of `like`, and its strides; without the gaps where it has some.
Tensor empty_like(const Tensor& like);
Tensor empty_like(const Tensor& like, DType dtype);
/// What a loop over `operands`, which broadcast to `shape`, writes to. Where they are of one shape
/// it is row-major as they are, or has its channels last as they have (memory_format.h), or has
/// their strides where those are dense and alike; else its dimensions lie in the order that the
/// first operand which tells has them in, as PyTorch's TensorIterator decides. A nullptr is a
/// number.
Tensor empty_for_loop(const Shape& shape, std::initializer_list<const Tensor*> operands,
                      const TensorOptions& options);

Tensor full(const Shape& shape, double value, const TensorOptions& options);
Tensor zeros(const Shape& shape, const TensorOptions& options);
Tensor ones(const Shape& shape, const TensorOptions& options);
Tensor zeros_like(const Tensor& like);
Tensor ones_like(const Tensor& like);

/// `values` in row-major order; their number must be the shape's.
Tensor from_values(const std::vector<double>& values, const Shape& shape,
                   const TensorOptions& options);
/// 0, 1, … count-1, times `step`, plus `start`.
Tensor arange(double start, double step, std::int64_t count, const TensorOptions& options);

/// Standard normal, from the device's generator.
Tensor randn(const Shape& shape, const TensorOptions& options);
/// Uniform in [0, 1).
Tensor rand(const Shape& shape, const TensorOptions& options);
/// Integers in [low, high).
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
               const TensorOptions& options);

/// Sets every element of a contiguous or strided tensor, in place.
void fill_values(const Tensor& tensor, double value);
/// Draws in place, as parameters are initialised: uniform in [low, high).
void fill_uniform(const Tensor& tensor, double low, double high);
void fill_normal(const Tensor& tensor, double mean, double deviation);
/// Integers in [low, high). Pre-condition: require_few_integers().
void fill_integers(const Tensor& tensor, std::int64_t low, std::int64_t high);
/// Throws std::invalid_argument in the name of `op` unless low < high and there are at most 2^32
/// integers in [low, high).
void require_few_integers(std::int64_t low, std::int64_t high, std::string_view op);
/// `value` with a probability, else 0.
void fill_bernoulli(const Tensor& tensor, double probability, double value);

/// All elements in row-major order as doubles; NaN for each on size-only devices.
std::vector<double> to_doubles(const Tensor& tensor);
/// The same of a tensor of integers, exactly. Pre-condition: it has values.
std::vector<std::int64_t> to_integers(const Tensor& tensor);
/// Calls fn with the one of these that holds the elements exactly.
template <class F>
void visit_numbers(const Tensor& tensor, F&& fn) {
  if (is_floating(tensor.dtype())) {
    fn(to_doubles(tensor));
  } else {
    fn(to_integers(tensor));
  }
}

}  // namespace ohm

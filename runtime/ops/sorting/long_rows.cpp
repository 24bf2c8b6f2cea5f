#include "runtime/ops/sorting/long_rows.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/sorting/sorting_scratch.h"

namespace ohm::ops {
namespace {

constexpr std::int64_t kLongestInPlace = 4096;

// Without gaps, `dim` last and the others in the order of their strides.
Shape strides_with_last(const Tensor& input, int dim) {
  std::vector<int> order(static_cast<std::size_t>(input.dims()));
  std::iota(order.begin(), order.end(), 0);
  const auto stride_of = [&](int of) { return of == dim ? -1 : input.strides()[of]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return stride_of(a) > stride_of(b); });
  std::reverse(order.begin(), order.end());
  Shape strides(input.dims(), 0);
  std::int64_t stride = 1;
  for (const int of : order) {
    strides[of] = stride;
    stride *= input.shape()[of];
  }
  return strides;
}

Tensor of_strides(const Tensor& tensor, const Shape& strides) {
  return tensor.strides() == strides ? Tensor()
                                     : empty_strided(tensor.shape(), strides, options_of(tensor));
}

void sort_rows_one_by_one(const Tensor& input, std::int64_t size, std::int64_t rows) {
  const Tensor places = empty({size}, {DType::int64, input.device()});
  const std::int64_t bytes = numbered_sort_scratch_bytes(size, input.dtype(), input.device());
  for (std::int64_t row = 0; row < rows; ++row) {
    const Tensor scratch = empty_bytes(bytes, input.device());
  }
}

// All elements, each with its place and row; then by row, of which one byte says which.
void sort_twice(const Tensor& input) {
  const std::int64_t count = input.numel();
  const Device device = input.device();
  const Tensor places = empty({count}, {DType::int64, device});
  const Tensor sorted_places = empty({count}, {DType::int64, device});
  {
    const Tensor keys = empty({count}, options_of(input));
    const Tensor scratch =
        empty_bytes(numbered_sort_scratch_bytes(count, input.dtype(), device), device);
  }
  const Tensor scratch = empty_bytes(byte_sort_scratch_bytes(count, device), device);
}

void sort_segments(const Tensor& input) {
  const std::int64_t count = input.numel();
  const Tensor places = empty({count}, {DType::int64, input.device()});
  const Tensor scratch =
      empty_bytes(segmented_sort_scratch_bytes(count, input.dtype()), input.device());
}

}  // namespace

bool has_long_rows(const Tensor& input, int dim) {
  return input.device().is_cuda() && input.shape()[dim] > kLongestInPlace &&
         input.dtype() != DType::boolean;
}

void take_scratch_of_long_rows(const Tensor& input, int dim, const Tensor& values,
                               const Tensor& indices) {
  constexpr std::int64_t kRowOfWholeDevice = 1'000'000;
  constexpr std::int64_t kSegments = 128;
  const std::int64_t size = input.shape()[dim];
  const std::int64_t rows = input.numel() / size;
  const bool has_rows = input.is_dense() && input.strides()[dim] == 1;
  const Shape strides = has_rows ? input.strides() : strides_with_last(input, dim);
  const Tensor copy =
      has_rows ? Tensor() : empty_strided(input.shape(), strides, options_of(input));
  const Tensor value_rows = of_strides(values, strides);
  const Tensor index_rows = of_strides(indices, strides);
  if (rows == 1 || size >= kRowOfWholeDevice) {
    sort_rows_one_by_one(input, size, rows);
  } else if (rows < kSegments) {
    sort_twice(input);
  } else {
    sort_segments(input);
  }
}

}  // namespace ohm::ops

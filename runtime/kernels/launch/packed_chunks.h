// Elements of tensors in row-major order, packed in chunks as what a loop on the host computes in:
// int64, float32 or float64. Chunks lie in the reader's or writer's own memory, which fits in a
// cache, unless the tensor is laid out so already.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/base/dtype.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

inline constexpr std::int64_t kChunkElements = 512;

/// A place among the elements of a tensor, in row-major order of a shape that it broadcasts to.
class RowMajorCursor {
 public:
  RowMajorCursor() = default;  ///< at one element
  RowMajorCursor(const Shape& shape, const Shape& strides);

  /// Calls visit(offset, step, count) for runs that make up the next `count` elements. Offset and
  /// step are in elements.
  template <class F>
  void advance(std::int64_t count, F&& visit) {
    while (count > 0) {
      const std::int64_t run = count < length_ - at_ ? count : length_ - at_;
      visit(offset_ + at_ * step_, step_, run);
      at_ += run;
      count -= run;
      if (at_ == length_) next_row();
    }
  }

 private:
  void next_row();

  std::int64_t length_ = 1;  // of a row, which runs along the last dimension
  std::int64_t step_ = 0;
  std::int64_t at_ = 0;
  std::int64_t offset_ = 0;  // of the row
  Shape outer_sizes_;
  Shape outer_strides_;
  Shape outer_at_;
};

/// Whether the tensor's own memory holds elements of dtype `packed` in row-major order.
inline bool is_packed(const Tensor& tensor, DType packed) {
  return tensor.dtype() == packed && tensor.is_contiguous();
}

/// An input of a loop, read as `dtype` and packed as `compute`: elements of other dtypes are
/// converted to `dtype` first, as a cast would. Must not outlive the tensor.
class ChunkReader {
 public:
  /// Pre-condition: the tensor has values and broadcasts to `shape`.
  ChunkReader(const Tensor& tensor, const Shape& shape, DType dtype, DType compute);
  /// The same number for each of `count` elements, as it is in `compute`.
  ChunkReader(double number, std::int64_t count, DType compute);

  /// The next `count` elements, at most kChunkElements. Valid until the next call.
  const void* next(std::int64_t count);

 private:
  using Gather = void (*)(const void* from, std::int64_t step, std::int64_t count, void* to);

  const std::byte* packed_ = nullptr;
  const std::byte* stored_ = nullptr;
  bool is_filled_ = false;  // every chunk is the same
  bool is_rounded_ = false;
  DType dtype_;
  std::size_t stored_bytes_ = 0;
  std::size_t packed_bytes_;
  Gather gather_ = nullptr;
  RowMajorCursor cursor_;
  alignas(64) std::array<std::byte, kChunkElements * 8> chunk_;
};

/// The result of a loop that writes elements of dtype `packed`: bool, int64, float32 or float64.
class ChunkWriter {
 public:
  ChunkWriter(const Tensor& out, DType packed);

  /// Where the loop writes its next elements, at most kChunkElements.
  void* begin() { return is_packed_ ? next_ : chunk_.data(); }
  /// Stores what it wrote there.
  void commit(std::int64_t count);

 private:
  using Scatter = void (*)(const void* from, std::int64_t step, std::int64_t count, void* to);

  std::byte* next_;
  bool is_packed_;
  std::size_t stored_bytes_;
  std::size_t packed_bytes_;
  Scatter scatter_ = nullptr;
  RowMajorCursor cursor_;
  alignas(64) std::array<std::byte, kChunkElements * 8> chunk_;
};

}  // namespace ohm

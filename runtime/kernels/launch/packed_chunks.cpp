#include "runtime/kernels/launch/packed_chunks.h"

#include <algorithm>
#include <type_traits>

#include "runtime/base/compute_dtype.h"
#include "runtime/base/strided.h"

namespace ohm {
namespace {

/// Calls fn(TypeTag<T>) with the type that elements read as `dtype` are converted to: what they are
/// computed in, but bool, as 0.5 is true.
template <class F>
auto visit_converted(DType dtype, F&& fn) {
  if (dtype == DType::boolean) return fn(TypeTag<bool>{});
  return visit_packed(compute_dtype(dtype), fn);
}

template <class Stored, class Converted>
void gather(const void* from, std::int64_t step, std::int64_t count, void* to) {
  using Compute = ComputeType<Converted>;
  const auto* source = static_cast<const Stored*>(from);
  auto* target = static_cast<Compute*>(to);
  const auto converted = [](Stored element) {
    return convert_element<Compute>(convert_element<Converted>(element));
  };
  if (step == 1) {
    for (std::int64_t i = 0; i < count; ++i) target[i] = converted(source[i]);
  } else if (step == 0) {
    std::fill_n(target, count, converted(*source));
  } else {
    for (std::int64_t i = 0; i < count; ++i) target[i] = converted(source[i * step]);
  }
}

template <class Packed, class Stored>
void scatter(const void* from, std::int64_t step, std::int64_t count, void* to) {
  const auto* source = static_cast<const Packed*>(from);
  auto* target = static_cast<Stored*>(to);
  if (step == 1) {
    for (std::int64_t i = 0; i < count; ++i) target[i] = convert_element<Stored>(source[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) target[i * step] = convert_element<Stored>(source[i]);
  }
}

template <class T>
void round_packed(void* packed, std::int64_t count) {
  using Compute = ComputeType<T>;
  auto* element = static_cast<Compute*>(packed);
  for (std::int64_t i = 0; i < count; ++i) {
    element[i] = convert_element<Compute>(convert_element<T>(element[i]));
  }
}

/// What is computed in a wider type has, when read as `dtype`, the values of that alone.
void round_to(DType dtype, void* packed, std::int64_t count) {
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (!std::is_same_v<T, ComputeType<T>> && !std::is_same_v<T, bool>) {
      round_packed<T>(packed, count);
    }
  });
}

}  // namespace

RowMajorCursor::RowMajorCursor(const Shape& shape, const Shape& strides) {
  Shape sizes;
  Shape merged;
  for (int dim = 0; dim < shape.dims(); ++dim) {
    if (shape[dim] == 1) continue;
    const int last = sizes.dims() - 1;
    if (last >= 0 && merged[last] == strides[dim] * shape[dim]) {
      sizes[last] *= shape[dim];
      merged[last] = strides[dim];
    } else {
      sizes.push_back(shape[dim]);
      merged.push_back(strides[dim]);
    }
  }
  if (sizes.empty()) return;
  const int last = sizes.dims() - 1;
  length_ = sizes[last];
  step_ = merged[last];
  sizes.erase(last);
  merged.erase(last);
  outer_sizes_ = sizes;
  outer_strides_ = merged;
  outer_at_ = Shape(last, 0);
}

void RowMajorCursor::next_row() {
  at_ = 0;
  for (int dim = outer_sizes_.dims() - 1; dim >= 0; --dim) {
    offset_ += outer_strides_[dim];
    if (++outer_at_[dim] < outer_sizes_[dim]) return;
    offset_ -= outer_strides_[dim] * outer_sizes_[dim];
    outer_at_[dim] = 0;
  }
}

ChunkReader::ChunkReader(const Tensor& tensor, const Shape& shape, DType dtype, DType compute)
    : stored_(tensor.storage().read_values() + tensor.offset_bytes()),
      is_rounded_(tensor.dtype() != dtype),
      dtype_(dtype),
      stored_bytes_(item_bytes(tensor.dtype())),
      packed_bytes_(item_bytes(compute)) {
  if (!is_rounded_ && is_packed(tensor, compute) && tensor.shape() == shape) {
    packed_ = stored_;
    return;
  }
  visit_dtype(tensor.dtype(), [&]<class Stored>(TypeTag<Stored>) {
    visit_converted(
        dtype, [&]<class Converted>(TypeTag<Converted>) { gather_ = gather<Stored, Converted>; });
  });
  if (tensor.numel() != 1) {
    cursor_ = RowMajorCursor(shape, broadcast_strides(tensor.shape(), tensor.strides(), shape));
    return;
  }
  const std::int64_t filled = std::min(shape.numel(), kChunkElements);
  gather_(stored_, 0, filled, chunk_.data());
  if (is_rounded_) round_to(dtype, chunk_.data(), filled);
  is_filled_ = true;
}

ChunkReader::ChunkReader(double number, std::int64_t count, DType compute)
    : is_filled_(true), dtype_(compute), packed_bytes_(item_bytes(compute)) {
  visit_packed(compute, [&]<class Compute>(TypeTag<Compute>) {
    gather<double, Compute>(&number, 0, std::min(count, kChunkElements), chunk_.data());
  });
}

const void* ChunkReader::next(std::int64_t count) {
  if (packed_ != nullptr) {
    const std::byte* here = packed_;
    packed_ += static_cast<std::size_t>(count) * packed_bytes_;
    return here;
  }
  if (is_filled_) return chunk_.data();
  std::byte* to = chunk_.data();
  cursor_.advance(count, [&](std::int64_t offset, std::int64_t step, std::int64_t run) {
    gather_(stored_ + offset * static_cast<std::int64_t>(stored_bytes_), step, run, to);
    to += static_cast<std::size_t>(run) * packed_bytes_;
  });
  if (is_rounded_) round_to(dtype_, chunk_.data(), count);
  return chunk_.data();
}

ChunkWriter::ChunkWriter(const Tensor& out, DType packed)
    : next_(out.storage().values() + out.offset_bytes()),
      is_packed_(is_packed(out, packed)),
      stored_bytes_(item_bytes(out.dtype())),
      packed_bytes_(item_bytes(packed)) {
  if (is_packed_) return;
  cursor_ = RowMajorCursor(out.shape(), out.strides());
  visit_dtype(out.dtype(), [&]<class Stored>(TypeTag<Stored>) {
    if (packed == DType::boolean) {
      scatter_ = scatter<bool, Stored>;
    } else {
      visit_packed(packed,
                   [&]<class Packed>(TypeTag<Packed>) { scatter_ = scatter<Packed, Stored>; });
    }
  });
}

void ChunkWriter::commit(std::int64_t count) {
  if (is_packed_) {
    next_ += static_cast<std::size_t>(count) * packed_bytes_;
    return;
  }
  const std::byte* from = chunk_.data();
  cursor_.advance(count, [&](std::int64_t offset, std::int64_t step, std::int64_t run) {
    scatter_(from, step, run, next_ + offset * static_cast<std::int64_t>(stored_bytes_));
    from += static_cast<std::size_t>(run) * packed_bytes_;
  });
}

}  // namespace ohm

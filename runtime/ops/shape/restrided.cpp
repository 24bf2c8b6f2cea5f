#include "runtime/ops/shape/restrided.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/autograd/recorder.h"
#include "runtime/autograd/strided_piece.h"
#include "runtime/autograd/view_history.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kAsStrided{"as_strided"};

// The elements of memory up to the last of a tensor that begins at `offset`; none where there are
// more than can be counted.
std::optional<std::int64_t> end_of(const Shape& sizes, const Shape& strides, std::int64_t offset) {
  std::int64_t end = offset;
  if (__builtin_add_overflow(end, 1, &end)) return std::nullopt;
  for (int dim = 0; dim < sizes.dims(); ++dim) {
    if (sizes[dim] == 0) return offset;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(sizes[dim] - 1, strides[dim], &reach)) return std::nullopt;
    if (__builtin_add_overflow(end, reach, &end)) return std::nullopt;
  }
  return end;
}

void require_inside(const Tensor& input, const Geometry& piece) {
  if (piece.sizes.dims() != piece.strides.dims()) {
    throw std::invalid_argument(
        fmt::format("[as_strided] mismatch in length of strides and shape: "
                    "{} and {}",
                    piece.strides.str(), piece.sizes.str()));
  }
  const auto is_negative = [](std::int64_t number) { return number < 0; };
  if (piece.offset < 0 || std::any_of(piece.sizes.begin(), piece.sizes.end(), is_negative) ||
      std::any_of(piece.strides.begin(), piece.strides.end(), is_negative)) {
    throw std::invalid_argument(
        fmt::format("[as_strided] sizes, strides and the offset must not be negative: {}, {}, {}",
                    piece.sizes.str(), piece.strides.str(), piece.offset));
  }
  const auto there = static_cast<std::int64_t>(input.storage().bytes() / item_bytes(input.dtype()));
  const std::optional<std::int64_t> end = end_of(piece.sizes, piece.strides, piece.offset);
  const bool is_empty = std::find(piece.sizes.begin(), piece.sizes.end(), 0) != piece.sizes.end();
  if (!is_empty && (!end || *end > there)) {
    throw std::invalid_argument(fmt::format(
        "[as_strided] sizes {}, strides {} and offset {} are out of bounds for storage of {} "
        "elements",
        piece.sizes.str(), piece.strides.str(), piece.offset, there));
  }
}

}  // namespace

Tensor as_strided(const Tensor& input, const Shape& size, const Shape& stride,
                  std::optional<std::int64_t> storage_offset) {
  const OpFront front(kAsStrided);
  const Geometry base = geometry_of(input);
  const Geometry piece{size, stride, storage_offset.value_or(base.offset)};
  require_inside(input, piece);
  Tensor view = strided_piece(input, base, piece);
  track_view(view, input);
  return view;
}

std::vector<OpDef> restrided_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kAsStrided, kBoth, &as_strided, {"input", "size", "stride", "storage_offset"}),
  };
}

}  // namespace ohm::ops

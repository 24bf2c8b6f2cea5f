#include "runtime/kernels/launch/split_reduction.h"
#include "runtime/base/ceil_div.h"

#include <algorithm>

namespace ohm {
namespace {

constexpr std::int64_t kPartialBytes = 8;

/// Rows that keep a CUDA device busy, and what is enough for one of them.
struct Share {
  std::int64_t rows;
  std::int64_t elements;
};
constexpr Share kBlocks{1024, 4096};
constexpr Share kThreads{262144, 64};

std::int64_t pieces_for(std::int64_t outputs, std::int64_t size, const Share& share) {
  if (outputs == 0) return 1;
  return std::max<std::int64_t>(1, std::min(share.rows / outputs, size / share.elements));
}

}  // namespace

CudaReduction::CudaReduction(const Tensor& tensor, std::uint32_t folded, std::int64_t outputs) {
  fold_.kept = strided_index_of(tensor, folded, false);
  fold_.folded = strided_index_of(tensor, folded, true);
  fold_.outputs = outputs;
  fold_.size = outputs == 0 ? 0 : tensor.numel() / outputs;
  // A thread for each column reads memory in one go, where there are some side by side.
  constexpr std::int64_t kFewestColumns = 8;
  const int dims = fold_.folded.dims;
  const bool are_columns =
      dims > 0 && fold_.folded.strides[dims - 1] > 1 && outputs >= kFewestColumns;
  if (are_columns) inner_ = fold_.folded.strides[dims - 1];
  pieces_ = pieces_for(outputs, fold_.size, are_columns ? kThreads : kBlocks);
  fold_.length = fold_.size;
  pieces_ = ceil_div(fold_.size, std::max<std::int64_t>(1, in_pieces().length));
  if (fold_.size == 0) pieces_ = 1;
}

functors::SplitReduction CudaReduction::in_pieces() const {
  functors::SplitReduction fold = fold_;
  fold.length = ceil_div(fold_.size, pieces_);
  return fold;
}

functors::SplitReduction CudaReduction::of_partials() const {
  functors::SplitReduction fold;
  fold.kept = {1, {fold_.outputs}, {1}};
  fold.folded = {1, {pieces_}, {fold_.outputs}};
  fold.outputs = fold_.outputs;
  fold.size = fold.length = pieces_;
  return fold;
}

RowShape CudaReduction::whole_rows() const {
  return {.count = fold_.outputs, .size = fold_.size, .inner = inner_};
}
RowShape CudaReduction::piece_rows() const {
  return {.count = fold_.outputs * pieces_, .size = in_pieces().length, .inner = inner_};
}
RowShape CudaReduction::partial_rows() const {
  return {.count = fold_.outputs, .size = pieces_, .inner = fold_.outputs};
}

PartialResults::PartialResults(const CudaBackend& backend, const CudaReduction& fold, int arrays)
    : count_(fold.piece_rows().count),
      scratch_(
          backend.kernels->scratch(static_cast<std::size_t>(count_ * arrays * kPartialBytes))) {}

RowOperand PartialResults::array(int number, DType dtype) const {
  const auto before = static_cast<std::uint64_t>(number * count_ * kPartialBytes);
  return {scratch_ + before, count_, dtype};
}

}  // namespace ohm

// Reductions on a CUDA device, whatever is computed: what is folded to one element by one row of a
// kernel, or, where few elements take many each, in pieces whose results are folded once more. Who
// folds what depends on the sizes alone, so that results are the same in every run.
#pragma once

#include <cstdint>

#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/tensor/cuda_backend.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

class CudaReduction {
 public:
  /// Of the dimensions of `tensor` in `folded`, to `outputs` elements.
  CudaReduction(const Tensor& tensor, std::uint32_t folded, std::int64_t outputs);

  /// More than 1: it is worth folding in pieces.
  std::int64_t pieces() const { return pieces_; }

  // The fold and its rows: all of it in one go; in pieces; of the pieces' results, which lie by
  // pieces and then by outputs.
  functors::SplitReduction whole() const { return fold_; }
  RowShape whole_rows() const;
  functors::SplitReduction in_pieces() const;
  RowShape piece_rows() const;
  functors::SplitReduction of_partials() const;
  RowShape partial_rows() const;

 private:
  functors::SplitReduction fold_;
  std::int64_t inner_ = 1;
  std::int64_t pieces_ = 1;
};

/// The results of pieces, of eight bytes each. What PyTorch's reductions take of the caching
/// allocator for theirs (reduction_scratch.h) is too small: it is four bytes for each of fewer.
class PartialResults {
 public:
  /// `arrays` of them.
  PartialResults(const CudaBackend& backend, const CudaReduction& fold, int arrays);

  bool are_there() const { return scratch_ != 0; }
  RowOperand array(int number, DType dtype) const;

 private:
  std::int64_t count_;
  std::uint64_t scratch_;
};

/// Runs `whole` in one go, or `in_pieces` and then `of_partials`, as it is worth it: the latter are
/// given the partial results, in `arrays` arrays. False where nothing was done, or the host has to
/// do the rest.
template <class Whole, class InPieces, class OfPartials>
bool reduce_on_cuda(const Tensor& tensor, const CudaReduction& fold, int arrays, const Whole& whole,
                    const InPieces& in_pieces, const OfPartials& of_partials) {
  const CudaBackend* const backend = tensor.cuda_backend();
  if (backend == nullptr || !backend->kernels) return false;
  if (fold.pieces() == 1) return whole();
  const PartialResults partials(*backend, fold, arrays);
  if (!partials.are_there()) return whole();
  return in_pieces(partials) && of_partials(partials);
}

}  // namespace ohm

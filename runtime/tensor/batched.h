// Tensors that stand for many: what vmap gives to a function of one sample.
//
// Such a tensor has the shape and the strides of one sample, and looks at the elements of the first
// one. The dimension along which the others lie is kept beside the tensor, so that those without
// one know nothing of it. A view of it has the same dimension. Whatever makes or reads elements
// does so for all samples at once:
//
//   if (const AllSamples all({&x, &y}); all) return all.one(product(all.of(x), all.of(y)));
//
// Where vmap is used inside of vmap a tensor can have several such dimensions, told apart by their
// levels. AllSamples undoes the innermost one; what it calls meets the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "runtime/base/inline_vector.h"
#include "runtime/tensor/batch_dims.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

struct BatchDim {
  int level = 0;  ///< from 1 on, outermost first
  std::int64_t size = 0;
  std::int64_t stride = 0;  ///< in elements
};
using BatchDims = InlineVector<BatchDim, 2>;

/// Whether any tensor of this thread stands for many.
bool are_any_batched();
/// The dimensions that are kept beside `tensor`; nullptr: there are none.
const BatchDims* batch_dims(const Tensor& tensor);

/// `tensor` without its dimension `dim`, which is kept beside it. Not part of any graph.
Tensor with_batch_dim(const Tensor& tensor, int dim, int level);
/// The same with the dimension of this level in front of the others.
/// Pre-condition: is_batched(tensor, level).
Tensor without_batch_dim(const Tensor& tensor, int level);

/// The innermost level of some operands, and the operands with that dimension in front.
class AllSamples {
 public:
  /// Undefined tensors and nullptr count as none.
  AllSamples(std::initializer_list<const Tensor*> operands)
      : AllSamples(std::span<const Tensor* const>(operands.begin(), operands.size())) {}
  explicit AllSamples(std::span<const Tensor* const> operands);

  /// False: no operand stands for many.
  explicit operator bool() const { return level_ > 0; }
  std::int64_t count() const { return count_; }
  bool has(const Tensor& operand) const { return is_batched(operand, level_); }

  /// The operand with the samples in front; itself where it has none at this level.
  Tensor of(const Tensor& operand) const;
  /// The same, seen with `dims` dimensions behind the samples: ones stand before its own.
  Tensor of(const Tensor& operand, int dims) const;
  /// The same where each operand has to have samples: one that has none is repeated, as a view.
  Tensor repeated(const Tensor& operand) const;
  /// A shape with the samples in front.
  Shape shape(const Shape& of_one) const;
  /// What stands for all: `result` without its first dimension.
  Tensor one(const Tensor& result) const { return with_batch_dim(result, 0, level_); }

 private:
  int level_ = 0;
  std::int64_t count_ = 0;
};

/// Throws std::invalid_argument where `written` would have to hold several values: it does not
/// stand for the samples of an operand that `op` reads.
void require_written_for_each(std::string_view op, const Tensor& written,
                              std::span<const Tensor* const> read);

}  // namespace ohm

// The common part of ops with index tensors: checks, and writing to the places that an index names.
#pragma once

#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/ops/op_front.h"
#include "runtime/tensor/deferred_errors.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Throws unless the index is of whole numbers and on the input's device.
void require_index(const OpInfo& info, const Tensor& input, const Tensor& index);

/// Throws unless 0 <= index < size: these ops do not count from the end.
void require_place(const OpInfo& info, std::int64_t index, std::int64_t size);

/// The dimension of gather and scatter. Throws when the index does not fit the input.
int gathered_dim(const OpInfo& info, const Tensor& input, std::int64_t dim, const Tensor& index);

/// An index of one dimension as one of this shape, with its entries along `dim`. A view.
Tensor spread_index(const Tensor& index, const Shape& shape, int dim);

/// Who writes to `places` of each of so many rows of `target`: see functors::Scattered.
RowShape owners_of(const Tensor& target, std::int64_t rows, std::int64_t places);

/// The rows of a tensor along one dimension, in the order of the others.
functors::IndexAlongDim index_along_dim(const Tensor& tensor, int dim);

struct PlaceBounds {
  std::int64_t size = 0;
  bool counts_from_end = false;
};
/// Throws unless every index is a place of `size` (and none counts from the end unless it may),
/// as require_place does; on a CUDA device later (Note [Errors that are told later]), so that
/// kernels have to leave out what is not a place. Pre-condition: the index has values.
void require_places(const OpInfo& info, const Tensor& index, const PlaceBounds& bounds);

/// Whether a CUDA device looks for what is outside, and `message` is told later. Pre-condition: the
/// index has values.
bool is_checked_on_cuda(const Tensor& index, const functors::PlacesOutside& outside,
                        DeferredErrors::Message message);

/// A copy of the input that is going to be written at places along `dim`, which are checked first.
Tensor copy_with_places(const OpInfo& info, const Tensor& input, int dim, const Tensor& index);

/// target[index] += factor · source, along `dim`; `source` is of the index's shape.
/// Pre-condition: every index is a place.
void add_at(const Tensor& target, int dim, const Tensor& index, const Tensor& source,
            double factor = 1.0);
/// target[index] = source, or `number` where it is undefined. Pre-condition: the same.
void write_at(const Tensor& target, int dim, const Tensor& index, const Tensor& source,
              double number);

}  // namespace ohm::ops

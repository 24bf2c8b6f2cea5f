// Subscripts: index tensors with the dimensions of an input that they index, masks as the places
// where they are true, and slices.
#pragma once

#include <optional>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/ops/op_info.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Index tensors, and the dimensions that each of them stands for; the first ones without `dims`.
struct Subscript {
  std::vector<Tensor> indices;
  std::optional<Shape> dims;
};

/// The dimensions of an input that have an index tensor, and the others.
struct IndexedDims {
  Shape indexed;
  Shape others;
  int before = 0;  ///< of the others, how many come before the indices in the result
};

/// Throws std::invalid_argument unless there is a dimension for each of so many index tensors.
IndexedDims dims_of(const OpInfo& info, const Shape& shape, std::size_t indices,
                    const std::optional<Shape>& given);

bool is_index_mask(const Tensor& index);
/// Throws unless each is of whole numbers, on the input's device or the host, or a mask on the
/// input's device.
void require_indices(const OpInfo& info, const Tensor& input, const std::vector<Tensor>& indices);
/// A mask gives the places where it is true, an index for each of its dimensions.
Subscript without_masks(const OpInfo& info, const Tensor& input, const Subscript& given);

/// The only index, a mask, as a view that broadcasts to `input`.
Tensor mask_over(const OpInfo& info, const Tensor& input, const Subscript& given);

/// A view with the indexed dimensions first.
Tensor with_indexed_first(const Tensor& tensor, const IndexedDims& dims);
/// Of a result, or of its gradient: what the indices have, then the others. A view.
Tensor with_indices_first(const Tensor& result, const IndexedDims& dims);
/// The shape of a result: the others, with that of the indices in their place.
Shape subscript_shape(const Tensor& input, const Tensor& index, const IndexedDims& dims);

/// Each as a view of the shape that all of them broadcast to; on CUDA devices int32 is cast.
std::vector<Tensor> broadcast_together(const OpInfo& info, const std::vector<Tensor>& indices);
/// Those of the host are copied to the device of `input`.
std::vector<Tensor> on_device_of(const Tensor& input, const std::vector<Tensor>& indices);
/// A kernel of a GPU walks through all index tensors alike: copies where they are not.
std::vector<Tensor> laid_out_alike(const std::vector<Tensor>& indices);

/// Throws unless every index is a place of its dimension, counted from either end.
/// Pre-condition: `indices` have values.
void require_named_places(const OpInfo& info, const Tensor& input,
                          const std::vector<Tensor>& indices, const IndexedDims& dims);
/// `whole` has its indexed dimensions first; `indices` are of one shape.
functors::SlicePlaces places_in(const Tensor& whole, const std::vector<Tensor>& indices);
/// What a kernel reads beside its first input.
std::vector<RowArgument> inputs_of(const Tensor& first, const std::vector<Tensor>& indices);

/// Adds what stands at each index to the slice that it names. `incoming` is of the result's shape.
void add_slices(const Tensor& sums, const Tensor& incoming, const std::vector<Tensor>& indices,
                const IndexedDims& dims);

/// Whether indices are looked at before they are used.
enum class IndexCheck : bool { none, bounds };

/// The temporaries of the kernel that adds slices up in the order of their places.
class PlaceScratch {
 public:
  /// In a copy of `target` where its indexed dimensions come first in another order. `indices` go
  /// once their places are known.
  PlaceScratch(const Tensor& target, const IndexedDims& dims, IndexCheck check,
               std::vector<Tensor>& indices, const Tensor& addends);

 private:
  Tensor numbers() const;
  Tensor places_of(const Tensor& index) const;
  void look_at_bounds(const Tensor& index) const;

  TensorOptions options_;
  IndexCheck check_;
  std::int64_t count_;
  Tensor places_;
  Tensor addends_;
  Tensor whole_;
  Tensor sorted_;
  Tensor order_;
};

}  // namespace ohm::ops

// What ops with index tensors share: checks, and walks over the places that an index names.
#pragma once

#include "runtime/ops/autocast.h"
#include "runtime/ops/host_values.h"

namespace ohm::ops {

/// Throws unless the index is of whole numbers and on the input's device.
void require_index(const OpInfo& info, const Tensor& input, const Tensor& index);

/// Throws unless 0 <= index < size: these ops do not count from the end.
void require_place(const OpInfo& info, std::int64_t index, std::int64_t size);

/// The dimension of gather and scatter. Throws when the index does not fit the input.
int gathered_dim(const OpInfo& info, const Tensor& input, std::int64_t dim, const Tensor& index);

/// An index of one dimension as one of this shape, with its entries along `dim`. A view.
Tensor spread_index(const Tensor& index, const Shape& shape, int dim);

/// target[index] += factor · source, along `dim`.
void add_at(const OpInfo& info, const Tensor& target, int dim, const Tensor& index,
            const Tensor& source, double factor = 1.0);

/// Calls visit(offset in `whole`, number of the index element) for each element of the index, which
/// stands for dimension `dim` of `whole`.
template <class F>
void for_each_place(const OpInfo& info, const Tensor& whole, int dim, const Tensor& index,
                    F&& visit) {
  const HostInput<std::int64_t> places(index);
  const std::int64_t size = whole.shape()[dim];
  Shape strides = whole.strides();
  strides[dim] = 0;
  std::int64_t number = 0;
  for_each_offset(index.shape(), strides, [&](std::int64_t offset) {
    const std::int64_t place = places.data()[number];
    require_place(info, place, size);
    visit(offset + place * whole.strides()[dim], number);
    ++number;
  });
}

}  // namespace ohm::ops

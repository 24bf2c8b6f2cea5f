// Pieces of a tensor by their strides: how a view is a function of its base, whatever ops made it.
#pragma once

#include <cstdint>

#include "runtime/autograd/node.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// Where the elements of a tensor lie in its storage; strides and offset are in elements.
struct Geometry {
  Shape sizes;
  Shape strides;
  std::int64_t offset = 0;
};

Geometry geometry_of(const Tensor& tensor);

/// A copy of `source` in memory of its own that is laid out as `geometry`, gaps included, from the
/// memory's beginning on. Throws std::invalid_argument where elements would be one in memory.
Tensor clone_laid_out_as(const Tensor& source, const Geometry& geometry);

/// Of `whole`, which is laid out as `base`, what lies where `piece` says. Elements of a piece may
/// be one in memory: their gradients are added up. Throws std::invalid_argument where it lies
/// outside of the storage.
Tensor strided_piece(const Tensor& whole, const Geometry& base, const Geometry& piece);

/// The node of a view as a piece of `base`.
IntrusivePtr<Node> make_piece_node(const Tensor& base, const Tensor& view);

}  // namespace ohm

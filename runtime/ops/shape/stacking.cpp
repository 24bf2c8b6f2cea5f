#include "runtime/ops/shape/stacking.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/shape/alias.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kAtleast1d{"atleast_1d"};
constexpr OpInfo kAtleast2d{"atleast_2d"};
constexpr OpInfo kAtleast3d{"atleast_3d"};
constexpr OpInfo kDstack{"dstack"};
constexpr OpInfo kColumnStack{"column_stack"};
constexpr OpInfo kCartesianProd{"cartesian_prod"};
constexpr OpInfo kBlockDiag{"block_diag"};

void require_some(const OpInfo& info, const std::vector<Tensor>& tensors) {
  if (!tensors.empty()) return;
  throw std::invalid_argument(fmt::format("[{}] expects a non-empty list of tensors", info.name));
}

Tensor dstack(const std::vector<Tensor>& tensors) {
  require_some(kDstack, tensors);
  std::vector<Tensor> deep;
  for (const Tensor& tensor : tensors) deep.push_back(atleast_3d(tensor));
  return cat(deep, 2);
}

// Vectors become columns.
Tensor column_stack(const std::vector<Tensor>& tensors) {
  require_some(kColumnStack, tensors);
  std::vector<Tensor> columns;
  for (const Tensor& tensor : tensors) {
    columns.push_back(tensor.dims() <= 1 ? reshape(tensor, {tensor.numel(), 1}) : tensor);
  }
  return cat(columns, 1);
}

// Where a block begins, and its size: numbers and vectors are matrices of one row.
struct Block {
  std::int64_t row = 0;
  std::int64_t column = 0;
  Shape shape;

  std::int64_t rows() const { return shape.dims() == 2 ? shape[0] : 1; }
  std::int64_t columns() const { return shape.dims() == 0 ? 1 : shape[shape.dims() - 1]; }
  Tensor within(const Tensor& whole) const {
    return make_view(whole, {rows(), columns()}, whole.strides(),
                     whole.impl()->offset + row * whole.strides()[0] + column * whole.strides()[1]);
  }
  // A vector's keeps the row, which the engine sums over, unless it has one element.
  Tensor recorded_within(const Tensor& whole) const {
    const Tensor piece = narrow(narrow(whole, 0, row, rows()), 1, column, columns());
    if (shape.dims() == 2) return piece;
    const Tensor squeezed = squeeze(piece, -1);
    return shape.dims() == 1 ? squeezed : squeeze(squeezed, -1);
  }
};

std::vector<Block> blocks_of(const std::vector<Tensor>& tensors) {
  std::vector<Block> blocks;
  Block next;
  for (const Tensor& tensor : tensors) {
    require_same_device(tensors[0], tensor, kBlockDiag);
    if (tensor.dims() > 2) {
      throw std::invalid_argument(fmt::format(
          "[block_diag] expected tensors with at most 2 dimensions, got {}", tensor.shape().str()));
    }
    next.shape = tensor.shape();
    blocks.push_back(next);
    next.row += next.rows();
    next.column += next.columns();
  }
  return blocks;
}

}  // namespace

Tensor atleast_1d(const Tensor& input) { return input.dims() == 0 ? reshape(input, {1}) : input; }

Tensor atleast_2d(const Tensor& input) {
  if (input.dims() == 0) return reshape(input, {1, 1});
  return input.dims() == 1 ? unsqueeze(input, 0) : input;
}

Tensor atleast_3d(const Tensor& input) {
  if (input.dims() == 0) return reshape(input, {1, 1, 1});
  if (input.dims() == 1) return unsqueeze(unsqueeze(input, 0), -1);
  return input.dims() == 2 ? unsqueeze(input, -1) : input;
}

Tensor cartesian_prod(const std::vector<Tensor>& tensors) {
  require_some(kCartesianProd, tensors);
  for (const Tensor& tensor : tensors) {
    if (tensor.dims() != 1) {
      throw std::invalid_argument(
          fmt::format("[cartesian_prod] expected 1D vectors, but got {}", tensor.shape().str()));
    }
  }
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = meshgrid(tensors, "ij");
  for (Tensor& column : columns) column = flatten(column, 0, -1);
  return stack(columns, 1);
}

Tensor block_diag(const std::vector<Tensor>& tensors) {
  const OpFront front(kBlockDiag);
  require_some(kBlockDiag, tensors);
  const std::vector<Block> blocks = blocks_of(tensors);
  DType dtype = tensors[0].dtype();
  for (const Tensor& tensor : tensors) dtype = promote_types(dtype, tensor.dtype());
  const Block& last = blocks.back();
  Tensor out =
      zeros({last.row + last.rows(), last.column + last.columns()}, {dtype, tensors[0].device()});
  for (std::size_t i = 0; i < tensors.size(); ++i) copy_into(blocks[i].within(out), tensors[i]);
  if (Recorder record("BlockDiagBackward", tensors); record.is_needed()) {
    record.attach_differentiable(out, [blocks](BackwardCall& call) {
      TensorList grads(blocks.size());
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (call.needs(i)) grads[i] = blocks[i].recorded_within(call.grad());
      }
      return grads;
    });
  }
  return out;
}

std::vector<OpDef> stacking_ops() {
  return {
      define(kAtleast1d, kPythonFunction, &atleast_1d, {"input"}),
      define(kAtleast2d, kPythonFunction, &atleast_2d, {"input"}),
      define(kAtleast3d, kPythonFunction, &atleast_3d, {"input"}),
      define(kDstack, kFunction, &dstack, {"tensors"}),
      define(kColumnStack, kFunction, &column_stack, {"tensors"}),
      define(kCartesianProd, kPythonFunction, &cartesian_prod, {"tensors"}),
      define(kBlockDiag, kPythonFunction, &block_diag, {"tensors"}),
  };
}

}  // namespace ohm::ops

#include "runtime/ops/recurrent/recurrent_buffer.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/tensor_data.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

bool may_be_flattened(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  return is_cudnn_on(tensor) &&
         (dtype == DType::float16 || dtype == DType::float32 || dtype == DType::float64);
}

/// A tensor of its own with the elements of `buffer` from `offset` on.
Tensor weight_piece(const Tensor& buffer, const Tensor& like, std::int64_t offset) {
  Tensor piece = make_view(buffer, like.shape(), contiguous_strides(like.shape()),
                           buffer.impl()->offset + offset);
  piece.impl()->is_view = false;
  return piece;
}

}  // namespace

std::int64_t RecurrentBuffer::width(std::int64_t part) const {
  return part < geometry_.directions ? geometry_.input_size
                                     : geometry_.output_size() * geometry_.directions;
}

std::int64_t RecurrentBuffer::both_matrices(std::int64_t part) const {
  return matrix_rows() * (width(part) + geometry_.output_size());
}

std::int64_t RecurrentBuffer::matrices_before(std::int64_t part) const {
  std::int64_t elements = 0;
  for (std::int64_t i = 0; i < part; ++i) {
    elements += both_matrices(i) + geometry_.projection_size * geometry_.hidden_size;
  }
  return elements;
}

std::int64_t RecurrentBuffer::numel() const {
  return matrices_before(parts()) + 2 * matrix_rows() * parts();
}

std::int64_t RecurrentBuffer::offset(std::size_t i) const {
  const auto part = static_cast<std::int64_t>(i / weights_of_part());
  const auto kind = static_cast<std::int64_t>(i % weights_of_part());
  if (kind == 4) return matrices_before(part) + both_matrices(part);
  if (kind < 2) return matrices_before(part) + kind * matrix_rows() * width(part);
  return matrices_before(parts()) + (2 * part + kind - 2) * matrix_rows();
}

bool is_cudnn_on(const Tensor& tensor) {
  return Context::current().cudnn_enabled && tensor.device().is_cuda();
}

std::vector<Tensor> defined_ones(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> defined;
  std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(defined),
               [](const Tensor& tensor) { return tensor.defined(); });
  return defined;
}

std::vector<Tensor> pieces_of(const Tensor& buffer, const std::vector<Tensor>& weights,
                              const RecurrentGeometry& geometry) {
  const RecurrentBuffer places(geometry);
  std::vector<Tensor> pieces(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].defined()) pieces[i] = weight_piece(buffer, weights[i], places.offset(i));
  }
  return pieces;
}

Tensor buffer_of(const std::vector<Tensor>& weights, const RecurrentGeometry& geometry) {
  const RecurrentBuffer places(geometry);
  const Tensor& first = weights.front();
  const auto needed = static_cast<std::size_t>(places.numel()) * item_bytes(first.dtype());
  if (first.storage().bytes() < needed) return {};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!weights[i].defined()) continue;
    const bool is_there = &weights[i].storage() == &first.storage() &&
                          weights[i].impl()->offset == places.offset(i) &&
                          weights[i].is_contiguous();
    if (!is_there) return {};
  }
  return make_view(first, {places.numel()}, {1}, 0);
}

Tensor filled_buffer(const std::vector<Tensor>& weights, const RecurrentGeometry& geometry) {
  Tensor buffer = zeros({RecurrentBuffer(geometry).numel()}, options_of(weights.front()));
  const std::vector<Tensor> pieces = pieces_of(buffer, weights, geometry);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].defined()) copy_into(pieces[i], weights[i]);
  }
  return buffer;
}

void flatten_recurrent_weights(const std::vector<Tensor>& weights,
                               const RecurrentGeometry& geometry) {
  const std::vector<Tensor> present = defined_ones(weights);
  std::unordered_set<const void*> places;
  for (const Tensor& weight : present) {
    if (!may_be_flattened(weight) || weight.dtype() != present.front().dtype()) return;
    if (!places.insert(weight.impl()).second) return;
  }
  const NoGradGuard no_graph;
  const CategoryGuard category(Category::parameter);
  const Tensor buffer = filled_buffer(weights, geometry);
  const std::vector<Tensor> pieces = pieces_of(buffer, weights, geometry);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].defined()) set_data(weights[i], pieces[i]);
  }
}

}  // namespace ohm::ops

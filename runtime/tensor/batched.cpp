#include "runtime/tensor/batched.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <unordered_map>

#include "allocator_shim/base/assert.h"
#include "runtime/base/thread_end.h"

namespace ohm {
namespace {

// What is kept beside the tensors of a thread, and how many have something.
using Table = std::unordered_map<const TensorImpl*, BatchDims>;
thread_local Table* table_of_thread = nullptr;  // null until the first is kept
thread_local std::size_t batched_count = 0;

/// Throws std::bad_alloc. Tensors that go when the thread has ended have nothing here.
Table& table() {
  static const ThreadEnd kEnd([](void* kept) {
    batched_count = 0;
    table_of_thread = nullptr;
    delete static_cast<Table*>(kept);
  });
  if (table_of_thread == nullptr) {
    auto made = std::make_unique<Table>();
    if (!kEnd.note(made.get())) throw std::bad_alloc();
    table_of_thread = made.release();
  }
  return *table_of_thread;
}

void keep(const Tensor& tensor, BatchDims dims) {
  if (dims.empty()) return;
  table().insert_or_assign(tensor.impl(), std::move(dims));
  batched_count = table().size();
}

// A view with other dimensions beside it.
Tensor view_of(const Tensor& tensor, const Shape& sizes, const Shape& strides, BatchDims dims) {
  Tensor view = make_view(tensor, sizes, strides, tensor.impl()->offset);
  view.impl()->is_view = tensor.impl()->is_view;
  forget_batch_dims(view.impl());
  keep(view, std::move(dims));
  return view;
}

const BatchDim* find_level(const Tensor& tensor, int level) {
  const BatchDims* const dims = batch_dims(tensor);
  if (dims == nullptr) return nullptr;
  const auto* const found = std::find_if(
      dims->begin(), dims->end(), [level](const BatchDim& each) { return each.level == level; });
  return found == dims->end() ? nullptr : found;
}

}  // namespace

bool are_any_batched() { return batched_count != 0; }

const BatchDims* batch_dims(const Tensor& tensor) {
  if (batched_count == 0 || !tensor.defined()) return nullptr;
  const auto found = table().find(tensor.impl());
  return found == table().end() ? nullptr : &found->second;
}

bool is_batched(const Tensor& tensor, int level) {
  return level == 0 ? batch_dims(tensor) != nullptr : find_level(tensor, level) != nullptr;
}

Tensor with_batch_dim(const Tensor& tensor, int dim, int level) {
  BatchDims dims;
  if (const BatchDims* const others = batch_dims(tensor)) dims = *others;
  Shape sizes = tensor.shape();
  Shape strides = tensor.strides();
  dims.push_back({level, sizes[dim], strides[dim]});
  sizes.erase(dim);
  strides.erase(dim);
  return view_of(tensor, sizes, strides, std::move(dims));
}

Tensor without_batch_dim(const Tensor& tensor, int level) {
  const BatchDim* const undone = find_level(tensor, level);
  OHM_ASSERT(undone != nullptr, "the tensor has no dimension of this level");
  Shape sizes = tensor.shape();
  Shape strides = tensor.strides();
  sizes.insert(0, undone->size);
  strides.insert(0, undone->stride);
  BatchDims others;
  for (const BatchDim& each : *batch_dims(tensor)) {
    if (each.level != level) others.push_back(each);
  }
  return view_of(tensor, sizes, strides, std::move(others));
}

void inherit_batch_dims(const Tensor& view, const Tensor& base) {
  if (const BatchDims* const dims = batch_dims(base)) keep(view, *dims);
}

void forget_batch_dims(const TensorImpl* impl) {
  if (batched_count == 0) return;
  table().erase(impl);
  batched_count = table().size();
}

AllSamples::AllSamples(std::span<const Tensor* const> operands) {
  if (batched_count == 0) return;
  for (const Tensor* const operand : operands) {
    const BatchDims* const dims = operand == nullptr ? nullptr : batch_dims(*operand);
    if (dims == nullptr) continue;
    for (const BatchDim& each : *dims) {
      if (each.level <= level_) continue;
      level_ = each.level;
      count_ = each.size;
    }
  }
}

Tensor AllSamples::of(const Tensor& operand) const {
  return has(operand) ? without_batch_dim(operand, level_) : operand;
}

Tensor AllSamples::of(const Tensor& operand, int dims) const {
  if (!has(operand)) return operand;
  const Tensor all = without_batch_dim(operand, level_);
  if (operand.dims() >= dims) return all;
  Shape sizes = all.shape();
  Shape strides = all.strides();
  const std::int64_t stride = operand.dims() == 0 ? 1 : sizes[1] * strides[1];
  for (int missing = dims - operand.dims(); missing > 0; --missing) {
    sizes.insert(1, 1);
    strides.insert(1, stride);
  }
  return make_view(all, sizes, strides, all.impl()->offset);
}

Tensor AllSamples::repeated(const Tensor& operand) const {
  if (has(operand)) return without_batch_dim(operand, level_);
  Shape strides = operand.strides();
  strides.insert(0, 0);
  return make_view(operand, shape(operand.shape()), strides, operand.impl()->offset);
}

Shape AllSamples::shape(const Shape& of_one) const {
  Shape whole = of_one;
  whole.insert(0, count_);
  return whole;
}

void require_written_for_each(std::string_view op, const Tensor& written,
                              std::span<const Tensor* const> read) {
  if (!are_any_batched()) return;
  for (const Tensor* const each : read) {
    const BatchDims* const dims = each == nullptr ? nullptr : batch_dims(*each);
    if (dims == nullptr) continue;
    for (const BatchDim& dim : *dims) {
      if (is_batched(written, dim.level)) continue;
      throw std::invalid_argument(
          fmt::format("[{}] vmap: a tensor that is one for all samples cannot be written to in "
                      "place with values that differ between them",
                      op));
    }
  }
}

}  // namespace ohm

#include "runtime/ops/embedding/embedding.h"

#include <algorithm>
#include <optional>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/base/ceil_div.h"
#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/functors/rows.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/embedding/embedding_table.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/shape/view.h"
#include "runtime/ops/sorting/cuda/sort.h"
#include "runtime/ops/sorting/sorting_scratch.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kEmbedding{"embedding"};

// Up to here one kernel adds the rows up without temporaries.
constexpr std::int64_t kFewIndices = 3072;

Tensor gather_rows(const EmbeddingTable& table, const Tensor& given, const Tensor& weight,
                   const std::optional<RowBound>& bound) {
  Shape shape = given.shape();
  shape.push_back(table.width);
  // The indices are read as one line.
  const Tensor line = given.device().is_cuda() ? unrecorded_reshape(given, {given.numel()}) : given;
  Tensor out = empty(shape, options_of(weight));
  if (out.has_values()) require_places(kEmbedding, given, {table.rows});
  if (bound) shorten_rows(weight, given, *bound);
  if (!out.has_values()) return out;
  functors::SlicePlaces places;
  places.leading = 1;
  places.sizes[0] = table.rows;
  places.strides[0] = weight.strides()[0];
  places.index[0] = strided_index_of(given, 0, false);
  places.slice = strided_index_of(weight, with(0, 0), false);
  places.width = table.width;
  const functors::GatheredSlices rows{places, strided_index_of(out, 0, false)};
  if (are_rows_done_on_cuda(rows, weight.dtype(), thread_for_each(out.numel()),
                            {{out}, {weight, given}})) {
    return out;
  }
  // Rows are copied as they are.
  const HostInput<std::int64_t> indices(given);
  visit_floating(weight.dtype(), [&]<class T>(TypeTag<T>) {
    T* target = out.data<T>();
    for (std::int64_t i = 0; i < given.numel(); ++i) {
      const T* const row = weight.data<const T>() + indices.data()[i] * weight.strides()[0];
      for (std::int64_t column = 0; column < table.width; ++column) {
        *target++ = row[column * weight.strides()[1]];
      }
    }
  });
  return out;
}

// ---- backward -----------------------------------------------------------------------------------

// Sorted, the rows of each index are side by side, and those of one are added up in their order.
bool are_rows_scattered_on_cuda(const EmbeddingTable& table, const Tensor& input,
                                const Tensor& grad, const Tensor& out) {
  if (out.cuda_backend() == nullptr || !out.is_contiguous() || input.numel() == 0) return false;
  const std::optional<SortedRows> sorted =
      sorted_on_cuda(input, {1, input.numel(), 1}, functors::Ordering{false});
  if (!sorted) return false;
  fill_values(out, 0.0);
  const functors::ScatteredRow rows_of_index{input.numel(), table.rows, table.padding_row};
  return are_rows_done_on_cuda(rows_of_index, out.dtype(), {input.numel(), table.width},
                               {{out}, {sorted->elements, sorted->places, grad}});
}

void scatter_rows(const EmbeddingTable& table, const Tensor& input, const Tensor& grad,
                  const Tensor& out) {
  if (!out.has_values() || are_rows_scattered_on_cuda(table, input, grad, out)) return;
  const HostInput<std::int64_t> indices(input);
  visit_computed(grad.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> rows(grad);
    HostOutput<T> sums(out);
    sums.fill_zero();
    for (std::int64_t i = 0; i < input.numel(); ++i) {
      const std::int64_t index = indices.data()[i];
      if (index == table.padding_row) continue;
      const T* row = rows.data() + i * table.width;
      T* sum = sums.data() + index * table.width;
      for (std::int64_t column = 0; column < table.width; ++column) sum[column] += row[column];
    }
    sums.commit();
  });
}

Tensor embedding_gradient(const EmbeddingTable& table, const Tensor& incoming,
                          const Tensor& input) {
  const Tensor indices = row_major(input);
  const Tensor grad = row_major(incoming);
  const Shape shape{table.rows, table.width};
  if (input.numel() <= kFewIndices || input.device().is_cpu()) {
    Tensor out = empty(shape, options_of(grad));
    scatter_rows(table, indices, grad, out);
    return out;
  }
  SortingScratch scratch(input, options_of(grad));
  scratch.sort(table.rows);
  Tensor out = empty(shape, options_of(grad));
  scratch.split_into_segments(table);
  scatter_rows(table, indices, grad, out);
  return out;
}

// Each index takes its row of the table's gradient; that of the padding takes none.
Tensor gradient_of_rows(const EmbeddingTable& table, const Tensor& grad, const Tensor& indices) {
  const Tensor rows = index_select(grad, 0, reshape(indices, {indices.numel()}));
  if (table.padding_row >= 0) {
    const Tensor is_padding = eq(indices, table.padding_row);
    masked_fill_(rows, reshape(is_padding, {indices.numel(), 1}), 0.0);
  }
  Shape shape = indices.shape();
  shape.push_back(table.width);
  return view(rows, shape);
}

// Under create_graph the table's gradient has one of its own.
Tensor recorded_embedding_gradient(const EmbeddingTable& table, const Tensor& grad,
                                   const Tensor& indices) {
  Recorder record("EmbeddingDenseBackwardBackward", {&grad});
  record.save(indices);
  Tensor out = embedding_gradient(table, grad, indices);
  record.attach_differentiable(out, [table](BackwardCall& call) {
    return TensorList{gradient_of_rows(table, call.grad(), call.saved(0))};
  });
  return out;
}

Tensor embedding_row(const Tensor& input, const Tensor& weight,
                     std::optional<std::int64_t> padding_idx, std::optional<double> max_norm,
                     double norm_type) {
  std::optional<RowBound> bound;
  if (max_norm) bound = RowBound{*max_norm, norm_type};
  return embedding(input, weight, padding_idx, bound);
}

}  // namespace

Tensor embedding(const Tensor& given, const Tensor& weight, std::optional<std::int64_t> padding_idx,
                 const std::optional<RowBound>& bound) {
  const OpFront front(kEmbedding);
  require_embedding(given, weight, kEmbedding);
  const Tensor input = bound ? row_major(given) : given;
  if (bound) take_distinct_scratch(input);
  const EmbeddingTable table = embedding_table(weight, padding_idx, kEmbedding);
  Recorder record("EmbeddingBackward", {&weight});
  record.save(input);
  Tensor out = gather_rows(table, input, weight, bound);
  record.attach_differentiable(out, [table](BackwardCall& call) {
    return TensorList{call.is_recorded()
                          ? recorded_embedding_gradient(table, call.grad(), call.saved(0))
                          : embedding_gradient(table, call.grad(), call.saved(0))};
  });
  return out;
}

std::vector<OpDef> embedding_ops() {
  return {
      define(kEmbedding, kFunctional, &embedding_row,
             {"input", "weight", "padding_idx", "max_norm", {"norm_type", 2.0}}),
  };
}

}  // namespace ohm::ops

#include "runtime/ops/embedding.h"

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
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/cuda/sort.h"
#include "runtime/ops/index_places.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/sorting_scratch.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kEmbedding{"embedding"};
constexpr OpInfo kEmbeddingBag{"embedding_bag"};

// Up to here one kernel adds the rows up without temporaries.
constexpr std::int64_t kFewIndices = 3072;

struct Table {
  std::int64_t rows;
  std::int64_t width;
  std::int64_t padding_row;  ///< -1: none
};

void check(const Tensor& input, const Tensor& weight) {
  require_floating(weight, kEmbedding);
  require_same_device(input, weight, kEmbedding);
  if (input.dtype() != DType::int64 && input.dtype() != DType::int32) {
    throw std::invalid_argument(fmt::format(
        "[embedding] expected indices of dtype int64 or int32, not {}", name_of(input.dtype())));
  }
  if (weight.dims() == 2) return;
  throw std::invalid_argument(
      fmt::format("[embedding] 'weight' must be 2-D, but got {}", weight.shape().str()));
}

Table table_of(const Tensor& weight, std::optional<std::int64_t> padding_idx) {
  Table table{weight.shape()[0], weight.shape()[1], -1};
  if (!padding_idx) return table;
  table.padding_row = *padding_idx < 0 ? *padding_idx + table.rows : *padding_idx;
  if (table.padding_row >= 0 && table.padding_row < table.rows) return table;
  throw std::invalid_argument(
      fmt::format("[embedding] padding_idx {} must be within the {} rows of the table",
                  *padding_idx, table.rows));
}

Tensor gather_rows(const Table& table, const Tensor& given, const Tensor& weight) {
  Shape shape = given.shape();
  shape.push_back(table.width);
  // The indices are read as one line.
  const Tensor line = given.device().is_cuda() ? unrecorded_reshape(given, {given.numel()}) : given;
  Tensor out = empty(shape, options_of(weight));
  if (!out.has_values()) return out;
  require_places(kEmbedding, given, {table.rows});
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
bool are_rows_scattered_on_cuda(const Table& table, const Tensor& input, const Tensor& grad,
                                const Tensor& out) {
  if (out.cuda_backend() == nullptr || !out.is_contiguous() || input.numel() == 0) return false;
  const std::optional<SortedRows> sorted =
      sorted_on_cuda(input, {1, input.numel(), 1}, functors::Ordering{false});
  if (!sorted) return false;
  fill_values(out, 0.0);
  const functors::ScatteredRow rows_of_index{input.numel(), table.rows, table.padding_row};
  return are_rows_done_on_cuda(rows_of_index, out.dtype(), {input.numel(), table.width},
                               {{out}, {sorted->elements, sorted->places, grad}});
}

void scatter_rows(const Table& table, const Tensor& input, const Tensor& grad, const Tensor& out) {
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

// The temporaries of the GPU's kernel for many indices; they go when the kernel is done, in
// reverse order.
class SortingScratch {
 public:
  SortingScratch(const Tensor& input, const TensorOptions& grad_options)
      : index_options_(options_of(input)), grad_options_(grad_options), count_(input.numel()) {}

  void sort(std::int64_t rows) {
    keep(count_, index_options_);
    keep(count_, index_options_);
    const Tensor range = empty({count_}, index_options_);
    const Device device = index_options_.device;
    take_bytes(Context::current().rules.has_later_embedding_gradient
                   ? bounded_sort_scratch_bytes(count_, index_bytes(), rows, device)
                   : sort_scratch_bytes(count_, index_bytes(), device));
  }

  // Runs of equal indices, split into pieces of ten rows that are added up one by one.
  void split_into_segments(const Table& table) {
    constexpr std::int64_t kRowsPerPiece = 10;
    const TensorOptions number{DType::int64, index_options_.device};
    keep(count_, index_options_);
    keep(1, number);
    {
      const Tensor unique = empty({count_}, index_options_);
      take_bytes(selection_scratch_bytes(count_, index_bytes(), index_options_.device));
    }
    const std::int64_t segments = std::min(count_, table.rows);
    keep(segments, index_options_);
    keep(segments, index_options_);
    take_bytes(scan_scratch_bytes(segments, index_options_.dtype, index_options_.device));
    keep(1, number);
    const std::int64_t pieces = count_ / kRowsPerPiece + segments;
    const DType sums = grad_options_.dtype == DType::float64 ? DType::float64 : DType::float32;
    keep(pieces, index_options_);
    if (!adds_pieces_at_once(pieces, segments, table.width)) {
      keep(pieces * table.width, {sums, index_options_.device});
      return;
    }
    keep(pieces, index_options_);
    if (grad_options_.dtype != sums) keep(segments * table.width, {sums, index_options_.device});
  }

  ~SortingScratch() {
    while (!kept_.empty()) kept_.pop_back();
  }
  SortingScratch(const SortingScratch&) = delete;
  SortingScratch& operator=(const SortingScratch&) = delete;

 private:
  // Many pieces of segments that are too few for the device: sums of pieces need no memory then.
  // The bounds are where recorded requests change, for widths of 1 to 20,000 on two GPUs.
  bool adds_pieces_at_once(std::int64_t pieces, std::int64_t segments, std::int64_t width) const {
    Context& context = Context::current();
    if (!context.rules.has_later_embedding_gradient) return false;
    const std::int64_t warps = std::max<std::int64_t>(32, ceil_div(width, 32));
    const std::int64_t pairs = std::max<std::int64_t>(16, ceil_div(width, 64));
    return segments * warps <
               std::int64_t{128} * context.slot(index_options_.device).multiprocessors &&
           segments * pairs < 4 * pieces;
  }

  std::int64_t index_bytes() const {
    return static_cast<std::int64_t>(item_bytes(index_options_.dtype));
  }
  void keep(std::int64_t count, const TensorOptions& options) {
    kept_.push_back(empty({count}, options));
  }
  void take_bytes(std::int64_t bytes) {
    const Tensor scratch = empty_bytes(bytes, index_options_.device);
  }

  TensorOptions index_options_;
  TensorOptions grad_options_;
  std::int64_t count_;
  std::vector<Tensor> kept_;
};

Tensor embedding_gradient(const Table& table, const Tensor& incoming, const Tensor& input) {
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
Tensor gradient_of_rows(const Table& table, const Tensor& grad, const Tensor& indices) {
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
Tensor recorded_embedding_gradient(const Table& table, const Tensor& grad, const Tensor& indices) {
  Recorder record("EmbeddingDenseBackwardBackward", {&grad});
  record.save(indices);
  Tensor out = embedding_gradient(table, grad, indices);
  record.attach_differentiable(out, [table](BackwardCall& call) {
    return TensorList{gradient_of_rows(table, call.grad(), call.saved(0))};
  });
  return out;
}

// ---- bags ---------------------------------------------------------------------------------------

struct Bags {
  std::int64_t count;
  bool is_mean;
  std::int64_t size;                 ///< of each, where offsets say nothing else
  std::vector<std::int64_t> begins;  ///< as offsets say, and the end of the last

  std::int64_t begin_of(std::int64_t bag) const {
    return begins.empty() ? bag * size : begins[static_cast<std::size_t>(bag)];
  }
};

[[noreturn]] void refuse_bags(const std::string& problem) {
  throw std::invalid_argument("[embedding_bag] " + problem);
}

void check_bags(const Tensor& input, const std::string& mode,
                const std::optional<Tensor>& offsets) {
  if (mode != "sum" && mode != "mean") {
    refuse_bags(fmt::format("mode must be sum or mean, not {}", mode));
  }
  if (input.dims() == 2 && offsets) {
    refuse_bags("bags of indices [bags, count] take no offsets");
  }
  if (input.dims() == 2) return;
  if (input.dims() != 1) {
    refuse_bags(
        fmt::format("expected bags of indices [bags, count], or [count] with offsets, got "
                    "{}",
                    input.shape().str()));
  }
  if (!offsets || offsets->dims() != 1) refuse_bags("indices [count] take offsets [bags]");
  if (offsets->dtype() != input.dtype() || offsets->device() != input.device()) {
    refuse_bags(
        fmt::format("offsets must be of the indices' dtype and on their device, got {} for "
                    "{}",
                    describe(*offsets), describe(input)));
  }
}

std::vector<std::int64_t> begins_of(const Tensor& input, const Tensor& offsets) {
  if (!offsets.has_values()) return {};
  std::vector<std::int64_t> begins = to_integers(offsets);
  const bool is_in_order = std::is_sorted(begins.begin(), begins.end());
  if (begins.empty() || begins[0] != 0 || !is_in_order || begins.back() > input.numel()) {
    refuse_bags(fmt::format("offsets begin with 0 and grow to at most {}", input.numel()));
  }
  begins.push_back(input.numel());
  return begins;
}

Bags bags_of(const Tensor& input, const std::string& mode, const std::optional<Tensor>& offsets) {
  check_bags(input, mode, offsets);
  const bool is_mean = mode == "mean";
  if (offsets) return {offsets->numel(), is_mean, 0, begins_of(input, *offsets)};
  return {input.shape()[0], is_mean, input.shape()[1], {}};
}

// Calls add(row of the table, bag, its share of the bag) for each index.
template <class F>
void for_each_in_bags(const Bags& bags, const HostInput<std::int64_t>& indices, F&& add) {
  for (std::int64_t bag = 0; bag < bags.count; ++bag) {
    const std::int64_t first = bags.begin_of(bag);
    const std::int64_t end = bags.begin_of(bag + 1);
    const bool is_shared = bags.is_mean && end > first;
    const double share = is_shared ? 1.0 / static_cast<double>(end - first) : 1.0;
    for (std::int64_t i = first; i < end; ++i) add(indices.data()[i], bag, share);
  }
}

template <class T>
void add_row(const T* row, T* sum, std::int64_t width, double share) {
  for (std::int64_t column = 0; column < width; ++column) {
    sum[column] += row[column] * static_cast<T>(share);
  }
}

void add_up_bags(const Table& table, const Bags& bags, const Tensor& input, const Tensor& weight,
                 const Tensor& out) {
  if (!out.has_values()) return;
  require_places(kEmbeddingBag, input, {table.rows});
  const HostInput<std::int64_t> indices(input);
  visit_computed(weight.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> rows(weight);
    HostOutput<T> sums(out);
    sums.fill_zero();
    for_each_in_bags(bags, indices, [&](std::int64_t row, std::int64_t bag, double share) {
      add_row(rows.data() + row * table.width, sums.data() + bag * table.width, table.width, share);
    });
    sums.commit();
  });
}

void share_out_bags(const Table& table, const Bags& bags, const Tensor& input, const Tensor& grad,
                    const Tensor& out) {
  if (!out.has_values()) return;
  const HostInput<std::int64_t> indices(input);
  visit_computed(grad.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> rows(grad);
    HostOutput<T> sums(out);
    sums.fill_zero();
    for_each_in_bags(bags, indices, [&](std::int64_t row, std::int64_t bag, double share) {
      add_row(rows.data() + bag * table.width, sums.data() + row * table.width, table.width, share);
    });
    sums.commit();
  });
}

Tensor bag_gradient(const Table& table, const Bags& bags, const Tensor& incoming,
                    const Tensor& input) {
  const Tensor indices = row_major(input);
  const Tensor grad = row_major(incoming);
  const Shape shape{table.rows, table.width};
  if (input.device().is_cpu()) {
    Tensor out = empty(shape, options_of(grad));
    share_out_bags(table, bags, indices, grad, out);
    return out;
  }
  SortingScratch scratch(input, options_of(grad));
  scratch.sort(table.rows);
  Tensor out = empty(shape, options_of(grad));
  scratch.split_into_segments(table);
  share_out_bags(table, bags, indices, grad, out);
  return out;
}

std::vector<Sample> bags_and_table() {
  const Tensor table = randn({5, 3}, {DType::float64, Device::cpu()});
  const Tensor bags = from_values({1, 4, 1, 0, 2, 2}, {2, 3}, {DType::int64, Device::cpu()});
  const Tensor row = from_values({1, 4, 1, 0, 2, 2}, {6}, {DType::int64, Device::cpu()});
  const Tensor begins = from_values({0, 4, 4}, {3}, {DType::int64, Device::cpu()});
  return {{bags, table, std::string("mean")},
          {bags, table, std::string("sum")},
          {row, table, std::string("mean"), begins}};
}

std::vector<Sample> indices_and_table() {
  const Tensor table = randn({5, 3}, {DType::float64, Device::cpu()});
  const TensorOptions indices{DType::int64, Device::cpu()};
  return {
      {from_values({1, 4, 1, 0}, {4}, indices), table},
      {from_values({1, 4, 1, 0, 2, 2}, {2, 3}, indices), table, std::int64_t{-2}},
  };
}

}  // namespace

Tensor embedding(const Tensor& input, const Tensor& weight,
                 std::optional<std::int64_t> padding_idx) {
  const OpFront front(kEmbedding);
  check(input, weight);
  const Table table = table_of(weight, padding_idx);
  Recorder record("EmbeddingBackward", {&weight});
  record.save(input);
  Tensor out = gather_rows(table, input, weight);
  record.attach_differentiable(out, [table](BackwardCall& call) {
    return TensorList{call.is_recorded()
                          ? recorded_embedding_gradient(table, call.grad(), call.saved(0))
                          : embedding_gradient(table, call.grad(), call.saved(0))};
  });
  return out;
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const std::string& mode,
                     const std::optional<Tensor>& offsets) {
  const OpFront front(kEmbeddingBag);
  check(input, weight);
  const Bags bags = bags_of(input, mode, offsets);
  const Table table = table_of(weight, std::nullopt);
  Recorder record("EmbeddingBagBackward", {&weight});
  record.save(input);
  const TensorOptions of_places = options_of(input);
  const Tensor begins = offsets ? *offsets : empty({bags.count}, of_places);
  const Tensor sizes = empty({bags.count}, of_places);
  const Tensor bag_of_index = empty({input.numel()}, of_places);
  for (const Tensor& kept : {begins, bag_of_index, sizes}) record.save(kept);
  Tensor out = empty({bags.count, table.width}, options_of(weight));
  add_up_bags(table, bags, row_major(input), weight, out);
  record.attach(out, [table, bags](BackwardCall& call) {
    return TensorList{bag_gradient(table, bags, call.grad(), call.saved(0))};
  });
  return out;
}

std::vector<OpDef> embedding_ops() {
  return {
      define(kEmbedding, kFunctional, &embedding, {"input", "weight", "padding_idx"},
             indices_and_table),
      define(kEmbeddingBag, kFunctional, &embedding_bag,
             {"input", "weight", {"mode", std::string("mean")}, "offsets"}, bags_and_table),
  };
}

}  // namespace ohm::ops

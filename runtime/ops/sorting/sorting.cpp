#include "runtime/ops/sorting/sorting.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/base/ceil_div.h"
#include "runtime/base/rows.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/functors/sorting.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/sorting/cuda/sort.h"
#include "runtime/ops/sorting/long_rows.h"
#include "runtime/ops/sorting/sorting_scratch.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSort{"sort"};
constexpr OpInfo kArgsort{"argsort"};
constexpr OpInfo kTopk{"topk"};

// The temporaries of the kernel that finds the largest of long rows, several blocks to a row.
class SelectionScratch {
 public:
  SelectionScratch(const Tensor& input, int dim) {
    const Device device = input.device();
    const std::int64_t size = input.shape()[dim];
    const std::int64_t rows = size == 0 ? 0 : input.numel() / size;
    device_ = device;
    if (!device.is_cuda() || !is_divided(rows, size)) return;
    const std::int64_t blocks = rows * blocks_for_row(rows, size, device);
    keep_search(input.dtype(), rows, blocks);
    keep(blocks, DType::int32);  // chosen before each block
    keep(blocks, DType::int32);
    for (int scan = 0; scan < 2; ++scan) {
      const Tensor temporary = empty_bytes(keyed_scan_scratch_bytes(blocks, device), device);
    }
  }
  SelectionScratch(const SelectionScratch&) = delete;
  SelectionScratch& operator=(const SelectionScratch&) = delete;
  ~SelectionScratch() {
    while (!parts_.empty()) parts_.pop_back();
  }

 private:
  static constexpr std::int64_t kDigits = 256;
  static constexpr std::int64_t kThreads = 256;

  void keep(std::int64_t count, DType dtype) { parts_.push_back(empty({count}, {dtype, device_})); }

  // Of the search for the last value that is chosen, digit by digit. CUDA 13's writes the state of
  // a step beside that of the one before.
  void keep_search(DType dtype, std::int64_t rows, std::int64_t blocks) {
    const DType digits = item_bytes(dtype) == 8 ? DType::int64 : DType::int32;
    const bool is_cuda_13 = Context::current().rules.sorts_as_cuda_13;
    const std::int64_t states = is_cuda_13 ? 2 * rows : rows;
    keep(rows, dtype);                                   // that value, of each row
    if (!is_cuda_13) keep(rows, DType::int32);           // its blocks that are done
    keep(states, DType::int32);                          // how many are still to be found
    keep(states, digits);                                // the digits found so far
    keep(blocks * kDigits, DType::float16);              // counts of two bytes for each digit
    if (is_cuda_13) keep(rows * kDigits, DType::int32);  // and their sums
  }

  // The more rows there are, the shorter those that one block still handles alone.
  static bool is_divided(std::int64_t rows, std::int64_t size) {
    struct Rule {
      std::int64_t most_rows;
      std::int64_t least_size;
    };
    constexpr Rule kRules[] = {{20, 20000}, {40, 10000}, {80, 8000},
                               {199, 5000}, {799, 3000}, {4000, 800}};
    for (const Rule& rule : kRules) {
      if (rows <= rule.most_rows) return size >= rule.least_size;
    }
    return size >= 400;
  }

  static std::int64_t blocks_for_row(std::int64_t rows, std::int64_t size, Device device) {
    constexpr std::int64_t kBlocksPerMultiprocessor = 6;
    const DeviceSlot& slot = Context::current().slot(device);
    const std::int64_t resident = slot.multiprocessors * kBlocksPerMultiprocessor * kThreads;
    const std::int64_t items = std::clamp<std::int64_t>(ceil_div(rows * size, resident), 4, 64);
    return ceil_div(size, items * kThreads);
  }

  Device device_;
  std::vector<Tensor> parts_;
};

// Writes numbers, row by row, to a tensor of any layout.
template <class Number>
void write_in_order(const Tensor& to, const std::vector<Number>& numbers) {
  visit_dtype(to.dtype(), [&]<class T>(TypeTag<T>) {
    T* const element = to.data<T>();
    auto next = numbers.begin();
    for_each_offset(to.shape(), to.strides(),
                    [&](std::int64_t offset) { element[offset] = convert_element<T>(*next++); });
  });
}

template <class T>
void pick_numbers_from_rows(const std::vector<T>& data, const Rows& rows,
                            const functors::Ordering& precedes, std::int64_t picked,
                            const Tensor& values, const Tensor& indices) {
  std::vector<T> picked_values(static_cast<std::size_t>(values.numel()));
  std::vector<std::int64_t> places(picked_values.size());
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows.size));
  std::int64_t row = 0;
  for_each_row_start(rows, [&](std::int64_t start) {
    const auto value_at = [&](std::int64_t i) {
      return data[static_cast<std::size_t>(start + i * rows.inner)];
    };
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return precedes(value_at(a), value_at(b));
    });
    const std::int64_t first = row / rows.inner * picked * rows.inner + row % rows.inner;
    for (std::int64_t i = 0; i < picked; ++i) {
      const auto target = static_cast<std::size_t>(first + i * rows.inner);
      places[target] = order[static_cast<std::size_t>(i)];
      picked_values[target] = value_at(places[target]);
    }
    ++row;
  });
  write_in_order(values, picked_values);
  write_in_order(indices, places);
}

// Writes the first `picked` of each row, ordered as is wanted, with their places.
void pick_from_rows(const Tensor& input, const Rows& rows, const functors::Ordering& precedes,
                    std::int64_t picked, const Tensor& values, const Tensor& indices) {
  if (!values.has_values()) return;
  if (is_sorted_on_cuda({input, rows, precedes, picked, values, indices})) return;
  visit_numbers(input, [&](const auto& data) {
    pick_numbers_from_rows(data, rows, precedes, picked, values, indices);
  });
}

// Sorting is stable, asked for or not.
std::vector<Tensor> sort_row(const Tensor& input, std::int64_t dim, bool descending,
                             bool /*stable*/) {
  return as_list(sort(input, dim, descending));
}
Tensor argsort_row(const Tensor& input, std::int64_t dim, bool descending, bool /*stable*/) {
  return argsort(input, dim, descending);
}
// The places are those of sorted values, asked for or not.
std::vector<Tensor> topk_row(const Tensor& input, std::int64_t k, std::int64_t dim, bool largest,
                             bool /*sorted*/) {
  return as_list(topk(input, k, dim, largest));
}

}  // namespace

ValuesAndIndices sort(const Tensor& input, std::int64_t dim, bool descending) {
  const OpFront front(kSort);
  const int position = input.numel() == 0 ? wrap_dim(dim, input.dims(), kSort.name.data())
                                          : picked_dim(kSort, input, dim);
  const std::int64_t size = input.shape()[position];
  const ValuesAndIndices out = {empty_like(input), empty_like(input, DType::int64)};
  if (input.numel() != 0) {
    if (has_long_rows(input, position)) {
      take_scratch_of_long_rows(input, position, out.first, out.second);
    } else {
      const Tensor numbers = empty({size}, {DType::int64, input.device()});
    }
    pick_from_rows(input, rows_along(input.shape(), position), functors::Ordering{descending}, size,
                   out.first, out.second);
  }
  record_pick("SortBackward", input, out, position);
  return out;
}

ValuesAndIndices topk(const Tensor& input, std::int64_t k, std::int64_t dim, bool largest) {
  const int position = picked_dim(kTopk, input, dim);
  if (k < 0 || k > input.shape()[position]) {
    throw std::invalid_argument(fmt::format("[topk] k ({}) is out of range for dimension {} of {}",
                                            k, position, input.shape().str()));
  }
  const OpFront front(kTopk);
  refuse_bool(kTopk, input);
  Shape shape = input.shape();
  shape[position] = k;
  const ValuesAndIndices out = {empty(shape, options_of(input)),
                                empty(shape, {DType::int64, input.device()})};
  {
    const Tensor dense = row_major(input);
    const SelectionScratch scratch(dense, position);
    pick_from_rows(dense, rows_along(input.shape(), position), functors::Ordering{largest}, k,
                   out.first, out.second);
  }
  record_pick("TopkBackward", input, out, position);
  return out;
}

Tensor argsort(const Tensor& input, std::int64_t dim, bool descending) {
  const OpFront front(kArgsort);
  return sort(input, dim, descending).second;
}

std::vector<OpDef> sorting_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName last{"dim", std::int64_t{-1}};
  const ParamName stable{"stable", false};
  return {
      define(kSort, kBoth, &sort_row, {"input", last, {"descending", false}, stable}),
      define(kArgsort, kBoth, &argsort_row, {"input", last, {"descending", false}, stable}),
      define(kTopk, kBoth, &topk_row, {"input", "k", last, {"largest", true}, {"sorted", true}}),
  };
}

}  // namespace ohm::ops

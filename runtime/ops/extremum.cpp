#include "runtime/ops/extremum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/base/ceil_div.h"
#include "runtime/base/rows.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/functors/sorting.h"
#include "runtime/kernels/launch/split_reduction.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/choice.h"
#include "runtime/ops/cuda/extremum.h"
#include "runtime/ops/cuda/sort.h"
#include "runtime/ops/formula.h"
#include "runtime/ops/index_places.h"
#include "runtime/ops/long_rows.h"
#include "runtime/ops/picked_gradient.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/ops/reduction_kernel.h"
#include "runtime/ops/sorting_scratch.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMax{"max"};
constexpr OpInfo kMin{"min"};
constexpr OpInfo kArgmax{"argmax"};
constexpr OpInfo kArgmin{"argmin"};
constexpr OpInfo kSort{"sort"};
constexpr OpInfo kArgsort{"argsort"};
constexpr OpInfo kTopk{"topk"};

enum class Wanted : bool { largest, smallest };

bool is_largest(Wanted wanted) { return wanted == Wanted::largest; }

bool is_more_extreme(double x, double best, bool wants_largest) {
  return functors::is_more_extreme(x, best, wants_largest);
}
bool is_more_extreme(std::int64_t x, std::int64_t best, bool wants_largest) {
  return wants_largest ? x > best : x < best;
}

// Number: double, or of integers int64.
template <class Number>
void find_extrema_as(const Extrema& extrema) {
  const Tensor& input = extrema.input;
  const auto count = static_cast<std::size_t>(extrema.count());
  std::vector<Number> best(count);
  std::vector<std::int64_t> places(count);
  std::vector<std::int64_t> seen(count);
  const auto note = [&](std::size_t slot, Number x) {
    if (seen[slot] == 0 || is_more_extreme(x, best[slot], extrema.wants_largest)) {
      best[slot] = x;
      places[slot] = seen[slot];
    }
    ++seen[slot];
  };
  const std::array<Shape, 2> strides = {input.strides(),
                                        reduced_strides(input.shape(), extrema.folded)};
  visit_dtype(input.dtype(), [&]<class T>(TypeTag<T>) {
    const T* const data = input.data<const T>();
    for_each_offsets<2>(input.shape(), strides, [&](const auto& at) {
      note(static_cast<std::size_t>(at[1]), convert_element<Number>(data[at[0]]));
    });
  });
  const auto store = [](const Tensor& to, const auto& from) {
    if (!to.defined()) return;
    visit_dtype(to.dtype(), [&]<class T>(TypeTag<T>) {
      std::transform(from.begin(), from.end(), to.data<T>(),
                     [](auto value) { return convert_element<T>(value); });
    });
  };
  store(extrema.values, best);
  store(extrema.places, places);
}

void find_extrema(const Extrema& extrema) {
  // A partial result is a value, and its place where that is wanted.
  const std::size_t bytes = extrema.places.defined() ? 16 : item_bytes(extrema.input.dtype());
  const ReductionScratch scratch(extrema.input, extrema.folded, {bytes, true});
  const bool has_values =
      extrema.values.defined() ? extrema.values.has_values() : extrema.places.has_values();
  if (!has_values || are_found_on_cuda(extrema)) return;
  if (is_floating(extrema.input.dtype())) return find_extrema_as<double>(extrema);
  find_extrema_as<std::int64_t>(extrema);
}

// ---- all elements -------------------------------------------------------------------------------

Tensor extremum(const OpInfo& info, std::string_view node, const Tensor& input, Wanted wanted) {
  const OpFront front(info);
  if (input.numel() == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] expected a tensor with at least one element", info.name));
  }
  Recorder record(node, {&input});
  record.save(input);
  Tensor out = empty({}, options_of(input));
  find_extrema({row_major(input), all_dims(input.dims()), is_largest(wanted), out, Tensor()});
  record.save_output(out);
  record.attach_differentiable(out, [](BackwardCall& call) {
    return TensorList{shared_gradient(call.grad(), call.saved(0), call.saved(1))};
  });
  return out;
}

// ---- along a dimension --------------------------------------------------------------------------

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
void pick_from_rows(const Tensor& input, const Rows& rows, Wanted wanted, std::int64_t picked,
                    const Tensor& values, const Tensor& indices) {
  if (!values.has_values()) return;
  const functors::Ordering precedes{is_largest(wanted)};
  if (is_sorted_on_cuda({input, rows, precedes, picked, values, indices})) return;
  visit_numbers(input, [&](const auto& data) {
    pick_numbers_from_rows(data, rows, precedes, picked, values, indices);
  });
}

int picked_dim(const OpInfo& info, const Tensor& input, std::int64_t dim) {
  if (input.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] a tensor without dimensions has nothing to pick from", info.name));
  }
  const int position = wrap_dim(dim, input.dims(), info.name.data());
  if (input.shape()[position] == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] dimension {} has no elements", info.name, position));
  }
  return position;
}

void record_pick(std::string_view node, const Tensor& input, const ValuesAndIndices& out, int dim) {
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.save_output(out.second);
    record.attach_differentiable(out.first, [shape = input.shape(), dim](BackwardCall& call) {
      return TensorList{picked_gradient(call.grad(), call.saved(0), shape, dim)};
    });
  }
}

ValuesAndIndices extremum_along(const OpInfo& info, std::string_view node, const Tensor& input,
                                std::int64_t dim, bool keepdim, Wanted wanted) {
  const OpFront front(info);
  const int position = picked_dim(info, input, dim);
  const DimMask folded = with(0, position);
  const Shape shape = reduced_shape(input.shape(), folded, keepdim);
  const ValuesAndIndices out = {empty(shape, options_of(input)),
                                empty(shape, {DType::int64, input.device()})};
  find_extrema({input, folded, is_largest(wanted), out.first, out.second});
  record_pick(node, input, out, position);
  return out;
}

void require_extremes(const OpInfo& info, const Tensor& input, std::optional<std::int64_t> dim) {
  if (input.numel() != 0) return;
  if (!dim) {
    throw std::invalid_argument(fmt::format(
        "[{}] Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
        "dim with the 'dim' argument.",
        info.name));
  }
  const int position = wrap_dim(*dim, input.dims(), info.name.data());
  if (input.shape()[position] != 0) return;
  throw std::invalid_argument(
      fmt::format("[{}] Expected reduction dim {} to have non-zero size.", info.name, position));
}

void refuse_masks(const OpInfo& info, const Tensor& input) {
  if (input.dtype() != DType::boolean) return;
  throw std::invalid_argument(fmt::format("[{}] does not support bool input", info.name));
}

Tensor arg_extremum(const OpInfo& info, const Tensor& input, std::optional<std::int64_t> dim,
                    bool keepdim, Wanted wanted) {
  const OpFront front(info);
  refuse_masks(info, input);
  const DimMask folded = dim ? folded_dims(input, Shape{*dim}, info) : all_dims(input.dims());
  require_extremes(info, input, dim);
  Tensor out = empty(reduced_shape(input.shape(), folded, keepdim), {DType::int64, input.device()});
  if (dim) {
    find_extrema({input, folded, is_largest(wanted), Tensor(), out});
  } else {
    const Tensor flat = unrecorded_reshape(input, {input.numel()});
    find_extrema({flat, all_dims(1), is_largest(wanted), Tensor(), out});
  }
  return out;
}

// ---- rows ---------------------------------------------------------------------------------------

using WholeExtremum = Tensor (*)(const Tensor&);
using PairExtremum = Tensor (*)(const Tensor&, const Tensor&);
using RowExtremum = ValuesAndIndices (*)(const Tensor&, std::int64_t, bool);

std::vector<Tensor> as_list(const ValuesAndIndices& pair) { return {pair.first, pair.second}; }

std::int64_t whole_number(double number) {
  const auto integer = static_cast<std::int64_t>(number);
  if (static_cast<double>(integer) == number) return integer;
  throw std::invalid_argument(fmt::format("[max] dim must be an integer, got {}", number));
}

// One name for three: of all elements; with a dimension, two tensors; with another tensor, the
// larger or smaller of each pair.
template <WholeExtremum Whole, RowExtremum Line, PairExtremum Pair>
Value extremum_row(const Tensor& input, const std::optional<TensorOrNumber>& dim, bool keepdim) {
  if (!dim) return Whole(input);
  if (const Tensor* other = std::get_if<Tensor>(&*dim)) return Pair(input, *other);
  return as_list(Line(input, whole_number(number_of(*dim)), keepdim));
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

Sample cube(std::vector<Value> arguments) {
  Sample sample{randn({2, 3, 4}, {DType::float64, Device::cpu()})};
  sample.insert(sample.end(), arguments.begin(), arguments.end());
  return sample;
}

}  // namespace

Tensor shared_gradient(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const auto compare = [](const Tensor& out, const Tensor& a, const Tensor& b) {
    map_elements(out, a.dtype(), functors::Same(), a, b);
  };
  const Tensor input_is_nan =
      empty_for_loop(input.shape(), {&input}, {DType::boolean, input.device()});
  const Tensor result_is_nan =
      empty_for_loop(result.shape(), {&result}, {DType::boolean, result.device()});
  const Tensor mask = empty_for_loop(input.shape(), {&input}, {DType::boolean, input.device()});
  compare(mask, input, result);
  const Tensor count = reduce_sum(mask, all_dims(mask.dims()), false, DType::int64);
  if (formula::is_recorded()) return mul(mask, div(grad, count));
  const Tensor share = map_new(grad, count, functors::Quotient());
  Tensor out = empty_for_loop(input.shape(), {&input}, options_of(input));
  map_floating(out, out.dtype(), functors::Product(), mask, share);
  return out;
}

Tensor max(const Tensor& input) { return extremum(kMax, "MaxBackward", input, Wanted::largest); }
Tensor min(const Tensor& input) { return extremum(kMin, "MinBackward", input, Wanted::smallest); }

ValuesAndIndices max(const Tensor& input, std::int64_t dim, bool keepdim) {
  return extremum_along(kMax, "MaxBackward", input, dim, keepdim, Wanted::largest);
}

ValuesAndIndices min(const Tensor& input, std::int64_t dim, bool keepdim) {
  return extremum_along(kMin, "MinBackward", input, dim, keepdim, Wanted::smallest);
}

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
    pick_from_rows(input, rows_along(input.shape(), position),
                   descending ? Wanted::largest : Wanted::smallest, size, out.first, out.second);
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
  refuse_masks(kTopk, input);
  Shape shape = input.shape();
  shape[position] = k;
  const ValuesAndIndices out = {empty(shape, options_of(input)),
                                empty(shape, {DType::int64, input.device()})};
  {
    const Tensor dense = row_major(input);
    const SelectionScratch scratch(dense, position);
    pick_from_rows(dense, rows_along(input.shape(), position),
                   largest ? Wanted::largest : Wanted::smallest, k, out.first, out.second);
  }
  record_pick("TopkBackward", input, out, position);
  return out;
}

Tensor argmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extremum(kArgmax, input, dim, keepdim, Wanted::largest);
}

Tensor argmin(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extremum(kArgmin, input, dim, keepdim, Wanted::smallest);
}

Tensor argsort(const Tensor& input, std::int64_t dim, bool descending) {
  const OpFront front(kArgsort);
  return sort(input, dim, descending).second;
}

std::vector<OpDef> extremum_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName keepdim{"keepdim", false};
  const ParamName last{"dim", std::int64_t{-1}};
  const auto one = std::int64_t{1};
  const ParamName stable{"stable", false};
  const auto dims = [] {
    return std::vector<Sample>{cube({}), cube({1.0, false}), cube({0.0, true})};
  };
  return {
      define(kMax, kBoth, &extremum_row<&max, &max, &maximum>, {"input", "dim", keepdim}, dims),
      define(kMin, kBoth, &extremum_row<&min, &min, &minimum>, {"input", "dim", keepdim}, dims),
      define(kArgmax, kBoth, &argmax, {"input", "dim", keepdim}),
      define(kArgmin, kBoth, &argmin, {"input", "dim", keepdim}),
      define(kSort, kBoth, &sort_row, {"input", last, {"descending", false}, stable},
             [one] {
               return std::vector<Sample>{cube({one, false, false}), cube({one, true, false})};
             }),
      define(kArgsort, kBoth, &argsort_row, {"input", last, {"descending", false}, stable}),
      define(kTopk, kBoth, &topk_row, {"input", "k", last, {"largest", true}, {"sorted", true}},
             [one] {
               return std::vector<Sample>{cube({std::int64_t{2}, one, true, true})};
             }),
  };
}

}  // namespace ohm::ops

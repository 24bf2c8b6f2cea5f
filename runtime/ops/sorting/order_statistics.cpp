#include "runtime/ops/sorting/order_statistics.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/rows.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/index.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/ops/sorting/picked_values.h"
#include "runtime/ops/sorting/sorting.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMedian{"median"};
constexpr OpInfo kNanmedian{"nanmedian"};
constexpr OpInfo kKthvalue{"kthvalue"};
constexpr OpInfo kMode{"mode"};
constexpr OpInfo kMsort{"msort"};

// The places of a row's elements by their value; NaNs come last.
struct OrderedRow {
  std::vector<std::int64_t> order;
  std::vector<bool> repeats;  ///< by rank: whether it equals the one before
  std::optional<std::int64_t> first_nan;
  std::int64_t nans = 0;
};

// The place of the element that is picked of a row.
using Pick = std::function<std::int64_t(const OrderedRow&)>;

std::int64_t middle_of(const OrderedRow& row) {
  return row.first_nan.value_or(row.order[(row.order.size() - 1) / 2]);
}

// Of the elements that are numbers; of one that is none where all are such.
std::int64_t middle_number_of(const OrderedRow& row) {
  const auto numbers = static_cast<std::int64_t>(row.order.size()) - row.nans;
  return row.order[static_cast<std::size_t>(std::max<std::int64_t>(numbers - 1, 0) / 2)];
}

std::int64_t most_frequent_of(const OrderedRow& row) {
  std::size_t longest = 0;
  std::int64_t place = 0;
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= row.order.size(); ++end) {
    if (end < row.order.size() && row.repeats[end]) continue;
    if (end - begin > longest) {
      longest = end - begin;
      place = row.order[end - 1];
    }
    begin = end;
  }
  return place;
}

template <class T>
OrderedRow ordered_row(const std::vector<T>& values) {
  OrderedRow row;
  row.order.resize(values.size());
  std::iota(row.order.begin(), row.order.end(), std::int64_t{0});
  const auto value_at = [&](std::int64_t place) { return values[static_cast<std::size_t>(place)]; };
  std::stable_sort(row.order.begin(), row.order.end(), [&](std::int64_t a, std::int64_t b) {
    const T x = value_at(a);
    const T y = value_at(b);
    return x < y || (x == x && y != y);
  });
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    row.repeats.push_back(rank > 0 && value_at(row.order[rank]) == value_at(row.order[rank - 1]));
    const auto place = static_cast<std::int64_t>(rank);
    if (value_at(place) == value_at(place)) continue;
    if (!row.first_nan) row.first_nan = place;
    ++row.nans;
  }
  return row;
}

template <class T>
void pick_numbers(const std::vector<T>& data, const Rows& rows, const ValuesAndIndices& out,
                  const Pick& pick) {
  std::vector<T> picked;
  std::int64_t* place = out.second.data<std::int64_t>();
  for_each_row_start(rows, [&](std::int64_t start) {
    std::vector<T> values;
    for (std::int64_t i = 0; i < rows.size; ++i) {
      values.push_back(data[static_cast<std::size_t>(start + i * rows.inner)]);
    }
    *place = pick(ordered_row(values));
    picked.push_back(values[static_cast<std::size_t>(*place++)]);
  });
  visit_dtype(out.first.dtype(), [&]<class Element>(TypeTag<Element>) {
    Element* element = out.first.data<Element>();
    for (const T value : picked) *element++ = convert_element<Element>(value);
  });
}

void pick_of_rows(const Tensor& input, int dim, const ValuesAndIndices& out, const Pick& pick) {
  if (!out.first.has_values() || lacks_values(input)) return;
  visit_numbers(input, [&](const auto& data) {
    pick_numbers(data, rows_along(input.shape(), dim), out, pick);
  });
}

// The dimension of rows that have elements to pick from.
int ranked_dim(const OpInfo& info, const Tensor& input, std::int64_t dim) {
  const int position = wrap_dim(dim, input.dims(), info.name.data());
  if (input.dims() != 0 && input.shape()[position] != 0) return position;
  throw std::invalid_argument(fmt::format("[{}] dimension {} of {} has no elements to pick from",
                                          info.name, position, input.shape().str()));
}

ValuesAndIndices picked_along(std::string_view node, const Tensor& input, int dim, bool keepdim,
                              const std::function<void(const ValuesAndIndices&)>& compute) {
  const Shape shape = reduced_shape(input.shape(), with(0, dim), keepdim);
  const ValuesAndIndices out = {empty(shape, options_of(input)),
                                empty(shape, {DType::int64, input.device()})};
  compute(out);
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.save_output(out.second);
    record.attach_differentiable(out.first, [whole = input.shape(), dim](BackwardCall& call) {
      return TensorList{picked_gradient(call.grad(), call.saved(0), whole, dim)};
    });
  }
  return out;
}

// ---- all elements -------------------------------------------------------------------------------

Tensor sorted_elements(const Tensor& input) {
  const Tensor line = reshape(input, {input.numel()});
  return sort(line, 0, false).first;
}

// `middle(sorted)` of all elements; the gradient is shared by those that equal it.
template <class Middle>
Tensor middle_element(const OpInfo& info, std::string_view node, const Tensor& input,
                      Middle middle) {
  const OpFront front(info);
  if (input.numel() == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] expected a tensor with at least one element", info.name));
  }
  Recorder record(node, {&input});
  record.save(input);
  Tensor out;
  {
    const NoGradGuard no_graph;
    const Tensor sorted = sorted_elements(input);
    out = middle(sorted);
  }
  record.save_output(out);
  record.attach_differentiable(out, [](BackwardCall& call) {
    return TensorList{shared_gradient(call.grad(), call.saved(0), call.saved(1))};
  });
  return out;
}

Tensor middle_or_nan(const Tensor& sorted) {
  const Tensor last = select(sorted, 0, -1);
  const Tensor middle = select(sorted, 0, (sorted.numel() - 1) / 2);
  return where(isnan(last), last, middle);
}

// Where it stands follows from how many are not numbers.
Tensor middle_number(const Tensor& sorted) {
  Tensor place;
  {
    const Tensor nans = isnan(sorted);
    const Tensor count = sum(nans);
    const Tensor last = rsub(count, Number(sorted.numel() - 1));
    const Tensor half = div(last, 2.0);
    place = to_dtype(half, DType::int64);
  }
  return index(sorted, {place});
}

Tensor nanmedian(const Tensor& input) {
  return middle_element(kNanmedian, "NanmedianBackward", input, &middle_number);
}

ValuesAndIndices nanmedian(const Tensor& input, std::int64_t dim, bool keepdim) {
  const OpFront front(kNanmedian);
  const int position = ranked_dim(kNanmedian, input, dim);
  const Tensor dense = row_major(input);
  return picked_along(
      "NanmedianBackward", input, position, keepdim,
      [&](const ValuesAndIndices& out) { pick_of_rows(input, position, out, &middle_number_of); });
}

Value nanmedian_row(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  if (!dim) return nanmedian(input);
  const ValuesAndIndices pair = nanmedian(input, *dim, keepdim);
  return std::vector<Tensor>{pair.first, pair.second};
}

Value median_row(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  if (!dim) return median(input);
  const ValuesAndIndices pair = median(input, *dim, keepdim);
  return std::vector<Tensor>{pair.first, pair.second};
}
std::vector<Tensor> kthvalue_row(const Tensor& input, std::int64_t k, std::int64_t dim,
                                 bool keepdim) {
  const ValuesAndIndices pair = kthvalue(input, k, dim, keepdim);
  return {pair.first, pair.second};
}
std::vector<Tensor> mode_row(const Tensor& input, std::int64_t dim, bool keepdim) {
  const ValuesAndIndices pair = mode(input, dim, keepdim);
  return {pair.first, pair.second};
}
Tensor msort(const Tensor& input) { return sort(input, 0, false).first; }

}  // namespace

Tensor median(const Tensor& input) {
  return middle_element(kMedian, "MedianBackward", input, &middle_or_nan);
}

ValuesAndIndices median(const Tensor& input, std::int64_t dim, bool keepdim) {
  const OpFront front(kMedian);
  const int position = ranked_dim(kMedian, input, dim);
  const Tensor dense = row_major(input);
  return picked_along("MedianBackward", input, position, keepdim, [&](const ValuesAndIndices& out) {
    pick_of_rows(input, position, out, &middle_of);
  });
}

ValuesAndIndices kthvalue(const Tensor& input, std::int64_t k, std::int64_t dim, bool keepdim) {
  const OpFront front(kKthvalue);
  if (input.dtype() == DType::boolean) {
    throw std::invalid_argument("[kthvalue] not implemented for bool");
  }
  const int position = ranked_dim(kKthvalue, input, dim);
  if (k < 1 || k > input.shape()[position]) {
    throw std::invalid_argument(
        fmt::format("[kthvalue] selected number k ({}) is out of range for dimension {} of {}", k,
                    position, input.shape().str()));
  }
  const Tensor dense = row_major(input);
  return picked_along("KthvalueBackward", input, position, keepdim,
                      [&](const ValuesAndIndices& out) {
                        pick_of_rows(input, position, out, [k](const OrderedRow& row) {
                          return row.order[static_cast<std::size_t>(k - 1)];
                        });
                      });
}

ValuesAndIndices mode(const Tensor& input, std::int64_t dim, bool keepdim) {
  const OpFront front(kMode);
  const int position = ranked_dim(kMode, input, dim);
  return picked_along("ModeBackward", input, position, keepdim, [&](const ValuesAndIndices& out) {
    if (input.shape()[position] == 1) {
      pick_of_rows(input, position, out, &most_frequent_of);
      return;
    }
    // The kernel wants rows next to each other.
    const Tensor rows = row_major(transpose(detached_alias(input), position, -1));
    pick_of_rows(input, position, out, &most_frequent_of);
  });
}

std::vector<OpDef> order_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName keepdim{"keepdim", false};
  const ParamName last{"dim", std::int64_t{-1}};
  return {
      define(kMedian, kBoth, &median_row, {"input", "dim", keepdim}),
      define(kNanmedian, kBoth, &nanmedian_row, {"input", "dim", keepdim}),
      define(kKthvalue, kBoth, &kthvalue_row, {"input", "k", last, keepdim}),
      define(kMode, kBoth, &mode_row, {"input", last, keepdim}),
      define(kMsort, kBoth, &msort, {"input"}),
  };
}

}  // namespace ohm::ops

#include "runtime/ops/reduction/running_extremum.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/rows.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/op_front.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kCummax{"cummax"};
constexpr OpInfo kCummin{"cummin"};

enum class Running : bool { largest, smallest };

// Whether `x` takes the place of what was found so far.
template <class T>
bool takes_over(T x, T found, Running kind) {
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return true;
    if (found != found) return false;
  }
  return kind == Running::largest ? x >= found : x <= found;
}

template <class T>
void run_along(const Rows& rows, const T* input, T* values, std::int64_t* places, Running kind) {
  for_each_row_start(rows, [&](std::int64_t start) {
    std::int64_t best = 0;
    for (std::int64_t i = 0; i < rows.size; ++i) {
      const T x = input[start + i * rows.inner];
      if (takes_over(x, input[start + best * rows.inner], kind)) best = i;
      values[start + i * rows.inner] = input[start + best * rows.inner];
      places[start + i * rows.inner] = best;
    }
  });
}

template <class T>
void store_running(const std::vector<T>& numbers, const ValuesAndIndices& out, int dim,
                   Running kind) {
  std::vector<T> values(numbers.size());
  std::vector<std::int64_t> places(numbers.size());
  run_along(rows_along(out.first.shape(), dim), numbers.data(), values.data(), places.data(), kind);
  visit_dtype(out.first.dtype(), [&]<class Element>(TypeTag<Element>) {
    Element* element = out.first.data<Element>();
    for (const T value : values) *element++ = convert_element<Element>(value);
  });
  std::copy(places.begin(), places.end(), out.second.data<std::int64_t>());
}

void compute_running(const Tensor& input, const ValuesAndIndices& out, int dim, Running kind) {
  if (!out.first.has_values() || !input.has_values()) return;
  visit_numbers(input, [&](const auto& numbers) { store_running(numbers, out, dim, kind); });
}

ValuesAndIndices running_extremum(const OpInfo& info, std::string_view node, const Tensor& input,
                                  std::int64_t dim, Running kind) {
  const OpFront front(info);
  const int position = wrap_dim(dim, input.dims(), info.name.data());
  const ValuesAndIndices out = {empty(input.shape(), options_of(input)),
                                empty(input.shape(), {DType::int64, input.device()})};
  {
    const Tensor dense = row_major(input);
    compute_running(dense, out, position, kind);
  }
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.save_output(out.second);
    record.attach_differentiable(out.first, [shape = input.shape(), position](BackwardCall& call) {
      if (shape.numel() == 0) return TensorList{call.grad()};
      return TensorList{scattered_sum(call.grad(), position, call.saved(0), shape)};
    });
  }
  return out;
}

std::vector<Tensor> cummax_row(const Tensor& input, std::int64_t dim) {
  const ValuesAndIndices pair = cummax(input, dim);
  return {pair.first, pair.second};
}
std::vector<Tensor> cummin_row(const Tensor& input, std::int64_t dim) {
  const ValuesAndIndices pair = cummin(input, dim);
  return {pair.first, pair.second};
}

}  // namespace

ValuesAndIndices cummax(const Tensor& input, std::int64_t dim) {
  return running_extremum(kCummax, "CummaxBackward", input, dim, Running::largest);
}

ValuesAndIndices cummin(const Tensor& input, std::int64_t dim) {
  return running_extremum(kCummin, "CumminBackward", input, dim, Running::smallest);
}

std::vector<OpDef> running_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kCummax, kBoth, &cummax_row, {"input", "dim"}),
      define(kCummin, kBoth, &cummin_row, {"input", "dim"}),
  };
}

}  // namespace ohm::ops

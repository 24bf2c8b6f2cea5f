#include "runtime/ops/indexing/scatter_reduce.h"

#include <fmt/core.h>

#include <limits>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/indexing/scatter.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/comparison.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kScatterReduce{"scatter_reduce"};
constexpr OpInfo kScatterReduceInplace{"scatter_reduce_"};

enum class ScatterReduction : std::uint8_t { sum, product, mean, largest, smallest };

ScatterReduction reduction_of(const std::string& name) {
  if (name == "sum") return ScatterReduction::sum;
  if (name == "prod") return ScatterReduction::product;
  if (name == "mean") return ScatterReduction::mean;
  if (name == "amax") return ScatterReduction::largest;
  if (name == "amin") return ScatterReduction::smallest;
  throw std::invalid_argument(fmt::format(
      "[scatter_reduce] reduce argument must be either sum, prod, mean, amax or amin, got {}",
      name));
}

/// One call: what is reduced, and how.
struct Plan {
  int dim = 0;
  ScatterReduction reduction = ScatterReduction::sum;
  bool includes_self = true;
};

double start_of(ScatterReduction reduction) {
  switch (reduction) {
    case ScatterReduction::product:
      return 1.0;
    case ScatterReduction::largest:
      return -std::numeric_limits<double>::infinity();
    case ScatterReduction::smallest:
      return std::numeric_limits<double>::infinity();
    default:
      return 0.0;
  }
}

template <class T>
void reduce_into(T& place, T value, ScatterReduction reduction) {
  switch (reduction) {
    case ScatterReduction::product:
      place *= value;
      break;
    case ScatterReduction::largest:
      place = functors::Maximum()(place, value);
      break;
    case ScatterReduction::smallest:
      place = functors::Minimum()(place, value);
      break;
    default:
      place += value;
  }
}

// Calls visit(place of the result, place of the source) for each element of the index, which is
// row-major as the source is seen through its shape.
template <class F>
void for_each_write(const Shape& target, const Tensor& index, const Shape& source_strides, int dim,
                    F&& visit) {
  const HostInput<std::int64_t> places(index);
  const Shape strides = contiguous_strides(target);
  Shape others = strides;
  if (target.dims() > 0) others[dim] = 0;
  const std::int64_t step = target.dims() > 0 ? strides[dim] : 0;
  std::int64_t number = 0;
  for_each_offsets<2>(index.shape(), {others, source_strides}, [&](const auto& at) {
    visit(at[0] + places.data()[number++] * step, at[1]);
  });
}

template <class T>
void reduce_writes(T* result, const T* source, const Shape& target, const Tensor& index,
                   const Shape& source_shape, const Plan& plan) {
  const Shape strides = contiguous_strides(source_shape);
  if (!plan.includes_self) {
    for_each_write(target, index, strides, plan.dim, [&](std::int64_t place, std::int64_t) {
      result[place] = static_cast<T>(start_of(plan.reduction));
    });
  }
  for_each_write(target, index, strides, plan.dim, [&](std::int64_t place, std::int64_t from) {
    reduce_into(result[place], source[from], plan.reduction);
  });
}

void compute_writes(const Tensor& out, const Tensor& index, const Tensor& source,
                    const Plan& plan) {
  if (!out.has_values() || lacks_values(index) || lacks_values(source)) return;
  require_places(kScatterReduce, index, {out.dims() == 0 ? 1 : out.shape()[plan.dim]});
  visit_computed(out.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> before(out);
    const std::vector<T> values(before.data(), before.data() + out.numel());
    const HostInput<T> added(source);
    HostOutput<T> result(out);
    std::copy(values.begin(), values.end(), result.data());
    reduce_writes(result.data(), added.data(), out.shape(), index, source.shape(), plan);
    result.commit();
  });
}

// How many elements each place is the mean of: 1 where there are none.
Tensor counts_of(const Tensor& out, const Tensor& index, const Tensor& ones, const Plan& plan) {
  const Tensor counts = plan.includes_self ? ones_like(out) : zeros_like(out);
  scatter_add_(counts, plan.dim, index, ones);
  masked_fill_(counts, eq(counts, 0.0), 1.0);
  return counts;
}

// Writes once there is nothing left to ask memory for.
void reduce_onto(const Tensor& out, const Tensor& index, const Tensor& source, const Plan& plan) {
  if (index.numel() == 0) return;
  if (plan.reduction != ScatterReduction::mean) return compute_writes(out, index, source, plan);
  const Tensor ones = ones_like(source);
  const Tensor counts = counts_of(out, index, ones, plan);
  compute_writes(out, index, source, plan);
  map_floating(out, out.dtype(), functors::Quotient(), out, counts);
}

Tensor scatter_reduced(const Tensor& input, const Tensor& index, const Tensor& source,
                       const Plan& plan) {
  Tensor out = empty(input.shape(), options_of(input));
  copy_into(out, input);
  reduce_onto(out, index, source, plan);
  return out;
}

// ---- gradients ----------------------------------------------------------------------------------

TensorList sum_gradients(const Tensor& grad, const Tensor& index, const Plan& plan) {
  return {grad, gather(grad, plan.dim, index)};
}

TensorList mean_gradients(const Tensor& grad, const Tensor& index, const Tensor& source,
                          const Plan& plan) {
  Tensor counts = plan.includes_self ? ones_like(grad) : zeros_like(grad);
  {
    const Tensor ones = ones_like(source);
    counts = scatter_add(counts, plan.dim, index, ones);
  }
  masked_fill_(counts, eq(counts, 0.0), 1.0);
  Tensor of_input = div(grad, counts);
  const Tensor of_places = gather(counts, plan.dim, index);
  return {of_input, div(gather(grad, plan.dim, index), of_places)};
}

// Shared by all elements that equal the result.
TensorList extremum_gradients(const Tensor& grad, const Tensor& input, const Tensor& index,
                              const Tensor& source, const Tensor& result, const Plan& plan) {
  const Tensor value = gather(result, plan.dim, index);
  const Tensor is_input = to_dtype(eq(input, result), grad.dtype());
  const Tensor is_source = to_dtype(eq(source, value), grad.dtype());
  const Tensor count = scatter_add(is_input, plan.dim, index, is_source);
  const Tensor share = div(grad, count);
  Tensor of_input = mul(eq(input, result), share);
  const Tensor gathered = gather(share, plan.dim, index);
  return {of_input, mul(eq(source, value), gathered)};
}

TensorList gradients_of_both(BackwardCall& call, const Plan& plan) {
  const Tensor index = call.saved(0);
  const Tensor& grad = call.grad();
  switch (plan.reduction) {
    case ScatterReduction::sum:
      return sum_gradients(grad, index, plan);
    case ScatterReduction::mean:
      return mean_gradients(grad, index, call.saved(2), plan);
    case ScatterReduction::largest:
    case ScatterReduction::smallest:
      return extremum_gradients(grad, call.saved(1), index, call.saved(2), call.saved(3), plan);
    default:
      throw std::invalid_argument(
          "[scatter_reduce] there is no gradient of the reduction prod: call it under no_grad");
  }
}

// What stood at the places that were written to counts for nothing where it is left out.
TensorList reduction_gradients(BackwardCall& call, const Plan& plan) {
  TensorList grads = gradients_of_both(call, plan);
  if (!plan.includes_self) grads[0] = scatter(grads[0], plan.dim, call.saved(0), Number{0.0});
  return grads;
}

void require_source_of_index(const Tensor& input, const Tensor& index, const Tensor& source) {
  require_same_device(input, source, kScatterReduce);
  require_floating(input, kScatterReduce);
  if (source.shape() == index.shape() && source.dtype() == input.dtype()) return;
  throw std::invalid_argument(
      fmt::format("[scatter_reduce] a source of {} does not fit an index of shape {} and an input "
                  "of {}",
                  describe(source), index.shape().str(), name_of(input.dtype())));
}

// The graph keeps a copy of what is written over.
Tensor scatter_reduce_(const Tensor& input, std::int64_t dim, const Tensor& index,
                       const Tensor& source, const std::string& reduce, bool include_self) {
  const OpFront front(kScatterReduceInplace);
  const Plan plan{gathered_dim(kScatterReduceInplace, input, dim, index), reduction_of(reduce),
                  include_self};
  require_source_of_index(input, index, source);
  require_no_partial_overlap(input, source, kScatterReduceInplace.name);
  Recorder record =
      Recorder::overwriting(kScatterReduceInplace.name, "ScatterReduceBackward", {&input, &source});
  record.save(index);
  record.save(record.is_needed() ? copy_of(input) : Tensor());
  record.save(source);
  begin_inplace_write(input, kScatterReduceInplace.name);
  reduce_onto(input, index, source, plan);
  record.save_output(input);
  // The copy of what was overwritten has no graph: this is differentiated once only.
  record.attach(input, [plan](BackwardCall& call) { return reduction_gradients(call, plan); });
  return input;
}

}  // namespace

Tensor scatter_reduce(const Tensor& input, std::int64_t dim, const Tensor& index,
                      const Tensor& source, const std::string& reduce, bool include_self) {
  const OpFront front(kScatterReduce);
  const Plan plan{gathered_dim(kScatterReduce, input, dim, index), reduction_of(reduce),
                  include_self};
  require_source_of_index(input, index, source);
  Recorder record("ScatterReduceBackward", {&input, &source});
  record.save(index);
  record.save(input);
  record.save(source);
  Tensor out = scatter_reduced(input, index, source, plan);
  record.save_output(out);
  record.attach_differentiable(
      out, [plan](BackwardCall& call) { return reduction_gradients(call, plan); });
  return out;
}

std::vector<OpDef> scatter_reduce_ops() {
  return {
      define(kScatterReduceInplace, kMethod, &scatter_reduce_,
             {"input", "dim", "index", "src", "reduce", {"include_self", true}}),
      define(kScatterReduce, kFunction | kMethod, &scatter_reduce,
             {"input", "dim", "index", "src", "reduce", {"include_self", true}}),
  };
}

}  // namespace ohm::ops

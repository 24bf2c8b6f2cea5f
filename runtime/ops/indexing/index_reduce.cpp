#include "runtime/ops/indexing/index_reduce.h"

#include <fmt/core.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/indexing/index_writes.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/indexing/scatter.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pointwise/whole_numbers.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kIndexReduce{"index_reduce"};
constexpr OpInfo kIndexReduceInplace{"index_reduce_"};

enum class EntryReduction : std::uint8_t { product, mean, largest, smallest };

/// One call: what is reduced, and how.
struct EntryPlan {
  int dim = 0;
  EntryReduction reduction = EntryReduction::product;
  bool includes_self = true;
};

EntryReduction entry_reduction(const std::string& name) {
  if (name == "prod") return EntryReduction::product;
  if (name == "mean") return EntryReduction::mean;
  if (name == "amax") return EntryReduction::largest;
  if (name == "amin") return EntryReduction::smallest;
  throw std::invalid_argument(fmt::format(
      "[index_reduce] reduce argument must be either prod, mean, amax or amin, got {}", name));
}

EntryPlan plan_of(const OpInfo& info, const Tensor& input, std::int64_t dim, const Tensor& index,
                  const Tensor& source, const std::string& reduce, bool include_self) {
  require_index(info, input, index);
  require_same_device(input, source, info);
  require_floating(input, info);
  const EntryPlan plan{wrap_dim(dim, input.dims(), info.name.data()), entry_reduction(reduce),
                       include_self};
  Shape expected = input.shape();
  if (expected.dims() > 0) expected[plan.dim] = index.numel();
  const bool fits = index.dims() <= 1 && input.dims() > 0 && source.shape() == expected &&
                    source.dtype() == input.dtype();
  if (!fits) {
    throw std::invalid_argument(
        fmt::format("[{}] a source of {} and an index of shape {} do not fit an input of {}",
                    info.name, describe(source), index.shape().str(), describe(input)));
  }
  if (input.has_values() && index.has_values()) {
    require_places(info, index, {input.shape()[plan.dim]});
  }
  return plan;
}

double start_of_entries(EntryReduction reduction) {
  if (reduction == EntryReduction::product) return 1.0;
  if (reduction == EntryReduction::mean) return 0.0;
  const double infinity = std::numeric_limits<double>::infinity();
  return reduction == EntryReduction::largest ? -infinity : infinity;
}

double reduced_entry(double entry, double value, EntryReduction reduction) {
  if (reduction == EntryReduction::product) return entry * value;
  if (reduction == EntryReduction::mean) return entry + value;
  if (reduction == EntryReduction::largest) return functors::Maximum()(entry, value);
  return functors::Minimum()(entry, value);
}

// On the host. What is not a place was told, and is left out.
void reduce_values(const Tensor& out, const Tensor& index, const Tensor& source,
                   const EntryPlan& plan) {
  if (!out.has_values() || lacks_values(index) || lacks_values(source)) return;
  std::vector<double> entries = to_doubles(out);
  const std::vector<double> values = to_doubles(source);
  const HostInput<std::int64_t> places(index);
  const std::int64_t count = index.numel();
  const std::int64_t size = out.shape()[plan.dim];
  std::int64_t inner = 1;
  for (int dim = plan.dim + 1; dim < out.dims(); ++dim) inner *= out.shape()[dim];
  for (std::int64_t i = 0; i < source.numel(); ++i) {
    const std::int64_t place = places.data()[i / inner % count];
    if (place < 0 || place >= size) continue;
    const std::int64_t at = (i / (inner * count) * size + place) * inner + i % inner;
    double& entry = entries[static_cast<std::size_t>(at)];
    entry = reduced_entry(entry, values[static_cast<std::size_t>(i)], plan.reduction);
  }
  store_values(out, entries);
}

// How many entries each is the mean of, where there are none: 1.
void count_none_as_one(const Tensor& counts) {
  const Tensor is_none = eq(counts, 0.0);
  masked_fill_(counts, is_none, 1.0);
}

Tensor counts_before(const Tensor& like, const EntryPlan& plan) {
  return plan.includes_self ? ones_like(like) : zeros_like(like);
}

void reduce_over(const Tensor& out, const Tensor& index, const Tensor& source,
                 const EntryPlan& plan) {
  const NoGradGuard no_graph;
  if (!plan.includes_self) {
    write_at(out, plan.dim, spread_index(index, source.shape(), plan.dim), Tensor(),
             start_of_entries(plan.reduction));
  }
  reduce_values(out, index, source, plan);
  if (plan.reduction != EntryReduction::mean) return;
  const Tensor counts = counts_before(out, plan);
  {
    const Tensor ones = ones_like(source);
    index_add_(counts, plan.dim, index, ones, 1.0);
  }
  count_none_as_one(counts);
  map_floating(out, out.dtype(), functors::Quotient(), out, counts);
}

Tensor reduced_copy(const Tensor& input, const Tensor& index, const Tensor& source,
                    const EntryPlan& plan) {
  Tensor out = empty(input.shape(), options_of(input));
  copy_into(out, input);
  reduce_over(out, index, source, plan);
  return out;
}

// ---- gradients ----------------------------------------------------------------------------------

/// What a gradient is made of.
struct EntryTerms {
  Tensor grad;
  Tensor input;
  Tensor index;
  Tensor source;
  Tensor result;
};

TensorList mean_entry_gradients(const EntryTerms& terms, const EntryPlan& plan) {
  Tensor counts = counts_before(terms.grad, plan);
  {
    const Tensor ones = ones_like(terms.source);
    counts = index_add(counts, plan.dim, terms.index, ones, 1.0);
  }
  count_none_as_one(counts);
  const Tensor of_input = div(terms.grad, counts);
  const Tensor of_places = index_select(counts, plan.dim, terms.index);
  const Tensor selected = index_select(terms.grad, plan.dim, terms.index);
  return {of_input, div(selected, of_places)};
}

// Shared by all entries that equal the result.
TensorList extremum_entry_gradients(const EntryTerms& terms, const EntryPlan& plan) {
  const Tensor value = index_select(terms.result, plan.dim, terms.index);
  const Tensor is_input = to_dtype(eq(terms.input, terms.result), terms.input.dtype());
  const Tensor is_source = to_dtype(eq(terms.source, value), terms.input.dtype());
  const Tensor count = index_add(is_input, plan.dim, terms.index, is_source, 1.0);
  const Tensor share = div(terms.grad, count);
  const Tensor of_input = mul(is_input, share);
  const Tensor selected = index_select(share, plan.dim, terms.index);
  return {of_input, mul(is_source, selected)};
}

// grad · (the product without one factor), where factors that are 0 are replaced by 1 first. What
// is made on the way lives until both gradients are there.
TensorList product_entry_gradients(const EntryTerms& terms, const EntryPlan& plan) {
  const Tensor factors = masked_fill(terms.input, eq(terms.input, 0.0), 1.0);
  const Tensor product = reduced_copy(factors, terms.index, terms.source, plan);
  const Tensor of_input = div(mul(terms.grad, product), factors);

  const Tensor is_zero = eq(terms.source, 0.0);
  Tensor zeros_there;
  {
    const Tensor none = zeros_like(terms.input);
    const Tensor zeros = to_dtype(is_zero, terms.input.dtype());
    const Tensor counts = index_add(none, plan.dim, terms.index, zeros, 1.0);
    zeros_there = index_select(counts, plan.dim, terms.index);
  }
  const Tensor is_only_zero = bitwise_and(is_zero, eq(zeros_there, 1.0));
  const Tensor others = masked_fill(terms.source, is_only_zero, 1.0);
  const Tensor without_zero = reduced_copy(terms.input, terms.index, others, plan);
  Tensor of_source;
  {
    const Tensor divisors = masked_fill(terms.source, is_zero, 1.0);
    const Tensor scaled = mul(terms.grad, terms.result);
    const Tensor whole = index_select(scaled, plan.dim, terms.index);
    const Tensor share = div(whole, divisors);
    const Tensor scaled_alone = mul(terms.grad, without_zero);
    const Tensor alone = index_select(scaled_alone, plan.dim, terms.index);
    of_source = where(is_only_zero, alone, share);
  }
  return {of_input, of_source};
}

TensorList entry_gradients(BackwardCall& call, const EntryPlan& plan) {
  const EntryTerms terms{call.grad(), call.saved(1), call.saved(0), call.saved(2), call.saved(3)};
  TensorList grads;
  if (plan.reduction == EntryReduction::product) {
    grads = product_entry_gradients(terms, plan);
  } else if (plan.reduction == EntryReduction::mean) {
    grads = mean_entry_gradients(terms, plan);
  } else {
    grads = extremum_entry_gradients(terms, plan);
  }
  if (!plan.includes_self) grads[0] = index_fill(grads[0], plan.dim, terms.index, 0.0);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!call.needs(i)) grads[i] = Tensor();
  }
  return grads;
}

// ---- ops ----------------------------------------------------------------------------------------

Tensor index_reduce(const Tensor& input, std::int64_t dim, const Tensor& index,
                    const Tensor& source, const std::string& reduce, bool include_self) {
  const OpFront front(kIndexReduce);
  const EntryPlan plan = plan_of(kIndexReduce, input, dim, index, source, reduce, include_self);
  Recorder record("IndexReduceBackward", {&input, &source});
  record.save(index);
  record.save(input);
  record.save(source);
  Tensor out = reduced_copy(input, index, source, plan);
  record.save_output(out);
  record.attach(out, [plan](BackwardCall& call) { return entry_gradients(call, plan); });
  return out;
}

// The graph keeps a copy of what is written over.
Tensor index_reduce_(const Tensor& input, std::int64_t dim, const Tensor& index,
                     const Tensor& source, const std::string& reduce, bool include_self) {
  const OpFront front(kIndexReduceInplace);
  Recorder record =
      Recorder::overwriting(kIndexReduceInplace.name, "IndexReduceBackward", {&input, &source});
  const EntryPlan plan =
      plan_of(kIndexReduceInplace, input, dim, index, source, reduce, include_self);
  require_no_partial_overlap(input, source, kIndexReduceInplace.name);
  record.save(index);
  record.save(record.is_needed() ? copy_of(input) : Tensor());
  record.save(source);
  begin_inplace_write(input, kIndexReduceInplace.name);
  reduce_over(input, index, source, plan);
  record.save_output(input);
  record.attach(input, [plan](BackwardCall& call) { return entry_gradients(call, plan); });
  return input;
}

}  // namespace

std::vector<OpDef> index_reduce_ops() {
  const ParamName include_self{"include_self", Value(true)};
  return {
      define(kIndexReduceInplace, kMethod, &index_reduce_,
             {"input", "dim", "index", "source", "reduce", include_self}),
      define(kIndexReduce, kFunction | kMethod, &index_reduce,
             {"input", "dim", "index", "source", "reduce", include_self}),
  };
}

}  // namespace ohm::ops

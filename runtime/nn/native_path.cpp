#include "runtime/nn/native_path.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autograd_state.h"
#include "runtime/nn/module_walk.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/reduction/scan.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {

std::optional<Tensor> mask_as_numbers(const std::optional<Tensor>& mask, DType dtype) {
  if (!mask || mask->dtype() != DType::boolean) return mask;
  const Tensor numbers = zeros(mask->shape(), {dtype, mask->device()});
  return ops::masked_fill_(numbers, *mask, -std::numeric_limits<double>::infinity());
}

AttentionMasks::AttentionMasks(const std::optional<Tensor>& given_padding,
                               const std::optional<Tensor>& given_attention, DType dtype)
    : padding(mask_as_numbers(given_padding, dtype)),
      attention(mask_as_numbers(given_attention, dtype)) {}

std::optional<Tensor> AttentionMasks::merged(const Tensor& query, std::int64_t heads) const {
  if (!attention) return padding;
  const std::int64_t batch = query.size(0);
  const std::int64_t length = query.size(1);
  const Tensor scores =
      attention->dims() == 3
          ? ops::view(*attention, {batch, -1, length, length})
          : ops::expand(ops::view(*attention, {1, 1, length, length}), {batch, heads, -1, -1});
  if (!padding) return scores;
  return ops::add(scores,
                  ops::expand(ops::view(*padding, {batch, 1, 1, length}), {-1, heads, -1, -1}));
}

bool is_graph_wanted(std::initializer_list<Tensor> tensors) {
  return Context::current().state.grad_enabled &&
         std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
           return tensor.defined() && tensor.requires_grad();
         });
}

bool is_autocast_on() {
  const AutocastState* autocast = find_autocast_state();
  return autocast != nullptr && autocast->is_enabled;
}

bool is_forward_pass_observed(const Module& module) {
  bool is_observed = false;
  walk_modules(module, [&](const Module& each, const std::string& /*prefix*/) {
    is_observed = is_observed || each.hooks() != nullptr || !each.computed_parameters().empty();
  });
  return is_observed;
}

namespace {

// How many elements each row has, and where its first gap is. Members go from the last on.
struct RowEnds {
  Tensor counts;
  Tensor end;
  Tensor first_gaps;

  // `taken` [N, L]: true where an element is.
  explicit RowEnds(const Tensor& taken) : end(zeros({taken.size(0), 1}, options_of(taken))) {
    {
      const Tensor closed = ops::cat({taken, end}, 1);
      const Tensor numbers = ops::to_dtype(closed, DType::int32);
      first_gaps = ops::argmin(numbers, 1, false);
    }
    counts = ops::select(ops::cumsum(taken, 1), 1, taken.size(1) - 1);
  }
};

void check_padding(const Tensor& src, const Tensor& padding) {
  if (padding.shape() == Shape{src.size(0), src.size(1)}) return;
  throw std::invalid_argument(fmt::format("[TransformerEncoder] mask {} does not fit src {}",
                                          padding.shape().str(), src.shape().str()));
}

}  // namespace

bool is_left_aligned(const Tensor& src, const Tensor& padding) {
  check_padding(src, padding);
  const Tensor taken = ops::logical_not(padding);
  const RowEnds ends(taken);
  if (src.size(0) == 0) return true;
  const Tensor is_equal = ops::eq(ends.counts, ends.first_gaps);
  const Tensor verdict = ops::all(is_equal);
  return verdict.has_values() && verdict.item() != 0.0;
}

ops::NestedRows without_padding(const Tensor& src, const Tensor& padding) {
  check_padding(src, padding);
  const Tensor taken = ops::logical_not(padding);
  RowEnds ends(taken);
  if (!ends.counts.has_values()) {
    throw std::invalid_argument(
        "[TransformerEncoder] src_key_padding_mask needs values: they say how long each sequence "
        "is");
  }
  const std::vector<double> counts = to_doubles(ends.counts);
  const Shape column{src.size(0), 1};
  const Tensor widths = full(column, static_cast<double>(src.size(2)), options_of(ends.counts));
  ops::cat({ops::reshape(ends.counts, column), widths}, 1);  // goes to the host
  ends.counts = Tensor();
  return ops::nested_from_padded(src, {counts.begin(), counts.end()});
}

}  // namespace ohm::nn

#include "runtime/ops/attention/nested_attention.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/base/ceil_div.h"
#include "runtime/ops/attention/attention.h"
#include "runtime/ops/attention/cuda/attention.h"
#include "runtime/ops/attention/native_attention_steps.h"
#include "runtime/ops/matmul/linear.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/matmul/matrix_product.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

std::int64_t longest_of(const NestedRows& nested) {
  return *std::max_element(nested.lengths.begin(), nested.lengths.end());
}

// Rows [n, E] seen as [1, heads, n, E/heads].
Tensor sequence_by_heads(const Tensor& rows, std::int64_t heads) {
  return transpose(unsqueeze(view(rows, {rows.size(0), heads, rows.size(1) / heads}), 0), 1, 2);
}

// ---- in a kernel for sequences ------------------------------------------------------------------

SequenceKernel kernel_of(const NestedRows& query, std::int64_t heads) {
  const bool has_short_ones = std::any_of(query.lengths.begin(), query.lengths.end(),
                                          [](std::int64_t length) { return length < 2; });
  if (has_short_ones || !takes_width_of_heads(query.rows.size(1) / heads)) {
    return SequenceKernel::none;
  }
  return kernel_of_sequences(sequence_by_heads(query.rows, heads));
}

// What is attended of each sequence, in rows [n, E] of queries, keys and values.
void attend(const std::vector<Tensor>& parts, const std::vector<std::int64_t>& lengths,
            std::int64_t heads, const Tensor& out) {
  if (!out.has_values()) return;
  const double width = static_cast<double>(out.size(1)) / static_cast<double>(heads);
  const AttentionRules rules{.scale = 1.0 / std::sqrt(width)};
  std::int64_t first = 0;
  for (const std::int64_t length : lengths) {
    const auto sequence = [&](const Tensor& rows) {
      return sequence_by_heads(narrow(rows, 0, first, length), heads);
    };
    const AttentionInputs inputs{sequence(parts[0]), sequence(parts[1]), sequence(parts[2]),
                                 Tensor()};
    const Tensor result = sequence(out);
    const Tensor no_sums = empty({1, heads, 0}, {DType::float32, out.device()});
    if (!is_attention_done_on_cuda(inputs, rules, result, no_sums)) {
      host_attention(inputs, rules, result, no_sums);
    }
    first += length;
  }
}

// The number of the first element of each sequence, and behind the last one.
Tensor beginnings(const NestedRows& query) {
  return empty({static_cast<std::int64_t>(query.lengths.size()) + 1},
               {DType::int32, query.rows.device()});
}

// The logarithms of sums that flash makes.
Shape sums_of_flash(const NestedRows& query, std::int64_t heads) {
  if (Context::current().rules.has_later_flash_attention) return {heads, query.rows.size(0)};
  return {static_cast<std::int64_t>(query.lengths.size()), heads, longest_of(query)};
}

Tensor by_flash(const NestedRows& query, const std::vector<Tensor>& parts, std::int64_t heads) {
  const bool is_later = Context::current().rules.has_later_flash_attention;
  const Device device = query.rows.device();
  const auto generator_numbers = [&](const Shape& shape) {
    return is_later ? empty(shape, {DType::int64, device}) : Tensor();
  };
  Tensor begin_of_queries = beginnings(query);
  Tensor begin_of_keys = beginnings(query);
  Tensor out = empty({query.rows.size(0), query.rows.size(1)}, options_of(query.rows));
  Tensor sums = empty(sums_of_flash(query, heads), {DType::float32, device});
  Tensor seed_and_offset = generator_numbers({2});
  const Tensor unused = generator_numbers({});
  attend(parts, query.lengths, heads, out);
  for (Tensor* const each : {&sums, &begin_of_queries, &begin_of_keys, &seed_and_offset}) {
    *each = Tensor();
  }
  return out;
}

Tensor by_efficient(const NestedRows& query, const std::vector<Tensor>& parts, std::int64_t heads) {
  const bool has_state = Context::current().rules.has_later_efficient_attention;
  const Device device = query.rows.device();
  const auto generator_number = [&] {
    return has_state ? empty({}, {DType::int64, device}) : Tensor();
  };
  Tensor begin_of_queries = beginnings(query);
  Tensor begin_of_keys = beginnings(query);
  Tensor seed = generator_number();
  const Tensor offset = generator_number();
  Tensor out = empty({query.rows.size(0), query.rows.size(1)}, options_of(query.rows));
  {
    // Kernels for wide values collect half-precision results in float32.
    constexpr std::int64_t kWidestInRegisters = 128;
    const bool collects = out.dtype() != DType::float32 && out.size(1) / heads > kWidestInRegisters;
    const Tensor collected = collects ? empty(out.shape(), {DType::float32, device}) : Tensor();
    attend(parts, query.lengths, heads, out);
  }
  for (Tensor* const each : {&begin_of_queries, &begin_of_keys, &seed}) *each = Tensor();
  return out;
}

Tensor fused(const NestedRows& query, const AttentionParameters& parameters,
             SequenceKernel kernel) {
  const Tensor projected = linear(query.rows, parameters.in_weight, parameters.in_bias);
  const std::vector<Tensor> parts = chunk(projected, 3, -1);
  const Tensor attended = kernel == SequenceKernel::flash
                              ? by_flash(query, parts, parameters.heads)
                              : by_efficient(query, parts, parameters.heads);
  return linear(attended, parameters.out_weight, parameters.out_bias);
}

// ---- step by step -------------------------------------------------------------------------------

// Queries, keys and values [3, B, heads, T, E/heads] with zeros behind each sequence, of their
// products.
Tensor separated(const NestedRows& products, const AttentionParameters& parameters) {
  constexpr std::int64_t kAlignment = 8;  // of tensor cores
  const std::int64_t heads = parameters.heads;
  const auto batch = static_cast<std::int64_t>(products.lengths.size());
  const std::int64_t width = products.rows.size(1) / 3 / heads;
  const std::int64_t length = ceil_div(longest_of(products), kAlignment) * kAlignment;
  const Tensor parts = empty({3, batch, heads, length, width}, options_of(parameters.in_bias));
  const Tensor sizes =
      parts.device().is_cuda() ? empty({2 * batch + 1}, {DType::int32, parts.device()}) : Tensor();
  if (!parts.has_values()) return parts;
  fill_values(parts, 0.0);
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t rows = products.lengths[static_cast<std::size_t>(i)];
    if (rows == 0) continue;
    write_heads(unsqueeze(narrow(products.rows, 0, first, rows), 0), parameters,
                narrow(narrow(parts, 1, i, 1), 3, 0, rows));
    first += rows;
  }
  return parts;
}

// [B, T]: true behind the end of a sequence.
Tensor missing_keys(const NestedRows& query, std::int64_t length) {
  const auto batch = static_cast<std::int64_t>(query.lengths.size());
  const Tensor mask = empty({batch, length}, {DType::boolean, query.rows.device()});
  if (!mask.has_values()) return mask;
  fill_values(mask, 1.0);
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t taken = query.lengths[static_cast<std::size_t>(i)];
    if (taken > 0) fill_values(narrow(select(mask, 0, i), 0, 0, taken), 0.0);
  }
  return mask;
}

Tensor by_steps(const NestedRows& query, const AttentionParameters& parameters) {
  Tensor parts;
  {
    const NestedRows products{mm(query.rows, t(parameters.in_weight)), query.lengths};
    parts = separated(products, parameters);
  }
  const Tensor queries = select(parts, 0, 0);
  Tensor scores = scores_of(parts);
  {
    Tensor weights;
    {
      const Tensor mask = missing_keys(query, scores.size(3));
      weights = masked_softmax(scores, mask);
    }
    scores = std::move(weights);
  }
  multiply_batches(heads_as_batch(scores), heads_as_batch(select(parts, 0, 2)),
                   heads_as_batch(queries));
  scores = Tensor();
  const NestedRows attended = nested_from_padded_heads(queries, query.lengths);
  return linear(attended.rows, parameters.out_weight, parameters.out_bias);
}

}  // namespace

NestedRows nested_attention(const NestedRows& query, const AttentionParameters& parameters) {
  const OpGuard op("native_multi_head_attention");
  const SequenceKernel kernel = kernel_of(query, parameters.heads);
  return {kernel == SequenceKernel::none ? by_steps(query, parameters)
                                         : fused(query, parameters, kernel),
          query.lengths};
}

}  // namespace ohm::ops

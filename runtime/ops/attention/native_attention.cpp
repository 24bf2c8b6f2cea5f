#include "runtime/ops/attention/native_attention.h"

#include <utility>
#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/attention/attention.h"
#include "runtime/ops/attention/native_attention_steps.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/matmul/linear.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/matmul/matrix_product.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

// [B, T, E] seen as [B, heads, T, E/heads].
Tensor by_heads(const Tensor& tensor, std::int64_t heads) {
  return transpose(view(tensor, {tensor.size(0), -1, heads, tensor.size(2) / heads}), 1, 2);
}

// A product of rows that do not lie in order copies them where the weight wants a gradient, which
// inside the call no weight does; but in inference_mode, where autograd is passed over, it still
// does.
Tensor in_weight(const AttentionParameters& parameters) {
  const bool is_inference = Context::current().state.inference_mode;
  return is_inference ? parameters.in_weight : detach(parameters.in_weight);
}

// ---- in a fused kernel --------------------------------------------------------------------------

bool has_kernel(const Tensor& query, std::int64_t heads) {
  if (!takes_width_of_heads(query.size(2) / heads)) return false;
  const Tensor seen = by_heads(query, heads);
  return is_attention_fused(seen, seen, seen);
}

Tensor fused(const Tensor& query, const AttentionParameters& parameters) {
  const std::vector<Tensor> parts =
      chunk(linear(query, in_weight(parameters), parameters.in_bias), 3, -1);
  const Tensor attended = scaled_dot_product_attention(
      by_heads(parts[0], parameters.heads), by_heads(parts[1], parameters.heads),
      by_heads(parts[2], parameters.heads), std::nullopt, 0.0, false, std::nullopt);
  const Tensor rows = reshape(transpose(attended, 1, 2), {query.size(0), -1, query.size(2)});
  return linear(rows, parameters.out_weight, parameters.out_bias);
}

// ---- step by step -------------------------------------------------------------------------------

Tensor separated(const Tensor& product, const AttentionParameters& parameters) {
  const std::int64_t width = product.size(2) / 3 / parameters.heads;
  Tensor parts = empty({3, product.size(0), parameters.heads, product.size(1), width},
                       options_of(parameters.in_bias));
  write_heads(product, parameters, parts);
  return parts;
}

// [B, heads, T, E/heads] through the last layer.
Tensor through_last_layer(const Tensor& attended, const AttentionParameters& parameters) {
  const std::int64_t batch = attended.size(0);
  const std::int64_t length = attended.size(2);
  const Tensor rows = view(contiguous(permute(attended, {0, 2, 1, 3})),
                           {batch * length, attended.size(1) * attended.size(3)});
  return view(linear(rows, parameters.out_weight, parameters.out_bias), {batch, length, -1});
}

NativeAttention by_steps(const Tensor& query, const AttentionParameters& parameters,
                         const std::optional<Tensor>& mask, WantedWeights wanted) {
  Tensor parts;
  {
    const Tensor product = matmul(query, t(in_weight(parameters)));
    if (product.numel() == 0) return {empty_like(query), Tensor()};
    parts = separated(product, parameters);
  }
  const Tensor queries = select(parts, 0, 0);
  Tensor scores = scores_of(parts);
  if (mask) {
    const Tensor left_out = to_dtype(*mask, DType::boolean);
    scores = masked_softmax(scores, left_out);
  } else {
    softmax_over(scores);
  }
  // Over the queries, which nothing needs any more.
  multiply_batches(heads_as_batch(scores), heads_as_batch(select(parts, 0, 2)),
                   heads_as_batch(queries));
  if (wanted == WantedWeights::none) scores = Tensor();
  NativeAttention result{through_last_layer(queries, parameters), Tensor()};
  if (wanted == WantedWeights::averaged) {
    scores = sum(scores, Shape{1}, false, std::nullopt);
    div_(scores, static_cast<double>(parameters.heads));
  }
  result.weights = std::move(scores);
  return result;
}

}  // namespace

NativeAttention native_multi_head_attention(const Tensor& query,
                                            const AttentionParameters& parameters,
                                            const std::optional<Tensor>& mask,
                                            WantedWeights wanted) {
  const OpGuard op("native_multi_head_attention");
  if (!mask && wanted == WantedWeights::none && has_kernel(query, parameters.heads)) {
    return {fused(query, parameters), Tensor()};
  }
  return by_steps(query, parameters, mask, wanted);
}

}  // namespace ohm::ops

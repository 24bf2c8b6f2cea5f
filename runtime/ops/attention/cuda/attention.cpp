#include "runtime/ops/attention/cuda/attention.h"

#include <algorithm>
#include <cstdint>

#include "runtime/kernels/functors/attention.h"
#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/ops/attention/cuda/attention_products.h"

namespace ohm::ops {
namespace {

functors::HeadSteps steps_of(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const Shape& strides = tensor.strides();
  return {strides[0], strides[1], strides[2], strides[3]};
}

/// `result` is what attention makes, or the gradient of it.
functors::AttentionLayout layout_of(const AttentionInputs& inputs, const AttentionRules& rules,
                                    const Tensor& result, const Tensor& logsumexp) {
  return {.heads = inputs.query.size(1),
          .queries = inputs.query.size(2),
          .keys = inputs.key.size(2),
          .width = inputs.query.size(3),
          .value_width = inputs.value.size(3),
          .query = steps_of(inputs.query),
          .key = steps_of(inputs.key),
          .value = steps_of(inputs.value),
          .bias = steps_of(inputs.bias),
          .result = steps_of(result),
          .log_sum_rows = logsumexp.size(2),
          .scale = rules.scale,
          .is_causal = rules.is_causal,
          .dropout_p = rules.dropout_p,
          .seed = rules.seed,
          .first_draw = rules.first_draw};
}

/// A row for each query, or for each key; `other` is how many a row walks through.
RowShape lines_of(const functors::AttentionLayout& layout, const Tensor& rows, std::int64_t other) {
  return {rows.size(0) * rows.size(1) * rows.size(2),
          std::max({other, layout.width, layout.value_width})};
}

}  // namespace

bool is_attention_done_on_cuda(const AttentionInputs& inputs, const AttentionRules& rules,
                               const Tensor& out, const Tensor& logsumexp) {
  if (out.cuda_backend() == nullptr) return false;
  const functors::AttentionLayout layout = layout_of(inputs, rules, out, logsumexp);
  if (multiply_attention({inputs, layout}, out, logsumexp) == CudaResult::done) return true;
  return are_rows_done_on_cuda(
      functors::AttentionRow{layout}, DType::float32, lines_of(layout, inputs.query, layout.keys),
      {{out, logsumexp}, {inputs.query, inputs.key, inputs.value, inputs.bias}});
}

bool are_attention_gradients_done_on_cuda(const AttentionInputs& inputs,
                                          const AttentionRules& rules, const Tensor& grad,
                                          const AttentionInputs& gradients,
                                          const AttentionSums& sums) {
  if (grad.cuda_backend() == nullptr || sums.logsumexp.numel() == 0) return false;
  const functors::AttentionLayout layout = layout_of(inputs, rules, grad, sums.logsumexp);
  if (multiply_attention_gradients({inputs, layout}, grad, gradients, sums.logsumexp) ==
      CudaResult::done) {
    return true;
  }
  const functors::AttentionQueryBackward of_queries{layout, steps_of(gradients.query),
                                                    steps_of(gradients.bias)};
  const functors::AttentionKeyBackward of_keys{layout, steps_of(gradients.key),
                                               steps_of(gradients.value)};
  return are_rows_done_on_cuda(
             of_queries, DType::float32, lines_of(layout, inputs.query, layout.keys),
             {{gradients.query, gradients.bias, sums.products},
              {grad, sums.logsumexp, inputs.query, inputs.key, inputs.value, inputs.bias}}) &&
         are_rows_done_on_cuda(of_keys, DType::float32,
                               lines_of(layout, inputs.key, layout.queries),
                               {{gradients.key, gradients.value},
                                {grad, sums.logsumexp, sums.products, inputs.query, inputs.key,
                                 inputs.value, inputs.bias}});
}

}  // namespace ohm::ops

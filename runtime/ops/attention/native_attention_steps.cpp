#include "runtime/ops/attention/native_attention_steps.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

void check_mask(const Tensor& mask, const Tensor& scores) {
  const Shape keys{scores.size(0), scores.size(3)};
  if (mask.shape() == scores.shape() || mask.shape() == keys) return;
  throw std::invalid_argument(
      fmt::format("[native_multi_head_attention] mask {} does not fit scores {}",
                  mask.shape().str(), scores.shape().str()));
}

// Rows that a warp keeps in its registers.
bool is_row_short(const Tensor& scores) {
  constexpr std::int64_t kMostElements = 1024;
  constexpr std::int64_t kMostBytes = 4096;
  const std::int64_t size = scores.size(3);
  return size <= kMostElements &&
         size * static_cast<std::int64_t>(item_bytes(scores.dtype())) <= kMostBytes;
}

}  // namespace

bool takes_width_of_heads(std::int64_t width) {
  constexpr std::int64_t kAlignment = 8;
  return width % kAlignment == 0 || Context::current().rules.has_later_efficient_attention;
}

void write_heads(const Tensor& product, const AttentionParameters& parameters,
                 const Tensor& parts) {
  const auto by_heads = [&](const Tensor& tensor) {
    return transpose(
        view(tensor, {tensor.size(0), -1, parameters.heads, tensor.size(2) / parameters.heads}), 1,
        2);
  };
  const Tensor& bias = parameters.in_bias;
  const double scale = 1.0 / std::sqrt(static_cast<double>(parts.size(4)));
  const std::vector<Tensor> products = chunk(product, 3, -1);
  const std::vector<Tensor> biases = chunk(view(bias, {1, 1, bias.size(0)}), 3, -1);
  for (std::size_t part = 0; part < products.size(); ++part) {
    const double factor = part == 0 ? scale : 1.0;
    const Tensor out = select(parts, 0, static_cast<std::int64_t>(part));
    map_floating(out, out.dtype(), functors::WeightedSum{factor, factor}, by_heads(products[part]),
                 by_heads(biases[part]));
  }
}

Tensor heads_as_batch(const Tensor& tensor) {
  return view(tensor, {tensor.size(0) * tensor.size(1), tensor.size(2), tensor.size(3)});
}

Tensor scores_of(const Tensor& parts) {
  const Tensor keys = heads_as_batch(select(parts, 0, 1));
  const Tensor scores = bmm(heads_as_batch(select(parts, 0, 0)), transpose(keys, 1, 2));
  return view(scores, {parts.size(1), parts.size(2), parts.size(3), parts.size(3)});
}

Tensor masked_softmax(const Tensor& scores, const Tensor& left_out) {
  Tensor out = empty_like(scores);
  check_mask(left_out, scores);
  const bool is_of_keys = left_out.dims() == 2;
  const Tensor mask =
      is_of_keys ? expand(view(left_out, {scores.size(0), 1, 1, scores.size(3)}), scores.shape())
                 : left_out;
  constexpr double kLeftOut = -std::numeric_limits<double>::infinity();
  if (!is_row_short(scores) || !left_out.is_contiguous()) {
    const Tensor filled = masked_fill(scores, mask, kLeftOut);
    out = softmax(filled, -1, std::nullopt);
    return out;
  }
  copy_into(out, scores);
  masked_fill_(out, mask, kLeftOut);
  softmax_over(out);
  return out;
}

}  // namespace ohm::ops
